"""Try longer trajectories in warm-up, and keep them where they bring slow unknowns further.

A trajectory ends where most directions have turned. Where a posterior is curved, some go on for much longer: a
length scale drifts along a bent ridge while what is bound to it swings to and fro. A trajectory of twice the length
then goes twice as far for them, which four walks at random would. Where what is slow is the energy, as in a funnel,
it goes no further, and none is tried. Elsewhere, nothing but a trial tells whether it does.

**Source**: our own; `docs/choices.md` has the figures. What tells a slow unknown is von Neumann's ratio (1941, Ann.
Math. Stat. 12, 367-395); that of the energy is E-BFMI (Betancourt 2016, arXiv:1604.00695).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.tree import filled

_SLOW = 0.8  # von Neumann's ratio, below which an unknown is slow: 2 for independent draws
_LEAST_BFMI = 0.6  # below, energy is what is slow, and no trajectory changes it
_MARGIN = 1.25  # by which what is gained must exceed the gradients that it takes: both are of few draws
_LEAST_DRAWS = 20  # of each kind, below which nothing is judged

_PREFIX = "trial."  # of the names of stored arrays


@dataclass(frozen=True)
class Trial:
    """A trial of longer trajectories.

    **Fields**: `since`, the draw from which on every other one is longer; `doublings` of these; both 0 while there are
    none. `gain`, effective draws of slow unknowns with them over those without; `cost`, likewise of gradients: NaN
    until they are judged.
    """

    since: int = 0
    doublings: int = 0
    gain: float = np.nan
    cost: float = np.nan

    @property
    def is_kept(self) -> bool:
        """Whether they pay."""
        return self.gain > _MARGIN * max(self.cost, 1.0)

    def reason(self) -> str:
        """Explain how long trajectories are after warm-up."""
        if np.isnan(self.gain):
            return "until they turn back"
        length = f"{2**self.doublings - 1} steps" if self.is_kept else "until they turn back"
        return (
            f"{length}: in warm-up, longer ones had {self.gain:.2g} times the effective draws of slow unknowns, for "
            f"{self.cost:.2g} times the gradients"
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a store keeps."""
        return {_PREFIX + name: np.asarray(value) for name, value in asdict(self).items()}

    @staticmethod
    def stored(arrays: Mapping[str, np.ndarray]) -> "Trial":
        """Read a trial from the result of `arrays`, among others. **Raises** `StorageError` for other arrays."""
        found = filled(Trial().arrays(), arrays)
        return Trial(**{name.removeprefix(_PREFIX): array.item() for name, array in found.items()})


def begun(at: int, x: np.ndarray, energy: np.ndarray, num_steps: np.ndarray, max_depth: int) -> Trial:
    """Return the trial that begins at draw `at` if some unknown is slow, and energy is not: with twice the usual steps.

    **Arguments**: draws of a window, `(draw, dim)`; the energy and the steps of each, shape `(draw,)`; `max_depth`, the
    most doublings of a trajectory.
    """
    is_worth_it = (
        len(x) >= 2 * _LEAST_DRAWS and _ratio(energy[:, None]) > _LEAST_BFMI and np.any(_ratio(x) < _SLOW)
    )
    if not is_worth_it:
        return Trial()
    doublings = _twice(num_steps)
    return Trial(at, doublings) if doublings <= max_depth else Trial()


def is_longer(draw: Any, num_warmup: Any, doublings: Any, is_kept: Any) -> Any:
    """Return whether a draw has a longer trajectory, shape `()`; in a program.

    `doublings`: of those that are tried, 0 for none; `is_kept`, whether this draw would have one after warm-up.
    """
    return jnp.where(draw < num_warmup, (doublings > 0) & (draw % 2 == 1), is_kept)


def tried(trial: Trial, start: int, count: int) -> np.ndarray:
    """Return which of `count` draws from number `start` on had longer trajectories, shape `(draw,)`; bool."""
    draw = np.arange(start, start + count)
    return (draw >= trial.since) & (draw % 2 == 1) & (trial.since > 0)


def judged(
    trial: Trial, x: np.ndarray, num_steps: np.ndarray, was_tried: np.ndarray, max_depth: int
) -> Trial:
    """Compare longer trajectories with usual ones, among the draws of a window, `(draw, dim)`.

    **Arguments**: `num_steps` and `was_tried`, each of shape `(draw,)`; `max_depth`, as in `begun`.

    Steps mostly become shorter while a trial goes on, and usual trajectories take more of them: longer ones follow.
    An unknown that is slow in half of the usual draws is compared in the other half: by chance, one of many looks slow
    where it was looked for.
    """
    doublings = min(max(trial.doublings, _twice(num_steps[~was_tried])), max_depth)
    trial, into = replace(trial, doublings=doublings), was_tried[1:]
    usual = np.flatnonzero(~into)
    if min(np.sum(into), len(usual)) < _LEAST_DRAWS:
        return trial
    halves = [np.isin(np.arange(len(into)), usual[part::2]) for part in range(2)]
    ratios, of_longer = [_ratio(x, half) for half in halves], _ratio(x, into)
    short = long = 0.0
    for seen, unseen in (ratios, ratios[::-1]):
        slow = seen < _SLOW
        short += np.sum(_effective(unseen[slow]))
        long += np.sum(_effective(of_longer[slow]))
    if short == 0:
        return replace(trial, gain=np.nan, cost=np.nan)
    cost = np.mean(num_steps[was_tried]) / np.mean(num_steps[~was_tried])
    return replace(trial, gain=float(long / short), cost=float(cost))


def _twice(num_steps: np.ndarray) -> int:
    """Return the doublings of a trajectory of about twice as many steps as these on average."""
    return round(np.log2(2 * np.mean(num_steps)))


def _ratio(x: np.ndarray, which: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Compute von Neumann's ratio: the mean squared step from a draw to the next over the variance; shape `(dim,)`.

    It is 2 (1 - r) with an autocorrelation of r between neighbours, and NaN for a constant. Draws are `(draw, dim)`;
    `which`, shape `(draw - 1,)`: the draws that are stepped into, without the first; all by default.
    """
    with np.errstate(all="ignore"):  # a constant is no evidence, and squares of what is far away overflow
        return np.mean(np.diff(x, axis=0)[which] ** 2, axis=0) / x.var(0)


def _effective(ratio: np.ndarray) -> np.ndarray:
    """Compute effective draws for each draw of an autoregression of order one: (1 - r) / (1 + r); at most 4."""
    return ratio / np.maximum(4 - ratio, 1.0)
