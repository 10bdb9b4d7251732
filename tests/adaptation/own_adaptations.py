"""Kernels and adaptations of a user's own, without a step size or a metric."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from accord.adaptation.base import AbstractChainAdaptation, Item, Window
from accord.adaptation.fixed import Fixed
from accord.adaptation.hamiltonian import Hamiltonian
from accord.adaptation.schedule import Update
from accord.core import keys
from accord.core.position import Position
from accord.core.stats import Ending, Info
from accord.core.tree import node, where
from accord.kernels.base import (
    ACCEPTANCE_RATE,
    AbstractKernel,
    AbstractState,
    Standing,
    acceptance_of,
    ending_of,
)
from accord.kernels.point import Point

PROPOSAL, ACCEPT = 0, 1  # streams of random numbers
TARGET = 0.44


# A scale for each coordinate


@node
class ScaleState:
    """State of a chain: logarithms of its scales, shape `(dim,)`, and the draws that it has learnt from."""

    log_scale: Any
    count: Any


@dataclass(frozen=True)
class Scales(AbstractChainAdaptation):
    """Proposals for one coordinate at a time, each tuned to an acceptance of 0.44 (Roberts & Rosenthal 2009)."""

    def begin(self, dim: int, dtype: Any) -> ScaleState:
        return ScaleState(np.zeros(dim, dtype), np.zeros((), dtype))

    def tuning(self, learnt: ScaleState, given: Any, item: Item) -> Any:
        return jnp.exp(learnt.log_scale)

    def update(self, learnt: ScaleState, given: Any, item: Item, info: Info) -> Any:
        is_learning = item.is_draw & (item.draw < item.num_warmup)
        gain = jnp.where(is_learning, 2 * (learnt.count + 1) ** -0.6, 0)
        log_scale = learnt.log_scale + gain * (info.seen - TARGET)
        return ScaleState(log_scale, learnt.count + is_learning), True

    def described(self, learnt: ScaleState, fitted: Any) -> dict[str, Any]:
        return {"scale": np.exp(learnt.log_scale), "num_learnt": int(learnt.count), "aim": f"accept {TARGET}"}

    def shown(self, learnt: ScaleState, fitted: Any) -> Any:
        return (("widest", float(np.exp(learnt.log_scale.max()))),)


@node
class SweepState(AbstractState):
    """A chain on its way through the coordinates: which one is next, and how those before it were accepted."""

    point: Point
    is_fresh: Any
    tried: Any
    coordinate: Any
    acceptance: Any
    ending: Any

    @property
    def last_evaluated(self) -> Any:
        return self.tried


class Sweep(AbstractKernel):
    """Metropolis's algorithm for one coordinate after the other; a draw is a sweep through all of them."""

    stats = (ACCEPTANCE_RATE,)

    @property
    def adaptation(self) -> Scales:
        return Scales()

    def init(self, point: Point) -> SweepState:
        zero: Any = np.int32(0)
        nothing: Any = np.zeros_like(point.position.free)
        return SweepState(point, np.ones((), bool), point.position, zero, nothing, zero)

    def ask(self, key: Any, state: SweepState, tuning: Any, rarely: Any) -> Any:
        at = state.point.position.free
        coordinate = jnp.where(state.is_fresh, 0, state.coordinate)
        step = tuning[coordinate] * keys.normal(key, at.shape[0], PROPOSAL, at.dtype)[coordinate]
        return Position(at.at[coordinate].add(step)), coordinate

    def tell(self, key: Any, state: SweepState, point: Point, pending: Any, tuning: Any, rarely: Any) -> Any:
        ending = ending_of(point)
        ratio = acceptance_of(point.log_density - state.point.log_density)
        ratio = jnp.where(ending == Ending.GOOD, ratio, 0)
        is_accepted = keys.uniform(key, pending.astype(jnp.uint32), jnp.uint32(ACCEPT), ratio.dtype) < ratio
        acceptance = jnp.where(state.is_fresh, jnp.zeros_like(state.acceptance), state.acceptance)
        acceptance = acceptance.at[pending].set(ratio)
        before = jnp.where(state.is_fresh, Ending.GOOD, state.ending)
        is_done = pending == len(acceptance) - 1
        # Where the first bad place was.
        tried = where(before == Ending.GOOD, point.position, state.tried)
        ending = jnp.where(before == Ending.GOOD, ending, before).astype(jnp.int32)
        new = where(is_accepted, point, state.point)
        moved = SweepState(new, is_done, tried, (pending + 1).astype(jnp.int32), acceptance, ending)
        mean = acceptance.mean()
        return moved, Info(is_done, mean, ending, mean[None], acceptance)


