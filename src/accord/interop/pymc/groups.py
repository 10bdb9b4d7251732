"""Arrange the draws of a PyMC model in the tree that `pm.sample` returns."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

from ...core.precision import scope
from ...core.series import InMemory
from ...mcmc.draws import Draws
from ...report.arviz import Group
from ...report.beside import AbstractBeside
from .library import pymc

_POSITION = "position"


def arranged(
    draws: Draws,
    model: Any,
    names: Sequence[str] | None,
    pointwise: Mapping[str, Sequence[str] | None],
    has_warmup: bool,
) -> Any:
    """Return the tree of a run.

    **Arguments**: `names` of the variables to keep, None for all; `pointwise`, groups that PyMC computes, with names of
    variables or None for all; `has_warmup`, whether warm-up draws are kept.
    """
    notices = [str(notice) for notice in draws.notices]
    plain = replace(draws, warmup=InMemory({}), manifest={**draws.manifest, "notices": notices})
    keep = [*plain.sites] if names is None else names
    beside = _pointwise(plain.to_arviz(), model, pointwise) if pointwise else []
    if has_warmup:
        beside += _warmup(draws, keep)
    kept = plain if names is None else replace(plain, sites=InMemory({name: draws[name] for name in keep}))
    return kept.to_arviz(_Beside(draws.chains, tuple(beside)))


@dataclass(frozen=True)
class _Beside(AbstractBeside):
    """Groups of the same run."""

    chains: tuple[int, ...]
    given: tuple[Group, ...]
    observed: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[Group, ...]:
        """See `AbstractBeside.groups`."""
        return self.given

    @property
    def num_draws(self) -> int:
        """Zero: warm-up has another number of draws than the other groups."""
        return 0

    @property
    def is_of_draws(self) -> bool:
        """False, so that numbers of draws are not compared."""
        return False


def _warmup(draws: Draws, names: Sequence[str]) -> list[Group]:
    """Compute the variables at the positions of warm-up."""
    density: Any = draws.density
    positions = draws.warmup[_POSITION]
    with scope("float64"):
        found = jax.jit(jax.vmap(density.constrain))(positions.reshape(-1, positions.shape[-1]))
    size = positions.shape[:2]
    values = {name: np.asarray(found[name]).reshape(*size, *found[name].shape[1:]) for name in names}
    stats = {name: draws.warmup[name] for name in draws.warmup if name != _POSITION}
    return [
        Group("warmup_posterior", values, draws.dims, draws.coords, chains=draws.chains),
        Group("warmup_sample_stats", stats, {}, {}, chains=draws.chains),
    ]


def _pointwise(tree: Any, model: Any, wanted: Mapping[str, Sequence[str] | None]) -> list[Group]:
    """Let PyMC compute log likelihoods and log priors."""
    library, found = pymc(), []
    for group, names in wanted.items():
        with model, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of ArviZ about its next release
            getattr(library, f"compute_{group}")(tree, var_names=names, progressbar=False)
        dataset = tree[group]
        axes = {name: each.dims[2:] for name, each in dataset.data_vars.items()}
        labels = {dim: each.values for dim, each in dataset.coords.items()}
        found.append(
            Group(group, {name: each.values for name, each in dataset.data_vars.items()}, axes, labels)
        )
    return found
