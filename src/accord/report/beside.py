"""Put what was computed from draws beside them in one tree."""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import OptionError
from .arviz import Group


class AbstractBeside(abc.ABC):
    """Abstract base class of results that have groups of their own in ArviZ's tree of a run.

    **Fields**: `chains`, the number of each chain that they were computed from; `observed`, observations by site, as
    far as known.
    """

    chains: tuple[int, ...]
    observed: dict[str, np.ndarray]

    @property
    @abc.abstractmethod
    def groups(self) -> tuple[Group, ...]:
        """Return the ArviZ groups of these results."""

    @property
    @abc.abstractmethod
    def num_draws(self) -> int:
        """Number of draws of each chain."""

    @property
    def is_of_draws(self) -> bool:
        """Return whether they belong to draws of a run, rather than of the prior."""
        return True


def groups_beside(beside: Sequence[Any], chains: Sequence[int], num_draws: int) -> tuple[Group, ...]:
    """The groups of all of them.

    **Raises** `OptionError` for what has none, for two of one name, and for what was computed from other draws.
    """
    groups: dict[str, Group] = {}
    for each in beside:
        if not isinstance(each, AbstractBeside):
            raise OptionError(
                "beside draws there can be what infer.predict, infer.prior_predictive and infer.log_likelihood return; "
                f"got {type(each).__name__}."
            )
        for group in each.groups:
            if group.name in groups:
                raise OptionError(f"two groups are called {group.name!r}: give one of them.")
            if each.is_of_draws and (tuple(each.chains), each.num_draws) != (tuple(chains), num_draws):
                raise OptionError(
                    f"{group.name!r} is of chains {list(each.chains)} with {each.num_draws} draws, and these draws are "
                    f"of chains {list(chains)} with {num_draws}. Compute it from these draws."
                )
            groups[group.name] = group
    return tuple(groups.values())