# Nothing to adapt


class Independent(AbstractKernel):
    """Metropolis's algorithm with proposals that do not depend on where the chain is: normal, of these widths."""

    stats = (ACCEPTANCE_RATE,)

    locs: tuple[float, ...] = eqx.field(static=True)
    widths: tuple[float, ...] = eqx.field(static=True)

    @property
    def adaptation(self) -> Fixed:
        return Fixed()

    def init(self, point: Point) -> Standing:
        return Standing.at(point)

    def ask(self, key: Any, state: Standing, tuning: None, rarely: Any) -> Any:
        at = state.point.position.free
        noise = keys.normal(key, at.shape[0], PROPOSAL, at.dtype)
        return Position(jnp.asarray(self.locs, at.dtype) + jnp.asarray(self.widths, at.dtype) * noise), None

    def tell(self, key: Any, state: Standing, point: Point, pending: None, tuning: None, rarely: Any) -> Any:
        log_ratio = self._weight(point) - self._weight(state.point)
        moved, ratio, ending = state.decided(key, ACCEPT, point, log_ratio)
        return moved, Info(jnp.ones((), bool), ratio, ending, ratio[None])

    def _weight(self, point: Point) -> Any:
        at = point.position.free
        z = (at - jnp.asarray(self.locs, at.dtype)) / jnp.asarray(self.widths, at.dtype)
        return point.log_density + 0.5 * (z * z).sum()


# Blocks, each with an adaptation of its own


@node
class BlockStates:
    """States of the blocks, and which of them search."""

    blocks: Any
    is_searching: Any


@dataclass(frozen=True)
class BlockUpdate(Update):
    """An update of some blocks, by number."""

    of: tuple[int, ...] = ()


@dataclass(frozen=True)
class Blocks(AbstractChainAdaptation):
    """Adaptation of blocks of coordinates: `parts` has the slice of each, and the adaptation that tunes it."""

    parts: tuple[tuple[tuple[int, int], AbstractChainAdaptation], ...]

    def begin(self, dim: int, dtype: Any) -> BlockStates:
        blocks = tuple(each.begin(stop - start, dtype) for (start, stop), each in self.parts)
        return BlockStates(blocks, np.zeros(len(blocks), bool))

    def at_start(self, gradient: Any) -> Any:
        return tuple(each.at_start(gradient[start:stop]) for (start, stop), each in self.parts)

    def given(self, fitted: Any) -> Any:
        return tuple(each.given(own) for (_, each), own in zip(self.parts, fitted, strict=True))

    def due(self, num_warmup: int) -> tuple[Update, ...]:
        found: dict[int, list[tuple[int, Update]]] = {}
        for number, (_, each) in enumerate(self.parts):
            for update in each.due(num_warmup):
                found.setdefault(update.at, []).append((number, update))
        return tuple(
            BlockUpdate(at, min(u.start for _, u in own), own[0][1].is_first, tuple(n for n, _ in own))
            for at, own in sorted(found.items())
        )

    def learn(self, window: Window, learnt: BlockStates, fitted: Any, update: Update) -> Any:
        assert isinstance(update, BlockUpdate)
        states, fits, searching = list(learnt.blocks), list(fitted), np.array(learnt.is_searching)
        for number in update.of:
            (start, stop), each = self.parts[number]
            own = Window(
                window.positions[:, start:stop], window.gradients[:, start:stop], window.log_density, {}
            )
            states[number], fits[number], is_anew = each.learn(own, states[number], fits[number], update)
            searching[number] |= is_anew
        return BlockStates(tuple(states), searching), tuple(fits), bool(searching.any())

    def tuning(self, learnt: BlockStates, given: Any, item: Item) -> Any:
        own = zip(self._parts(learnt, item), learnt.blocks, given, strict=True)
        return tuple(each.tuning(state, fit, turn) for (each, turn), state, fit in own), ~item.is_draw

    def update(self, learnt: BlockStates, given: Any, item: Item, info: Info) -> Any:
        own = zip(self._parts(learnt, item), learnt.blocks, given, info.seen, strict=True)
        found = [each.update(state, fit, turn, seen) for (each, turn), state, fit, seen in own]
        is_waiting = item.is_probe & ~learnt.is_searching
        is_next_draw = jnp.stack([jnp.asarray(done) for _, done in found]) | is_waiting
        return BlockStates(tuple(state for state, _ in found), ~is_next_draw), is_next_draw.all()

    def _parts(self, learnt: BlockStates, item: Item) -> Any:
        for number, (_, each) in enumerate(self.parts):
            is_probe = item.is_probe & learnt.is_searching[number]
            yield each, Item(item.is_draw, is_probe, item.draw, item.num_warmup)

    def described(self, learnt: BlockStates, fitted: Any) -> dict[str, Any]:
        own = zip(self.parts, learnt.blocks, fitted, strict=True)
        return {
            f"{number}.{name}": value
            for number, ((_, each), state, fit) in enumerate(own)
            for name, value in each.described(state, fit).items()
        }

    def stored(self, fitted: Any) -> dict[str, np.ndarray]:
        return {
            f"{number}.{name}": array
            for number, ((_, each), own) in enumerate(zip(self.parts, fitted, strict=True))
            for name, array in each.stored(own).items()
        }

    def restored(self, arrays: Any, dim: int, dtype: Any) -> Any:
        def of(number: int) -> dict[str, np.ndarray]:
            start = f"{number}."
            return {name.removeprefix(start): arrays[name] for name in arrays if name.startswith(start)}

        return tuple(
            each.restored(of(number), stop - start, dtype)
            for number, ((start, stop), each) in enumerate(self.parts)
        )


