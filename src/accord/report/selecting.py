"""Choose the sites that a table shows, by names or patterns, and its columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..core.errors import OptionError, suggest
from .marginals import DIAGNOSTICS, Marginals

KINDS = ("all", "stats", "diagnostics")
INTERVALS = ("quantiles", "hdi")


@dataclass(frozen=True)
class Columns:
    """The columns of a summary.

    **Fields**: `names`, in order; `quantiles`: the probability of each quantile column; `mass`: mass of the shortest
    interval, or None; `shortest`: names of its two ends, or none.
    """

    names: tuple[str, ...]
    quantiles: tuple[tuple[str, float], ...]
    mass: float | None
    shortest: tuple[str, ...]

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Probabilities of the quantiles."""
        return tuple(probability for _, probability in self.quantiles)

    def of(self, found: Marginals) -> dict[str, np.ndarray]:
        """Return the columns, each of shape `(k,)`."""
        known = {"mean": found.mean, "sd": found.sd, **found.diagnostics}
        known |= {name: found.quantiles[index] for index, (name, _) in enumerate(self.quantiles)}
        known |= {name: found.shortest[index] for index, name in enumerate(self.shortest)}
        return {name: known[name] for name in self.names}


def columns_of(prob: Any, kind: Any, interval: Any) -> Columns:
    """Return the columns for these options of `summary`.

    - `prob`: mass of the interval, in (0, 1). `kind`: `"all"`, `"stats"` or `"diagnostics"`. `interval`: `"quantiles"`,
      which leaves out as much on either side, or `"hdi"`, the shortest one.

    Raises `OptionError` for others.
    """
    is_number = isinstance(prob, int | float | np.number) and not isinstance(prob, bool)
    if not is_number or not 0 < prob < 1:
        raise OptionError(
            f"summary: prob is {prob!r}, but the mass of an interval lies between 0 and 1, as prob=0.9."
        )
    for name, value, choices in (("kind", kind, KINDS), ("interval", interval, INTERVALS)):
        if value not in choices:
            listed = ", ".join(map(repr, choices))
            raise OptionError(
                f"summary: {name} is {value!r}, but must be one of {listed}.{suggest(str(value), choices)}"
            )
    tail = (1 - float(prob)) / 2
    if interval == "hdi":
        ends = tuple(f"hdi{_percent(float(prob))}_{end}" for end in ("low", "high"))
        quantiles = (("50%", 0.5),)
        stats = ("mean", "sd", ends[0], "50%", ends[1])
    else:
        ends = ()
        quantiles = tuple((f"{_percent(each)}%", each) for each in (tail, 0.5, 1 - tail))
        stats = ("mean", "sd", *(name for name, _ in quantiles))
    names = {"all": (*stats, *DIAGNOSTICS), "stats": stats, "diagnostics": DIAGNOSTICS}[kind]
    return Columns(names, quantiles, float(prob) if ends else None, ends)


def picked_names(wanted: str | Sequence[str] | None, there: Iterable[str]) -> list[str]:
    """Return the requested sites, in the requested order, each once; None is all.

    - `wanted`: a name or several; `*`, `?` and `[...]` stand for what they do in names of files, but in a name of a
      site as it is.

    Raises `OptionError` for an unknown name and a pattern that matches none.
    """
    known = list(there)
    if wanted is None:
        return known
    picked: dict[str, None] = {}
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if not isinstance(name, str):
            raise OptionError(f"sites= takes names of sites, or patterns such as 'theta*'; got {name!r}.")
        fitting = [name] if name in known else [each for each in known if fnmatchcase(each, name)]
        if not fitting:
            is_pattern = any(sign in name for sign in "*?[")
            what = f"no site matches the pattern {name!r}" if is_pattern else f"there is no site {name!r}"
            raise OptionError(f"{what} among the draws.{suggest(name, known)} There are: {', '.join(known)}.")
        picked |= dict.fromkeys(fitting)
    return list(picked)


def _percent(probability: float) -> str:
    """Convert a probability to percent, without rounding error."""
    return f"{100 * probability:.10g}"
