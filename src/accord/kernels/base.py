"""Define kernels: state machines that ask for one evaluation at a time, are told it, and report complete draws."""

import abc
from collections.abc import Callable
from dataclasses import fields, replace
from types import EllipsisType
from typing import Any, ClassVar, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.base import AbstractAdaptation, AbstractChainAdaptation
from ..core import keys
from ..core.errors import OptionError
from ..core.modules import Module
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .formula import Draw, Needed
from .places import Places
from .point import Point
from .rarely import Rarely

DIVERGENCE = 1000.0  # energy error, in nats, beyond which a trajectory is given up (Stan's constant)


ENERGY, NUM_STEPS = Stat("energy"), Stat("n_steps", "int32")
"""The Hamiltonian at the start of a trajectory, and its number of gradients."""

ACCEPTANCE_RATE, STEP_SIZE = Stat("acceptance_rate"), Stat("step_size")
"""The acceptance that adaptation aims at, and the step that it chose."""


@node
class AbstractState(abc.ABC):
    """State of a kernel between evaluations; `point` is the last complete draw once a trajectory has ended."""

    point: Point
    is_fresh: Bool[Array, ""]

    @property
    @abc.abstractmethod
    def last_evaluated(self) -> Position:
        """Return the position that was evaluated last, also if it ended a trajectory."""


@node
class Standing(AbstractState):
    """State of a kernel that needs one evaluation a draw: where the chain stands, and where it was evaluated last."""

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried

    @staticmethod
    def at(point: Point) -> "Standing":
        """Make the state of a chain at a point; NumPy."""
        is_fresh: Any = np.ones((), bool)
        return Standing(point, is_fresh, point.position)

    def decided(
        self,
        key: UInt32[Array, " 2"],
        stream: int,
        point: Point,
        log_ratio: Float[Array, ""],
        is_probe: Bool[Array, ""] | bool = False,
    ) -> tuple["Standing", Float[Array, ""], Int[Array, ""]]:
        """Accept a proposal, or refuse it, by Metropolis's rule; return the state, the probability and the `Ending`.

        `stream` of the key decides; `log_ratio` is the logarithm of the acceptance ratio, of which NaN is refused. A
        point whose numbers are not finite is refused, and so is that of a probe.
        """
        ending, dtype = ending_of(point), point.log_density.dtype
        is_possible = (ending == Ending.GOOD) & ~jnp.isnan(log_ratio)
        ratio = jnp.where(is_possible, acceptance_of(log_ratio), 0)
        is_accepted = keys.uniform(key, jnp.uint32(0), jnp.uint32(stream), dtype) < ratio
        taken = where(is_accepted & ~jnp.asarray(is_probe), point, self.point)
        return Standing(taken, jnp.ones((), bool), point.position), ratio, ending


