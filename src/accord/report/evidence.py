"""Hold the evidence that the rules of `notices` need, and select the scalars to judge in bounded time."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..core.series import AbstractSeries
from .diagnostics import nested_r_hat, r_hat
from .labels import Coords, Dims, scalar_labels
from .many_chains import MANY

Counts = Mapping[str, Mapping[str, np.ndarray]]
"""Number of failed draws by kind of failure and phase, shape `(chain,)`."""

Blamed = tuple[tuple[str, ...], str]
"""The sites to blame, and an explanation: a sentence with a leading space."""


class Form(NamedTuple):
    """Non-centred form of a site whose scale is another site.

    **Fields**: `site`; `config`, what `handlers.reparam` takes for it, as it is written in a mapping; `is_in_steps`, of
    a scan, around whose step it is written.
    """

    site: str
    config: str
    is_in_steps: bool = False


Forms = tuple[Form, ...]

# Numbers judged after a run, which takes up to two seconds of a core: larger posteriors are judged on a part of their
# scalars.
BUDGET = 2**24
READ = 2**22  # numbers read at once


@dataclass(frozen=True)
class Block:
    """Sites that one kernel of several moves.

    **Fields**: `label`, in front of the names of its statistics; `names` of the sites; `target_accept`, the acceptance
    that it aims at, or None.
    """

    label: str
    names: tuple[str, ...]
    target_accept: float | None = None


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence on a run for the rules. Arrays have shape `(chain, draw, ...)`; see `examine` for the rest."""

    sites: AbstractSeries
    stats: AbstractSeries
    chains: Sequence[int]
    dims: Dims
    coords: Coords
    max_tree_depth: int | None
    target_accept: float | None
    complete: bool
    requested: int | None
    counts: Counts
    num_made: int
    num_warmup: int | None
    step_size: np.ndarray | None
    warmups: np.ndarray | None
    is_settled: np.ndarray | None
    latents: frozenset[str]
    blamed: Mapping[str, Blamed]
    is_unbounded: bool
    superchains: Sequence[int] | None = None
    scaled_by: Mapping[str, Forms] = field(default_factory=dict)
    temperatures: np.ndarray | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    blocks: Sequence[Block] = ()
    discrete: frozenset[str] = frozenset()
    flat: frozenset[str] = frozenset()
    bias: float | None = None
    approximated: tuple[str, ...] = ()
    estimate: tuple[int, float] | None = None
    dim: int | None = None

    @property
    def has_many_chains(self) -> bool:
        """Return whether chains are judged by the spread of their means, which needs no long chains."""
        return len(self.chains) >= MANY

    def r_hat(self, draws: np.ndarray) -> np.ndarray:
        """Compute split R-hat, or nested R-hat for many chains; from shape `(chain, draw, k)` to `(k,)`."""
        return nested_r_hat(draws, self.superchains) if self.has_many_chains else r_hat(draws)

    @property
    def num_draws(self) -> int:
        """Number of draws per chain."""
        shapes = [series.shape(name) for series in (self.sites, self.stats) for name in series]
        return shapes[0][1] if shapes else 0

    @property
    def num_scalars(self) -> int:
        """Number of scalars of all sites."""
        return sum(self.sites.width(name) for name in self.sites)

    @property
    def num_judged(self) -> int:
        """Number of scalars that are judged."""
        num_draws = len(self.chains) * self.num_draws
        # Without draws there is nothing to judge, however many there are said to be.
        return min(self.num_scalars, max(len(self.sites), BUDGET // num_draws if num_draws else 0))

    def counts_of(self, kind: str, phase: str) -> np.ndarray:
        """Return how many draws of a phase failed in this way, shape `(chain,)`; zeros without counts."""
        nobody = np.zeros(len(self.chains), np.int64)
        return np.asarray(self.counts.get(kind, {}).get(phase, nobody))

    def label(self, name: str, scalar: int) -> str:
        """Return the quoted label of one scalar of a site."""
        shape = self.sites.shape(name)[2:]
        return repr(scalar_labels(name, shape, self.dims.get(name, ()), self.coords)[scalar])

    def picked(self, names: Collection[str] | None = None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Yield sites with scalars to judge, shape `(n,)`, and their draws, `(chain, draw, n)`; large ones in parts.

        `names`: of the sites to yield; None is all.
        """
        widths = {name: self.sites.width(name) for name in self.sites}
        most = max(1, READ // max(1, len(self.chains) * self.num_draws))
        for name, quota in quotas(widths, self.num_judged).items():
            if names is not None and name not in names:
                continue
            scalars = np.linspace(0, widths[name] - 1, quota).round().astype(int)
            for start in range(0, quota, most):
                part = scalars[start : start + most]
                yield name, part, self.sites.columns(name, part)

    def judged(self, statistic: Callable[[np.ndarray], np.ndarray]) -> list[tuple[float, str, int]]:
        """Return the values of a diagnostic with site and scalar; leaves NaN out, but not infinity."""
        return [
            (float(value), name, int(scalar))
            for name, scalars, draws in self.picked()
            for scalar, value in zip(scalars, statistic(draws), strict=True)
            if not np.isnan(value)
        ]


def quotas(widths: dict[str, int], total: int) -> dict[str, int]:
    """Share `total` scalars among sites, the smallest first, so that a large one crowds none out."""
    quotas: dict[str, int] = {}
    for done, name in enumerate(sorted(widths, key=lambda name: widths[name])):
        quotas[name] = min(widths[name], max(1, total // (len(widths) - done)))
        total -= quotas[name]
    return {name: quotas[name] for name in widths if quotas[name]}
