"""Record how a rule ended a run: the rule, its checks and their results."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...core.notice import Notice
from .base import AbstractRule, Finding


@dataclass(frozen=True)
class Look:
    """Results of one check of a rule.

    **Fields**: `draws`, kept per chain, that were looked at; `findings`, one for each rule that was judged. Where a
    rule did not hold, they are of the first scalars that were against it, and of the worst of all at the last look.
    """

    draws: int
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        return ", ".join(finding.text for finding in self.findings)


@dataclass(frozen=True)
class Stopping:
    """Result of a stopping rule for a run.

    **Fields**
    - `rule`: the rule.
    - `held`: whether it held; None if that is not known, as after Ctrl-C.
    - `draws`: kept draws per chain at which that was known, or None.
    - `chains`: the chains that were judged; others had been given up.
    - `looks`: its checks.
    - `is_by_clock`: whether `Seconds` ended the run, so that `draws` depends on the clock.

    **Example**

    >>> found = infer.sample(eight_schools(sigma, y), until=infer.RHat(1.1), draws=2000, chains=2, quiet=True)
    >>> found.stopping.held, len(found.stopping.looks) > 0
    (True, True)
    """

    rule: AbstractRule
    held: bool | None = None
    draws: int | None = None
    chains: tuple[int, ...] = ()
    looks: tuple[Look, ...] = ()
    is_by_clock: bool = False

    def __str__(self) -> str:
        found = f": {self.looks[-1]}" if self.looks and not self.is_by_clock else ""
        if self.held is None:
            return f"{self.rule!r} is not decided{found}"
        return (
            f"{self.rule!r} {'held' if self.held else 'did not hold'} at {self.draws} draws per chain{found}"
        )

    def __repr__(self) -> str:
        return f"<{self}>"

    def as_json(self) -> dict[str, Any]:
        """Convert it to JSON."""
        return {
            "rule": self.rule.described(),
            "held": self.held,
            "draws": self.draws,
            "chains": list(self.chains),
            "looks": [asdict(look) for look in self.looks],
            "is_by_clock": self.is_by_clock,
        }

    @staticmethod
    def stored(record: Mapping[str, Any]) -> "Stopping":
        """Read the result of `as_json`."""
        from .described import rule_from  # loads every rule

        looks = tuple(
            Look(look["draws"], tuple(Finding(**each) for each in look["findings"]))
            for look in record["looks"]
        )
        return Stopping(
            rule_from(record["rule"]),
            record["held"],
            record["draws"],
            tuple(record["chains"]),
            looks,
            record["is_by_clock"],
        )


def at_cap(stopping: Stopping | None) -> list[Notice]:
    """Make a notice for a run that reached its last draw before its rule held."""
    if stopping is None or stopping.held is not False or not stopping.looks:
        return []
    findings = [finding for finding in stopping.looks[-1].findings if not finding.holds]
    guesses = [finding.times for finding in findings]
    known = [guess for guess in guesses if guess is not None]
    # Twenty per cent more, since it is looked at in strides.
    wanted = (
        round(1.2 * max(known) * (stopping.draws or 0), -2) if known and len(known) == len(guesses) else None
    )
    about = "" if wanted is None else f" to about {int(wanted)}"
    sites = tuple(dict.fromkeys(finding.site for finding in findings if finding.site is not None))
    return [
        Notice(
            "warning",
            "stopped_at_cap",
            f"The run ended at its cap of {stopping.draws} draws per chain, where {stopping.rule!r} does not hold: "
            f"{', '.join(finding.text for finding in findings)}.",
            f"Raise draws={about}, or continue by draws.extend(n), which checks the rule too.",
            sites,
        )
    ]