class AbstractKernel(Module):
    """A Markov kernel as a resumable state machine: it asks where to evaluate, and is told what is there.

    **Contract**
    - A kernel never sees the target: the program evaluates, exactly once between `ask` and `tell`. Stopping between two
      evaluations and continuing later gives the same numbers.
    - All random numbers come from `key`, which identifies the draw, and from counters kept in the state.
    - `tuning` is what the kernel's adaptation makes. Where that asks for probes, a trajectory that is one is complete
      after one evaluation and is not taken; its acceptance counts.
    - It moves what `position` has: `free` numbers, and the `whole` ones of the sites that it names.
    - A log density of NaN, or a gradient that is not finite, has weight zero: it ends the trajectory and is reported,
      and the chain never moves there.
    """

    is_ensemble: ClassVar[bool] = False
    """Whether its chains share adaptation and move in step, as one group."""

    stats: ClassVar[tuple[Stat, ...]]
    """Statistics of each draw, beside the log density and the ending: one at least, the first a float."""

    whole: ClassVar[tuple[str, ...]] = ()
    """Names of discrete latent sites whose values it samples, by a class variable, a field or a property.

    `position.whole` holds these values and no others, in the model's order; outside of a support, the log density is
    -inf.
    """

    has_memory: ClassVar[bool] = False
    """Whether a draw needs more of those before it than the point where they ended, as walkers that stand elsewhere.

    Such a kernel is no block of others, and to find where a draw failed, all draws of its block of work are repeated.
    """

    is_plain: ClassVar[bool] = True
    """Whether it is plain arithmetic on small arrays, which a piece of machine code can hold: see `programs.loop`."""

    needs_halves: ClassVar[bool] = False
    """Whether the points that it is told have `halves`: prior and likelihood, apart."""

    needs_minibatch: ClassVar[bool] = False
    """Whether what it is told is estimated from a part of the data, which `batch_of` names."""

    needs_series: ClassVar[bool] = False
    """Whether the kernel is told, by `Places.series`, which unknowns are the states of a series."""

    needs_reference: ClassVar[bool] = False
    """Whether these estimates, of several parts, have control variates, and points that it is told have `control`."""

    whole_if_discrete: ClassVar[tuple[str, ...] | EllipsisType] = ()
    """Names of latent sites that it samples as whole numbers where they are discrete; `...`: all that are."""

    is_discrete: ClassVar[bool] = False
    """Whether it moves whole numbers and nothing else, so that the sites of its block are discrete."""

    needs_gradient: ClassVar[bool] = True
    """Whether, as a block of several, it needs the gradient where the chain stands when its turn begins."""

    of_adaptation: ClassVar[tuple[str, ...]] = ()
    """Names of fields that only the adaptation reads, with defaults: other values of them compile nothing anew."""

    adaptation_kind: ClassVar[type[AbstractAdaptation]] = AbstractChainAdaptation
    """Contract that its adaptation keeps."""

    def placed(self, places: Places) -> "AbstractKernel":
        """Return the kernel for positions in which sites lie at these places, before its run or its block begins.

        **Raises** `OptionError` for sites that it cannot move: by default, whole numbers that it does not name.
        """
        for each in places.whole:
            if each.name not in self.whole:
                raise OptionError(
                    f"{type(self).__name__}: site {each.name!r} is discrete, and {type(self).__name__} moves free "
                    f"numbers. Give the site to a kernel of its own, as by `infer.Gibbs({{{each.name!r}: "
                    f"infer.DiscreteGibbs(), ...: infer.{type(self).__name__}()}})`."
                )
        return self

    @property
    def at_once(self) -> tuple[tuple[str, ...], ...]:
        """Return sets of discrete sites, each to be drawn at once where that is less work, once it is placed.

        By default none. Where it is, the kernel is placed again, at places that say so: see `Places.tabled`.
        """
        return ()

    @property
    def formulas(self) -> tuple[Needed, ...]:
        """Return what it needs of the model beside the log density, once it is placed; by default nothing."""
        return ()

    def bound(self, draws: tuple[Draw, ...]) -> "AbstractKernel":
        """Return the kernel with a draw for each of its formulas, in their order; within the program that moves it."""
        del draws
        return self

    def batch_of(self, pending: Any) -> UInt32[Array, "..."]:
        """Return the words of the part of the data on which what was asked for is evaluated: two, or two for each part.

        `pending` is what `ask` returned beside the position. **Raises** `OptionError` for a kernel that has no such
        method, and says by `needs_minibatch` that it has.
        """
        del pending
        raise OptionError(
            f"{type(self).__name__} has needs_minibatch = True and no method `batch_of(pending)`, which returns the "
            "two words of a part of the data, shape (2,), uint32. Write it, or leave needs_minibatch out."
        )

    def batch_at(self, key: UInt32[Array, " 2"]) -> UInt32[Array, "..."]:
        """Return the words of the part on which a chain compares places, and begins: by default a key for it."""
        return key

    def standing_on(self, state: Any, words: UInt32[Array, "..."]) -> Any:
        """Return the state of a chain that has been evaluated where it stands, on the part that these words name.

        By default the state: such a kernel keeps no part.
        """
        del words
        return state

    def blank_info(self, point: Point) -> Info:
        """Return the report of a chain at a point that has made no evaluation; NumPy.

        To be a block, a kernel whose reports have something in `seen` returns as much of it here.
        """
        no, zero, count = np.zeros((), bool), np.zeros((), point.position.free.dtype), np.int32(0)
        stats: Any = np.zeros(len(self.stats), zero.dtype)
        return Info(no, zero, count, stats)  # pyright: ignore[reportArgumentType]

    def described(self) -> dict[str, Any]:
        """Return its name and its options for a manifest, in plain JSON; functions by name, and not where sites lie."""
        return {
            "name": type(self).__name__,
            **{each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name != "places"},
        }

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Callable[[Any], "AbstractKernel"]) -> Self:
        """Build it of the options that `described` returns; `build` makes the kernels in it of their descriptions."""
        del build
        return cls(**options)

    @property
    @abc.abstractmethod
    def adaptation(self) -> AbstractAdaptation:
        """What warm-up learns, and how that tunes the kernel."""

    @property
    def compiled(self) -> "AbstractKernel":
        """Return the kernel for a compiled program: options of its adaptation alone get their defaults."""
        return replace(
            self, **{each.name: each.default for each in fields(self) if each.name in self.of_adaptation}
        )

    @abc.abstractmethod
    def init(self, point: Point) -> Any:
        """Make the state of a chain at a point, an `AbstractState` that is fresh. NumPy; computes nothing."""

    @abc.abstractmethod
    def ask(self, key: UInt32[Array, " 2"], state: Any, tuning: Any, rarely: Rarely) -> tuple[Position, Any]:
        """Return where to evaluate next, and what `tell` needs to know of that."""

    @abc.abstractmethod
    def tell(
        self, key: UInt32[Array, " 2"], state: Any, point: Point, pending: Any, tuning: Any, rarely: Rarely
    ) -> tuple[Any, Info]:
        """Take the point that was asked for, with what `ask` returned beside it; return the next state and a report."""


