"""Hold what a check has found, so that it reads well and can end a program."""

from dataclasses import dataclass

from ...core.errors import ModelError
from ...core.notice import Notice
from ...core.tracebacks import entry_points

_ORDER = ("error", "warning", "info")


@entry_points
@dataclass(frozen=True)
class CheckReport:
    """What `infer.check` found; printed, a list with the worst first.

    **Fields**
    - `model`: its name.
    - `findings`: each with severity, code, message, remedy and sites; the worst first.

    **Example**

    >>> report = infer.check(coin(4, heads))
    >>> report.ok, report.errors, report.warnings
    (True, (), ())
    """

    model: str
    findings: tuple[Notice, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found that must not be run."""
        return not self.errors

    @property
    def errors(self) -> tuple[Notice, ...]:
        """What must not be run."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """What is to be looked at before a run."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    def raise_if_failed(self) -> None:
        """Raise `ModelError` with every error that was found."""
        if not self.ok:
            raise ModelError(f"the model {self.model!r} must not be run: {' '.join(map(_text, self.errors))}")

    def __str__(self) -> str:
        counts = [
            (severity, sum(each.severity == severity for each in self.findings)) for severity in _ORDER[:2]
        ]
        found = ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts if count)
        return "\n".join([f"{self.model}: {found or 'nothing wrong was found'}", *map(str, self.findings)])

    __repr__ = __str__


def _text(finding: Notice) -> str:
    return f"{finding.message} {finding.remedy}".rstrip()