@node
class TurnState(AbstractState):
    """A chain whose two blocks move in turn: whether the second is next, and what was reported of the first."""

    point: Point
    is_fresh: Any
    tried: Any
    is_second: Any
    first: Info

    @property
    def last_evaluated(self) -> Any:
        return self.tried


class Turns(AbstractKernel):
    """Random walks of the first coordinate by its scale, and of the others by step size and metric."""

    stats = (ACCEPTANCE_RATE,)
    dim: int = eqx.field(static=True, default=4)

    @property
    def adaptation(self) -> Blocks:
        return Blocks((((0, 1), Scales()), ((1, self.dim), Hamiltonian(0.35, "dense"))))

    def init(self, point: Point) -> TurnState:
        zero, no = np.zeros((), point.position.free.dtype), np.zeros((), bool)
        first = Info(no, zero, np.int32(0), zero[None], zero[None])  # pyright: ignore[reportArgumentType]
        return TurnState(point, np.ones((), bool), point.position, no, first)

    def ask(self, key: Any, state: TurnState, tuning: Any, rarely: Any) -> Any:
        (scales, other), _ = tuning
        at = state.point.position.free
        noise = keys.normal(key, at.shape[0], PROPOSAL, at.dtype)
        is_second = state.is_second & ~state.is_fresh
        first = jnp.concatenate([scales * noise[:1], jnp.zeros_like(noise[1:])])
        second = jnp.concatenate([jnp.zeros_like(noise[:1]), other.step_size * other.metric.push(noise[1:])])
        return Position(at + jax.lax.select(is_second, second, first)), is_second

    def tell(self, key: Any, state: TurnState, point: Point, pending: Any, tuning: Any, rarely: Any) -> Any:
        _, is_probe = tuning
        standing = Standing(state.point, state.is_fresh, state.tried)
        log_ratio = point.log_density - state.point.log_density
        stream = jnp.where(pending, ACCEPT + 1, ACCEPT).astype(jnp.uint32)
        moved, ratio, ending = standing.decided(key, stream, point, log_ratio, is_probe)  # pyright: ignore[reportArgumentType]
        here = Info(jnp.ones((), bool), ratio, ending, ratio[None], ratio[None])
        first = where(pending, state.first, here)
        worst = jnp.maximum(first.ending, ending)
        info = Info(pending, (first.acceptance + ratio) / 2, worst, ratio[None], (first, here))
        return TurnState(moved.point, pending, point.position, ~pending, first), info
