"""Draw by Hamiltonian Monte Carlo on parts of the data, which are changed between trajectories."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.base import AbstractChainAdaptation
from ..adaptation.tuning import Tuning
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import AbstractKernel, AbstractState, acceptance_of, ending_of
from .blocks import chain_adaptation
from .hmc import HMC
from .nuts import NUTS
from .places import Places
from .point import Point
from .rarely import Rarely

_INNER, _PROPOSED = 0, 1  # items of the key of a draw
_CHOICE = 1  # stream of the key of a proposal, beside 0, of its words

PART_ACCEPTANCE, VARIANCE = Stat("part_acceptance"), Stat("estimate_variance")
"""The probability that a part was exchanged, and the variance of the estimated log density where that was tried."""


def _listed(values: Any) -> Any:
    """Return values by name as lists of numbers: options of a kernel are no arrays."""
    if not isinstance(values, Mapping):
        return values
    return {name: np.asarray(value).tolist() for name, value in values.items()}


@node
class SubsampledState(AbstractState):
    """A chain within a draw: `inner`, the state of its trajectory, on the parts that `words` name, shape `(parts, 2)`.

    `exchange` and `variance` are the statistics of the parts in this draw; `ending`, how their exchange failed, and
    `tried`, where; or where the chain was evaluated last.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    ending: Int[Array, ""]
    words: UInt32[Array, "parts 2"]
    exchange: Float[Array, ""]
    variance: Float[Array, ""]
    inner: Any

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@node
class _Pending:
    """An evaluation on `words`: of the trajectory `inner`, which asked for it as `asked`, or of an exchanged part."""

    is_exchange: Bool[Array, ""]
    words: UInt32[Array, "parts 2"]
    inner: Any
    asked: Any


