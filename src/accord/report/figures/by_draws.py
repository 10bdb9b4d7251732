"""Show how effective sample sizes and R-hat change as draws come in."""

from collections.abc import Callable, Sequence

import numpy as np

from ..diagnostics import ess_bulk, ess_tail, nested_r_hat, r_hat
from ..many_chains import MANY
from .marks import Axis, Line, Panel, Points, Rule
from .ticks import number

_LOOKS = 12
ENOUGH_ESS, ENOUGH_R_HAT = 400, 1.01


def ess_by_draws(draws: np.ndarray, label: str) -> Panel:
    """Draw bulk and tail ESS of the first draws; straight lines through zero, if chains mix. Shape `(chain, draw)`."""
    at = _looks(draws)
    bulk, tail = _found(draws, at, ess_bulk), _found(draws, at, ess_tail)
    last = f"{number(bulk[-1])} in the bulk and {number(tail[-1])} in the tails" if len(at) else "unknown"
    top = max([float(np.nanmax(each, initial=0)) for each in (bulk, tail)])
    return Panel(
        f"ESS of {label}",
        (
            Rule(ENOUGH_ESS),
            *(Line(at, each, colour) for colour, each in enumerate((bulk, tail))),
            *(Points(at, each, colour, 2.0, 1.0) for colour, each in enumerate((bulk, tail))),
        ),
        Axis("draws per chain", 0, max(draws.shape[1], 1)),
        Axis("effective draws", 0, 1.15 * max(top, ENOUGH_ESS)),
        f"Effective sample size of {label} by draws: {last} at the end; the dashed line is at {ENOUGH_ESS}.",
        ((0, "bulk"), (1, "tail")),
    )


def r_hat_by_draws(draws: np.ndarray, label: str, superchains: Sequence[int] | None = None) -> Panel:
    """Draw R-hat of the first draws, shape `(chain, draw)`; nested R-hat from 64 chains on, as in the summary.

    `superchains`: that of each chain, if several chains share a starting point.
    """
    at = _looks(draws)
    is_many = len(draws) >= MANY
    found = _found(draws, at, (lambda first: nested_r_hat(first, superchains)) if is_many else r_hat)
    known = found[np.isfinite(found)]
    last = f"{found[-1]:.3f} at the end" if len(found) and np.isfinite(found[-1]) else "unknown"
    top = max(1.05, float(known.max(initial=1.0)))
    return Panel(
        f"R-hat of {label}",
        (Rule(ENOUGH_R_HAT), Line(at, found, 0), Points(at, found, 0, 2.0, 1.0)),
        Axis("draws per chain", 0, max(draws.shape[1], 1)),
        Axis("R-hat", min(0.99, float(known.min(initial=1.0))), 1 + 1.1 * (top - 1)),
        f"R-hat of {label} by draws: {last}; the dashed line is at {ENOUGH_R_HAT}.",
    )


def _looks(draws: np.ndarray) -> np.ndarray:
    """Return after how many draws per chain to look."""
    size = draws.shape[1]
    return np.unique(np.linspace(0, size, _LOOKS + 1).astype(int)[1:]) if size else np.zeros(0, int)


def _found(draws: np.ndarray, at: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return np.array([float(statistic(draws[:, :count, None])[0]) for count in at])
