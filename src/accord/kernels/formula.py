"""Define what a kernel needs of a model beside its log density: draws of some sites given all others.

They are drawn from distributions that the user gives, or from tables of the model's own log probabilities.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from jaxtyping import Array, Float, Int, UInt32

from ..core.guided import Lookahead, Proposal
from ..core.position import Position
from ..core.tree import node
from .places import Part

if TYPE_CHECKING:
    from ..resampling import AbstractConditionalResampling
    from .base import AbstractKernel

Function = Callable[[Mapping[str, Any]], Any]
"""From the values of all other sites, by name, to a distribution; or to a mapping from sites to distributions."""

Draw = Callable[[Position, UInt32[Array, " 2"]], Any]
"""From a position and a key to the position in which the sites of a formula, or of tables, are drawn.

That of a `Marginal` returns an `Estimate`.
"""


@dataclass(frozen=True)
class Formula:
    """Distribution of some sites given all others. **Fields**: `function`; `names`, the sites, in a position's order.

    A kernel names its formulas, and the program that moves it gives it a `Draw` for each.
    """

    function: Function | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Tabled:
    """Distribution of some discrete sites given all others, by the model's own log probabilities.

    **Fields**: `names`, the sites, in a position's order; `redraw`, how they are drawn, which is the program's to know;
    `is_metropolised`, whether an entry proposes one of its other values, where entries are independent.
    """

    names: tuple[str, ...]
    redraw: Any = field(compare=False, repr=False)
    is_metropolised: bool


@dataclass(frozen=True)
class Trajectory:
    """Draw of the states of a series given all else, by particles.

    **Fields**: `names`, of the states and of unknowns where the series begins; `particles`, how many; `resampling`, of
    the others given the reference; `has_ancestor_sampling`, whether the reference gets another past at each step.
    """

    names: tuple[str, ...]
    particles: int
    resampling: "AbstractConditionalResampling"
    has_ancestor_sampling: bool


@dataclass(frozen=True)
class Marginal:
    """Log density of all other unknowns, with the states of a series integrated out by particles: an estimate.

    **Fields**: `names`, of the states and of unknowns where the series begins; `particles`, how many; `proposal` and
    `lookahead`, by which they look at the data, or None.
    """

    names: tuple[str, ...]
    particles: int
    proposal: Proposal | None = None
    lookahead: Lookahead | None = None


@node
class Estimate:
    """Result of a particle filter at a position.

    **Fields**: `position`, with the states drawn given all else; `log_density` of the other unknowns, in unconstrained
    space, an estimate whose exponential is unbiased; `num_bad`, particles whose weight was no number.
    """

    position: Position
    log_density: Float[Array, ""]
    num_bad: Int[Array, ""]


Needed = Formula | Tabled | Trajectory | Marginal
"""A part of a model that a kernel may need beside the log density."""


def shared_out(kernels: Iterable["AbstractKernel"], draws: Iterable[Draw]) -> tuple[tuple[Draw, ...], ...]:
    """Return the draws of each of several kernels, from those of all in their order."""
    every = iter(draws)
    return tuple(tuple(islice(every, len(kernel.formulas))) for kernel in kernels)


def within(draws: Iterable[Draw], part: Part, around: Position) -> tuple[Draw, ...]:
    """Return draws for positions of a part, with the other unknowns as they are around it."""

    def inner(draw: Draw) -> Draw:
        return lambda own, key: part.position(draw(part.put(around, own), key))

    return tuple(map(inner, draws))