@checks_fields
class HMCECS(AbstractKernel):
    """Hamiltonian Monte Carlo with energy-conserving subsampling: trajectories on parts of the data, with acceptance.

    For data of which one pass is too much for a step, and a posterior that is concentrated around one mode. A
    trajectory keeps its parts, so that it conserves energy and is accepted by Metropolis's rule; between trajectories,
    one of the parts is exchanged, by that rule too. The log density is estimated with control variates: what a
    second-order expansion around a reference leaves over of each part. It is corrected for the noise of this estimate,
    and the rest is a bias, small while `draws.stats["estimate_variance"]` is well below 1: the notice `biased` says
    how large it may be. The draws are then nearer to the posterior than those of `SGLD`, and nearly independent.

    The reference is the mode in unconstrained space, found before the run from all of the data, and chains begin near
    it, unless there is an `init=`.

    **Fields**
    - `inner`: the trajectories: `HMC()` or `NUTS()`. What it learns in warm-up, it learns here.
    - `parts`: number of independent parts, each of `subsample_size` entries, that all evaluations use, >= 4. Their
      spread tells the variance. An evaluation costs two or three times as much as a gradient of all parts.
    - `reference`: values of all latent sites, by name, to expand around; None finds the mode.

    **Raises** as `SGLD` does; `ModelError` if no mode is found, or above 1000 unknowns.

    Statistics are those of `inner`, with `estimate_variance` and `part_acceptance`; `draws.stats["lp"]` holds
    estimates. Deterministic sites have all entries.

    **Source**: Dang, Quiroz, Kohn, Tran & Villani (2019), "Hamiltonian Monte Carlo with energy conserving
    subsampling", JMLR 20(100). Here the variance is that of several parts, and its own noise is corrected for too.

    **Example**

    >>> @ac.model
    ... def line(x, y):
    ...     slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    ...     with ac.plate("row", len(y), subsample_size=10):
    ...         ac.sample("y", dist.Normal(slope * ac.subsample(x), 1.0), obs=ac.subsample(y))
    >>> x = np.linspace(-1, 1, 500)
    >>> infer.sample(line(x, 0.3 * x), infer.HMCECS(), draws=200, chains=2, quiet=True)
    <Draws of line: 2 chains x 200 draws; slope>
    """

    needs_minibatch: ClassVar[bool] = True
    needs_reference: ClassVar[bool] = True
    has_memory: ClassVar[bool] = True

    inner: HMC | NUTS = eqx.field(static=True, default=HMC())
    parts: int = eqx.field(static=True, default=10, kw_only=True)
    reference: Mapping[str, Any] | None = eqx.field(
        static=True, default=None, kw_only=True, converter=_listed
    )

    def __check_init__(self) -> None:
        if not isinstance(self.inner, HMC | NUTS):
            hint = " Build it first, with its parentheses." if isinstance(self.inner, type) else ""
            raise OptionError(f"HMCECS: inner must be infer.HMC() or infer.NUTS(), got {self.inner!r}.{hint}")
        positive_count("HMCECS: parts", self.parts, minimum=4, maximum=1000)
        if self.reference is not None and not isinstance(self.reference, Mapping):
            raise OptionError(
                "HMCECS: reference must be a mapping from latent sites to values, such as "
                f"`infer.find_mode(model).values`, got {self.reference!r}."
            )

    @property
    def stats(self) -> tuple[Stat, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Statistics of the trajectory, and of the parts."""
        return (*self.inner.stats, PART_ACCEPTANCE, VARIANCE)

    @property
    def adaptation(self) -> AbstractChainAdaptation:
        """See `AbstractKernel.adaptation`."""
        return chain_adaptation(self.inner)

    @property
    def compiled(self) -> "HMCECS":
        """See `AbstractKernel.compiled`; the reference is an argument of the program."""
        inner: Any = self.inner.compiled
        return replace(self, inner=inner, reference=None)

    def placed(self, places: Places) -> "HMCECS":
        """See `AbstractKernel.placed`."""
        inner: Any = self.inner.placed(places)
        return replace(self, inner=inner)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`; where the reference is, the settings of a run say."""
        return {"name": type(self).__name__, "inner": self.inner.described(), "parts": self.parts}

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Callable[[Any], AbstractKernel]) -> "HMCECS":
        """See `AbstractKernel.from_described`."""
        inner: Any = build(options["inner"])
        return cls(inner, parts=options["parts"])

    def batch_of(self, pending: _Pending) -> UInt32[Array, "parts 2"]:
        """See `AbstractKernel.batch_of`."""
        return pending.words

    def batch_at(self, key: UInt32[Array, " 2"]) -> UInt32[Array, "parts 2"]:
        """See `AbstractKernel.batch_at`."""
        return keys.item(key, jnp.uint32(0), jnp.arange(self.parts, dtype=jnp.uint32)).T

    def standing_on(self, state: SubsampledState, words: UInt32[Array, "parts 2"]) -> SubsampledState:
        """See `AbstractKernel.standing_on`."""
        return replace(state, words=words)

    def init(self, point: Point) -> SubsampledState:
        """See `AbstractKernel.init`."""
        is_fresh: Any = np.ones((), bool)
        good: Any = np.int32(Ending.GOOD)
        words: Any = np.zeros((self.parts, 2), np.uint32)
        zero: Any = np.zeros((), point.position.free.dtype)
        inner = self.inner.init(point)
        return SubsampledState(point, is_fresh, point.position, good, words, zero, zero, inner)

    def ask(
        self, key: UInt32[Array, " 2"], state: SubsampledState, tuning: Tuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: where the chain stands, with a part exchanged; then where its trajectory asks."""
        is_exchange = state.is_fresh & ~jnp.asarray(tuning.is_probe)
        at = rarely(state.is_fresh, lambda _: state.point, state.inner.point)
        # A trajectory whose turn it is not yet is not fresh: nothing that is rarely needed is computed for it.
        is_beginning = (state.is_fresh | state.inner.is_fresh) & ~is_exchange
        inner = replace(state.inner, point=at, is_fresh=is_beginning)
        asked_at, asked = self.inner.ask(_of_inner(key), inner, tuning, rarely)
        words = rarely(is_exchange, lambda old: _exchanged(key, old), state.words)
        position = where(is_exchange, state.point.position, asked_at)
        return position, _Pending(is_exchange, words, inner, asked)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: SubsampledState,
        point: Point,
        pending: _Pending,
        tuning: Tuning,
        rarely: Rarely,
    ) -> tuple[SubsampledState, Info]:
        """See `AbstractKernel.tell`."""
        is_exchange, there = pending.is_exchange, replace(point, control=None)

        def move(old: tuple[Any, Info]) -> tuple[Any, Info]:
            return self.inner.tell(_of_inner(key), old[0], there, pending.asked, tuning, rarely)

        blank = jax.tree.map(jnp.asarray, self.inner.blank_info(there))
        inner, info = rarely(~is_exchange, move, (pending.inner, blank))
        log_ratio, failed = point.log_density - state.point.log_density, ending_of(point)
        is_possible = (failed == Ending.GOOD) & ~jnp.isnan(log_ratio)
        ratio = jnp.where(is_possible, acceptance_of(log_ratio), 0)
        choice = keys.item(key, jnp.uint32(_PROPOSED), jnp.uint32(0))
        u = keys.uniform(choice, jnp.uint32(1), jnp.uint32(_CHOICE), ratio.dtype)
        is_accepted = is_exchange & (u < ratio)
        taken = rarely(is_accepted, lambda _: there, inner.point)
        inner = replace(inner, point=taken, is_fresh=inner.is_fresh | is_exchange)

        # Of an evaluation that failed in the exchange, and of the trajectory after it, the first is reported.
        before = jnp.where(is_exchange, failed, jnp.where(state.is_fresh, Ending.GOOD, state.ending))
        ending = jnp.where(before == Ending.GOOD, jnp.where(is_exchange, Ending.GOOD, info.ending), before)
        tried = where(before == Ending.GOOD, inner.last_evaluated, state.tried)
        exchange = jnp.where(is_exchange, ratio, state.exchange)
        assert point.control is not None, "the program tells a kernel that needs a reference of its estimates"
        variance = jnp.where(is_exchange, point.control.variance, state.variance)
        is_complete = info.is_complete & ~is_exchange
        new = SubsampledState(
            taken,
            is_complete,
            where(is_exchange, point.position, tried),
            ending.astype(jnp.int32),
            rarely(is_accepted, lambda _: pending.words, state.words),
            exchange,
            variance,
            inner,
        )
        stats = jnp.concatenate([info.stats, jnp.stack([exchange, variance])])
        return new, replace(info, is_complete=is_complete, ending=new.ending, stats=stats)


def _of_inner(key: UInt32[Array, " 2"]) -> UInt32[Array, " 2"]:
    return keys.item(key, jnp.uint32(_INNER), jnp.uint32(0))


def _exchanged(key: UInt32[Array, " 2"], words: UInt32[Array, "parts 2"]) -> UInt32[Array, "parts 2"]:
    """Return the words of all parts, one of them new."""
    proposed = keys.item(key, jnp.uint32(_PROPOSED), jnp.uint32(0))
    u = keys.uniform(proposed, jnp.uint32(0), jnp.uint32(_CHOICE), jnp.float32)
    count = words.shape[0]
    which = jnp.minimum((u * count).astype(jnp.int32), count - 1)
    new = keys.item(proposed, jnp.uint32(0), jnp.uint32(0))
    return jnp.where(jnp.arange(count)[:, None] == which, new, words)