def ending_of(point: Point) -> Int[Array, ""]:
    """Return the `Ending` of a draw at a point, by its numbers alone; a log density of -inf is a good one."""
    is_bad = ~jnp.all(jnp.isfinite(point.gradient)) & (point.log_density != -jnp.inf)
    ending = jnp.where(is_bad, Ending.GRADIENT, Ending.GOOD)
    return jnp.where(point.log_density < jnp.inf, ending, Ending.LOG_DENSITY).astype(jnp.int32)


def weight_of_step(energy_start: Array, kinetic: Array, log_density: Array) -> tuple[Array, Array]:
    """Return the log weight of a point (minus its energy error), and the `Ending` that it would be.

    A gradient that is not finite has already made the kinetic energy so, hence one sum sees them all. A log density of
    -inf is a finite statement (the point is impossible): it counts as a divergence.
    """
    is_non_finite = ~jnp.isfinite(kinetic) & (log_density != -jnp.inf) | ~(log_density < jnp.inf)
    log_weight = energy_start - (kinetic - log_density)
    log_weight = jnp.where(is_non_finite | jnp.isnan(log_weight), -jnp.inf, log_weight)
    ending = jnp.where(log_weight < -DIVERGENCE, Ending.DIVERGENCE, Ending.GOOD)
    of_numbers = jnp.where(jnp.isfinite(log_density), Ending.GRADIENT, Ending.LOG_DENSITY)
    return log_weight, jnp.where(is_non_finite, of_numbers, ending).astype(jnp.int32)


def stats_of(first: Array, *others: Array) -> Float[Array, " stat"]:
    """Return the statistics of an `Info` from its numbers, each of shape `()`; the first one is a float."""
    return jnp.stack([first, *(number.astype(first.dtype) for number in others)])


def acceptance_of(log_weight: Array) -> Array:
    """Compute the acceptance probability min(1, exp(-energy error)) from a log weight, shape `()`."""
    return jnp.exp(jnp.minimum(log_weight, 0))


def name_of(function: Any) -> str:
    """Return the name of a function for a manifest."""
    return getattr(function, "__qualname__", repr(function))


def _plain(value: Any) -> Any:
    return name_of(value) if callable(value) else value
