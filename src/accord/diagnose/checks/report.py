"""Hold the findings of a check, to print or to raise."""

from dataclasses import dataclass

from ...core.errors import ModelError
from ...core.notice import Notice
from ...core.tracebacks import entry_points

_ORDER = ("error", "warning", "info")


@entry_points
@dataclass(frozen=True)
class CheckReport:
    """Report of `infer.check`; prints its findings, most severe first.

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
        """Return whether there are no errors."""
        return not self.errors

    @property
    def errors(self) -> tuple[Notice, ...]:
        """Findings that forbid a run."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """Findings to look at before a run."""
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
