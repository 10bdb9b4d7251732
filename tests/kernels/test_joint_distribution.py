"""Draw parameters and data in turn: the parameters must keep the distribution of their prior.

A kernel moves parameters given data, and data are drawn anew given the parameters: the joint distribution of both is
kept exactly where the kernel keeps each posterior. The test begins with exact draws, and compares averages over
independent chains after some turns with those of the prior, within 6 standard errors: a false alarm in 2e-9 of each. It
sees errors that symmetric posteriors hide, since data are of all kinds. Controls show that it sees them.

**Source**: Geweke (2004), "Getting it right: joint distribution tests of posterior simulators", JASA 99(467), 799-804:
the successive-conditional simulator.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from machine import diagonal_metric, tuning_of

from accord.adaptation.ladder import LadderTuning
from accord.core import keys
from accord.core.position import Position
from accord.kernels import (
    HMC,
    NUTS,
    AbstractKernel,
    Conditional,
    DiscreteGibbs,
    EllipticalSlice,
    Gibbs,
    MixedHMC,
    RandomWalk,
    Slice,
    Tempered,
)
from accord.kernels.evaluated import advanced
from accord.kernels.places import Place, Places
from accord.kernels.point import Point

NUM_CHAINS, NUM_TURNS = 20_000, 6
LABELS = np.array([0.5, 0.3, 0.2])

# x: a mean, v: the logarithm of a standard deviation, k: a label whose values begin at 3; y: two numbers.
# v ~ N(0, 1/2), k ~ LABELS, x ~ N(k - 3, 1) or N(1, 1) without a label, y ~ N(x, exp(v)).


def log_prior(at: Position) -> Any:
    x, v = at.free
    if at.whole is None:
        return -0.5 * (x - 1) ** 2 - 2 * v**2
    label = at.whole[0] - 3
    return -0.5 * (x - label) ** 2 - 2 * v**2 + jnp.log(jnp.asarray(LABELS))[label]


def log_likelihood(at: Position, y: Any) -> Any:
    x, v = at.free
    return jnp.sum(-0.5 * ((y - x) * jnp.exp(-v)) ** 2 - v)


def parameters(key: Any, has_label: bool) -> Position:
    """Draw from the prior."""
    noise, u = (
        keys.normal(key, 2, 0, jnp.float64),
        keys.uniform(key, jnp.uint32(0), jnp.uint32(1), jnp.float64),
    )
    label = jnp.searchsorted(jnp.cumsum(jnp.asarray(LABELS)), u)
    x = (label if has_label else 1) + noise[0]
    whole = (label + 3).astype(jnp.int32)[None] if has_label else None
    return Position(jnp.stack([x, 0.5 * noise[1]]), whole)


def data(key: Any, at: Position) -> Any:
    return at.free[0] + jnp.exp(at.free[1]) * keys.normal(key, 2, 0, jnp.float64)


def mean_given_data(at: Position, y: Any) -> tuple[Any, Any]:
    """The conditional distribution of x: mean and standard deviation."""
    prior = 1.0 if at.whole is None else at.whole[0] - 3
    weight = jnp.exp(-2 * at.free[1])
    precision = 1 + 2 * weight
    return (prior + weight * jnp.sum(y)) / precision, precision**-0.5


def drawn_mean(factor: float) -> Callable[[Any], Callable[[Position, Any], Position]]:
    """Draw x given all else, with a standard deviation that is right for a factor of 1."""

    def of_data(y: Any) -> Callable[[Position, Any], Position]:
        def draw(at: Position, key: Any) -> Position:
            mean, sd = mean_given_data(at, y)
            return replace(
                at, free=at.free.at[0].set(mean + factor * sd * keys.normal(key, 1, 0, jnp.float64)[0])
            )

        return draw

    return of_data


X_AND_V = (Place("x", 0, 1), Place("v", 1, 2))
WITH_LABEL = Places((*X_AND_V, Place("k", 0, 1, True, ((3, 5),))))


@dataclass(frozen=True)
class Case:
    """A kernel; whether there is a label; by data, how a formula draws; the lower power of a ladder."""

    kernel: AbstractKernel
    has_label: bool = False
    draw: Callable[[Any], Any] | None = None
    power: float = 0.0


def placed(kernel: AbstractKernel, has_label: bool = True) -> AbstractKernel:
    return kernel.placed(WITH_LABEL if has_label else Places(X_AND_V))


def conditional(factor: float) -> Case:
    """The mean by a formula, all else by slices."""
    kernel = Gibbs({"x": Conditional(lambda values: None), ...: Slice()})
    return Case(placed(kernel, has_label=False), draw=drawn_mean(factor))


CASES: dict[str, Callable[[], Case]] = {
    "RandomWalk": lambda: Case(RandomWalk()),
    "HMC": lambda: Case(HMC(max_steps=10)),
    "NUTS": lambda: Case(NUTS(max_tree_depth=3)),
    "Slice": lambda: Case(Slice()),
    "EllipticalSlice": lambda: Case(EllipticalSlice(mean=0.5, scale=1.2)),
    "Conditional": lambda: conditional(1.0),
    "Gibbs and DiscreteGibbs": lambda: Case(
        placed(Gibbs({"k": DiscreteGibbs(), "v": RandomWalk(), ...: HMC(max_steps=5)})), has_label=True
    ),
    "DiscreteGibbs, plain": lambda: Case(
        placed(Gibbs({"k": DiscreteGibbs(is_metropolised=False), ...: Slice()})), has_label=True
    ),
    "MixedHMC": lambda: Case(placed(MixedHMC(turns=3, max_steps=10)), has_label=True),
    "Tempered": lambda: Case(placed(Tempered(HMC(max_steps=5), temperatures=2), has_label=False)),
}


class Lenient(RandomWalk):
    """A control: the acceptance ratio is that of half the difference of log densities."""

    def tell(self, key: Any, state: Any, point: Point, *rest: Any) -> Any:
        half = replace(point, log_density=(point.log_density + state.point.log_density) / 2)
        return super().tell(key, state, half, *rest)


CONTROLS: dict[str, Callable[[], Case]] = {
    "a wrong acceptance": lambda: Case(Lenient()),
    "a conditional with a wrong scale": lambda: conditional(1.2),
    # Its replica begins in the prior, of which it is not.
    "a ladder with another power": lambda: replace(CASES["Tempered"](), power=0.6),
}


def scores(case: Case) -> dict[str, float]:
    """Distances of averages from those of the prior, in standard errors."""
    kernel = case.kernel
    is_ladder = isinstance(kernel, Tempered)
    inner = kernel.kernel if is_ladder else kernel
    tuning = tuning_of(inner, diagonal_metric(2, 2), 0.8)
    if is_ladder:
        # The hot replica has the prior, whatever the data.
        no, zero = jnp.zeros((), bool), jnp.int32(0)
        tuning = LadderTuning(
            jnp.array([case.power, 1.0]), jnp.ones((2, 2)), zero, no, zero, lambda _, own=tuning: own
        )

    nowhere = Position(np.zeros(2), np.full(1, 3, np.int32) if case.has_label else None)
    fresh: Any = jax.tree.map(jnp.asarray, kernel.init(Point(nowhere, np.zeros(()), np.zeros(2))))

    def halves(at: Position, y: Any) -> tuple[Any, Any]:
        def parts(free: Any) -> Any:
            there = replace(at, free=free)
            return jnp.stack([log_prior(there), log_likelihood(there, y)])

        return parts(at.free), jax.jacfwd(parts)(at.free)

    def target(at: Position, y: Any) -> Any:
        values, gradients = halves(at, y)
        found = values.sum(), gradients.sum(0)
        return (*found, values, gradients) if is_ladder else found

    def begun(at: Position, y: Any, hot: Position) -> Any:
        log_density, gradient, *_ = target(at, y)
        state = replace(fresh, point=Point(at, log_density, gradient))
        if not is_ladder:
            return state
        both = jax.tree.map(lambda *each: jnp.stack(each), hot, at)
        values, gradients = jax.vmap(lambda each: halves(each, y))(both)
        return replace(
            state, positions=both, halves=replace(state.halves, log_density=values, gradient=gradients)
        )

    def turn(carry: Any, key: Any) -> Any:
        at, hot = carry
        y = data(keys.fold(key, jnp.uint32(0)), at)
        own = kernel if case.draw is None else kernel.bound((case.draw(y),))
        words = keys.fold(key, jnp.uint32(1))

        def step(carry: Any) -> Any:
            state, info, _ = advanced(own, words, lambda at: target(at, y), carry[0], tuning)
            return state, info.is_complete

        state, _ = jax.lax.while_loop(lambda carry: ~carry[1], step, step((begun(at, y, hot), False)))
        return (
            state.point.position,
            jax.tree.map(lambda rows: rows[0], state.positions) if is_ladder else hot,
        ), None

    @jax.jit
    @jax.vmap
    def run(key: Any) -> Position:
        start, hot = (parameters(keys.fold(key, jnp.uint32(i)), case.has_label) for i in (0, 1))
        turns = jax.vmap(lambda number: keys.fold(key, number))(
            jnp.arange(2, NUM_TURNS + 2, dtype=jnp.uint32)
        )
        return jax.lax.scan(turn, (start, hot), turns)[0][0]

    chain_keys = np.stack([keys.chain_key(7, chain) for chain in range(NUM_CHAINS)])
    end = run(chain_keys)
    x, v = np.asarray(end.free).T
    found = {"v": (v, 0.0), "v^2": (v**2, 0.25), "v^3": (v**3, 0.0)}
    if case.has_label:
        label = np.asarray(end.whole)[:, 0] - 3
        found |= {f"label {k}": (label == k, LABELS[k]) for k in range(3)}
        found |= {"x": (x, 0.7), "(x - label)^2": ((x - label) ** 2, 1.0), "xv": (x * v, 0.0)}
    else:
        found |= {
            "x": (x, 1.0),
            "x^2": ((x - 1) ** 2, 1.0),
            "x^3": ((x - 1) ** 3, 0.0),
            "xv": ((x - 1) * v, 0.0),
        }
    return {
        name: float((np.mean(each) - mean) / (np.std(each) / np.sqrt(NUM_CHAINS)))
        for name, (each, mean) in found.items()
    }


IN_DEFAULT = ("RandomWalk", "a wrong acceptance")


def each_of(table: dict[str, Any]) -> Any:
    return pytest.mark.parametrize(
        "name", [name if name in IN_DEFAULT else pytest.param(name, marks=pytest.mark.slow) for name in table]
    )


@each_of(CASES)
def test_parameters_keep_their_prior(name: str) -> None:
    found = scores(CASES[name]())
    assert max(map(abs, found.values())) < 6, found


@each_of(CONTROLS)
def test_what_is_wrong_does_not_keep_it(name: str) -> None:
    found = scores(CONTROLS[name]())
    assert max(map(abs, found.values())) > 6, found
