"""Name models whose bits are compared: among them each kind that has lost its precision or its data elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.cli import examples
from accord.cli.data import read_data
from accord.cli.source import import_model

BETWEEN = dist.TruncatedNormal(0.3, 1.5, low=1.0, high=2.0)  # built once, outside of any model


@ac.model
def truncated(y):
    """Observe a distribution that was built elsewhere, and draw from it."""
    x = ac.sample("x", BETWEEN)
    ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", y.shape[0]):
        ac.sample("z", dist.Normal(x, 0.5), obs=y)
        ac.sample("y", BETWEEN, obs=y)


@ac.model
def masked(x, y):
    """Regress on an offset that float32 cannot resolve, with missing outcomes behind a mask."""
    a = ac.sample("a", dist.Normal(1e5, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", x.shape[0]), handlers.mask(mask=jnp.isfinite(y)):
        ac.sample("y", dist.Normal(a + b * x, s), obs=y)


@ac.model
def long_sum(x):
    """Sum over so many elements that XLA shares them out among its threads."""
    m = ac.sample("m", dist.Normal(0, 1))
    s = ac.sample("s", dist.HalfNormal(1))
    ac.factor("lik", -0.5 * jnp.sum(((x - m) / s) ** 2) - x.shape[0] * jnp.log(s))


@ac.model
def cholesky(x, y):
    """Factor a covariance so large that a threaded BLAS shares it out."""
    s = ac.sample("s", dist.HalfNormal(1))
    cov = jnp.exp(-0.5 * ((x[:, None] - x) / 0.3) ** 2) + (0.1 + s**2) * jnp.eye(x.shape[0])
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(x.shape[0]), covariance_matrix=cov), obs=y)


NUTS = infer.NUTS()


@dataclass(frozen=True)
class Case:
    """A model to run.

    **Fields**: `build`; `draws`, kept, and as many of warm-up; `chains`, `sampler` and `precision` of the run; `lanes`,
    the widths at which it is run; `shard`, the arguments whose rows may be cut, with the axis of the rows.
    """

    build: Callable[[], Any]
    draws: int = 60
    chains: int = 4
    sampler: Any = NUTS
    precision: Any = "float64"
    lanes: tuple[int, ...] = (1, 2)
    shard: Mapping[str, int] | None = None


def model_of(name: str) -> Any:
    """An example with its data."""
    example = examples.find(name)
    with import_model(str(example.model)) as model:
        return model(**read_data(example.data))


def _truncated() -> Any:
    return truncated(np.array([1.1, 1.9, 1.5, 1.2]))


def _masked() -> Any:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = 1e5 + 2 * x + 0.1 * rng.normal(size=60)
    return masked(x, np.where(rng.uniform(size=60) < 0.3, np.nan, y))


def _long_sum() -> Any:
    return long_sum(np.random.default_rng(2).normal(0.3, 1.2, size=400_000))


def _cholesky() -> Any:
    rng = np.random.default_rng(3)
    return cholesky(np.linspace(0, 3, 600), rng.normal(size=600))


CASES = {
    "eight_schools": Case(lambda: model_of("eight_schools")),
    "eight_schools, float32": Case(lambda: model_of("eight_schools"), precision="float32"),
    "kidscore_interaction": Case(lambda: model_of("kidscore_interaction")),
    "garch11": Case(lambda: model_of("garch11")),
    "hmm_example": Case(lambda: model_of("hmm_example")),
    "low_dim_gauss_mix, HMC": Case(
        lambda: model_of("low_dim_gauss_mix"), sampler=infer.HMC(trajectory_length=1.0)
    ),
    "a distribution of module level": Case(_truncated, shard={"y": 0}),
    "offset of 1e5, 30% masked": Case(_masked, shard={"x": 0, "y": 0}),
    "sum over 400,000": Case(_long_sum, draws=20, chains=3),
    # One lane only: the batched LAPACK kernels of jaxlib 0.10 wait for threads of the pool that they run on, and two of
    # them at once wait for ever where it has two threads.
    "Cholesky factor of 600": Case(_cholesky, draws=5, chains=3, sampler=infer.NUTS(max_tree_depth=1)),
}

CONTROLLED = ("sum over 400,000", "Cholesky factor of 600")
