"""Compare states drawn by particle Gibbs with the exact smoother of a hidden Markov chain, over a million sweeps.

The last row replaces the first of ordered ancestors by the reference, which is wrong: its errors are the control.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.core.position import Position
from accord.density import LogDensity
from accord.particles.conditional_loop import ConditionalWay
from accord.particles.posterior import TrajectoryDraw
from accord.resampling import AbstractConditionalResampling
from accord.resampling.base import by_inverse_cdf

TOSSES = np.array([0, 1, 1, 0, 1])
EXACT = np.array([0.208724719, 0.868148, 0.878757710, 0.331841620, 0.823599250])
START, MOVE, HEADS = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.1, 0.8])


@ac.model
def hidden(y):
    """A hidden Markov chain of two states."""

    def step(carry, y_t):
        z, is_first = carry
        probs = jnp.where(is_first, jnp.asarray(START), jnp.asarray(MOVE)[z])
        z = ac.sample("z", dist.Categorical(probs))
        ac.sample("y", dist.Bernoulli(jnp.asarray(HEADS)[z]), obs=y_t)
        return (z, False), None

    ac.scan(step, (0, True), y)


class Forced(AbstractConditionalResampling):
    """Ordered multinomial ancestors, of which the first is replaced."""

    def ancestors(self, weights, first, generator):
        """See `AbstractConditionalResampling.ancestors`."""
        found = by_inverse_cdf(weights, jnp.sort(generator.random(len(weights))))
        return found.at[0].set(first.astype(found.dtype))


def main() -> None:
    """Print the errors of the probabilities of one of the states, step by step, with their standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sweeps", type=int, default=1_000_000)
    parser.add_argument("--chains", type=int, default=500)
    options = parser.parse_args()
    systematic, multinomial = infer.ConditionalSystematic(), infer.ConditionalMultinomial()
    ways = {
        "systematic, 4 particles": ConditionalWay(4, systematic, False, "benchmark"),
        "systematic, 16": ConditionalWay(16, systematic, False, "benchmark"),
        "multinomial, 4": ConditionalWay(4, multinomial, False, "benchmark"),
        "systematic, 2, ancestors": ConditionalWay(2, systematic, True, "benchmark"),
        "multinomial, 2, ancestors": ConditionalWay(2, multinomial, True, "benchmark"),
        "forced, 4": ConditionalWay(4, Forced(), False, "benchmark"),
    }
    with precision.scope("float64"):
        for name, way in ways.items():
            found = means(way, options.chains, options.sweeps // options.chains)
            errors = found.mean(axis=0) - EXACT
            print(f"{name:28}", np.round(errors, 5), "+-", np.round(found.std(axis=0) / len(found) ** 0.5, 5))


def means(way: ConditionalWay, chains: int, sweeps: int) -> np.ndarray:
    """Return the share of sweeps of each chain in which a state is one, step by step."""
    density = LogDensity.from_model(hidden(TOSSES), "float64", whole_if_discrete=("z",))
    draw = TrajectoryDraw.of(density, ("z",), way)

    def chain(key: jax.Array) -> jax.Array:
        def sweep(position: Position, number: jax.Array) -> tuple[Position, jax.Array]:
            words = jax.random.key_data(jax.random.fold_in(key, number)).astype(jnp.uint32)
            position = draw.drawn(density, position, words)
            return position, position.whole

        start = Position(jnp.zeros(0), jnp.zeros(len(TOSSES), jnp.int32))
        _, found = jax.lax.scan(sweep, start, jnp.arange(sweeps))
        return found[sweeps // 10 :].astype(float).mean(axis=0)

    return np.asarray(jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(0), chains)))


if __name__ == "__main__":
    main()
