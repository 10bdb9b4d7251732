"""Define notices: one thing that a user should know about a model or a run."""

import html
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Severity = Literal["error", "warning", "info"]

_COLOURS = MappingProxyType({"error": "#d33", "warning": "#e90", "info": "#48c"})


@dataclass(frozen=True)
class Notice:
    """Diagnostic of a model or a run: the number that triggered it, and what to do about it.

    **Fields**
    - `severity`: `"error"` (do not use this model or these draws), `"warning"` (look before use) or `"info"`.
    - `code`: a short stable name, such as `"divergences"`, for programs to match on.
    - `message`: what was seen, with its number and the sites it touches.
    - `remedy`: what to do, in one sentence.
    - `sites`: names of the sites that it is about, where there are any.

    **Example**

    >>> from accord.core.notice import Notice
    >>> print(Notice("warning", "r_hat", "R-hat of 'mu' is 1.2.", "Draw more."))
    warning: R-hat of 'mu' is 1.2. Draw more.
    """

    severity: Severity
    code: str
    message: str
    remedy: str
    sites: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} {self.remedy}".rstrip()

    def as_html(self) -> str:
        """Return the notice as HTML for a notebook, readable on light and dark pages."""
        colour = _COLOURS[self.severity]
        return (
            f"<p style='margin:0.3em 0;padding-left:0.6em;border-left:0.25em solid {colour}'>"
            f"<b>{self.severity}</b> <code>{html.escape(self.code)}</code> {html.escape(self.message)} "
            f"{html.escape(self.remedy)}</p>"
        )

    _repr_html_ = as_html


def by_severity(notices: Iterable[Notice]) -> list[Notice]:
    """Sort notices by severity, errors first, and keep the order within each."""
    return sorted(notices, key=lambda notice: get_args(Severity).index(notice.severity))
