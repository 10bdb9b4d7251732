"""Compare the mean of each gradient estimator with the gradient of its bound, for fifty models drawn at random.

The mean is over the noise of the guide, on a fine grid; the bound is an integral over positions, on another grid, whose
derivative knows nothing of how the guide draws. Neither is random, so that nothing here fails by chance. The models are
five forms with ten draws each of their priors, data, masks and guides; one form takes parts of its data.
"""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core import precision
from accord.density.minibatch import for_minibatches, minibatch_of
from accord.vi.each import sharing
from accord.vi.objectives import ELBO, IWAE, Renyi

ROWS = 4
WIDTH = 9.0  # of the grid on each side, in standard deviations of the guide
OBJECTIVES: dict[str, Any] = {
    "ELBO, all of its gradient": ELBO(draws=1, sticks_the_landing=False),
    "ELBO that sticks the landing": ELBO(draws=1),
    "IWAE": IWAE(draws=2),
    "Renyi of order 0.5": Renyi(0.5, draws=2),
    "Renyi of order -1": Renyi(-1.0, draws=2),
}


@ac.model
def masked(loc: Any, scale: Any, x: Any, y: Any, keep: Any) -> None:
    b = ac.sample("b", dist.Normal(loc, scale))
    with ac.plate("row", ROWS), handlers.mask(mask=keep):
        ac.sample("y", dist.Normal(b * x, 0.8), obs=y)


@ac.model
def counted(shape: Any, rate: Any, exposure: Any, y: Any) -> None:
    mean = ac.sample("mean", dist.Gamma(shape, rate))
    with ac.plate("row", ROWS):
        ac.sample("y", dist.Poisson(mean * exposure), obs=y)


@ac.model
def weighed(loc: Any, scale: Any, x: Any, y: Any) -> None:
    b = ac.sample("b", dist.StudentT(5.0, loc, scale))
    with ac.plate("row", ROWS), handlers.scale(scale=0.7):
        ac.sample("y", dist.Bernoulli(logits=b * x), obs=y)


@ac.model
def correlated(scale: Any, x: Any, y: Any) -> None:
    b = ac.sample("b", dist.Normal(np.zeros(2), scale))
    with ac.plate("row", ROWS):
        ac.sample("y", dist.Normal(b[0] + b[1] * x, 1.0), obs=y)


@ac.model
def in_parts(scale: Any, x: Any, y: Any) -> None:
    b = ac.sample("b", dist.Normal(0.0, scale))
    with ac.plate("row", ROWS, subsample_size=2):
        ac.sample("y", dist.Bernoulli(logits=b * ac.subsample(x)), obs=ac.subsample(y))


def _rows(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=ROWS)


def _yes_or_no(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, ROWS)


@dataclass(frozen=True)
class Form:
    """A form of model. **Fields**: `model`; `arguments`, drawn; `guide`; whether it takes parts of its data."""

    model: Any
    arguments: Callable[[np.random.Generator], dict[str, Any]]
    guide: Any = infer.guides.MeanField()  # noqa: RUF009 - a frozen value
    takes_parts: bool = False


def _positive(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(rng.uniform(0.5, 2.0))


FORMS: dict[str, Form] = {
    "masked": Form(
        masked,
        lambda rng: dict(
            loc=np.asarray(rng.normal()),
            scale=_positive(rng),
            x=_rows(rng),
            y=_rows(rng),
            keep=rng.random(ROWS) < 0.6,
        ),
    ),
    "counted": Form(
        counted,
        lambda rng: dict(
            shape=1 + _positive(rng),
            rate=_positive(rng),
            exposure=rng.uniform(0.5, 2, ROWS),
            y=rng.poisson(2, ROWS),
        ),
    ),
    "weighed": Form(
        weighed,
        lambda rng: dict(loc=np.asarray(rng.normal()), scale=_positive(rng), x=_rows(rng), y=_yes_or_no(rng)),
    ),
    "correlated": Form(
        correlated,
        lambda rng: dict(scale=_positive(rng), x=_rows(rng), y=_rows(rng)),
        infer.guides.FullRank(),
    ),
    "in parts": Form(
        in_parts, lambda rng: dict(scale=_positive(rng), x=_rows(rng), y=_yes_or_no(rng)), takes_parts=True
    ),
}
CASES = [
    pytest.param(
        form, objective, id=f"{form}: {objective}", marks=() if form == "masked" else pytest.mark.slow
    )
    for form, objective in itertools.product(FORMS, OBJECTIVES)
    # A bound of several draws is no sum over entries, and the grid would have four dimensions.
    if objective.startswith("ELBO") or form not in ("correlated", "in parts")
]


@pytest.mark.parametrize(("form", "objective"), CASES)
def test_the_mean_of_the_gradient_is_the_gradient_of_the_bound(form: str, objective: str) -> None:
    for seed in range(10):
        found, wanted = gradients(FORMS[form], OBJECTIVES[objective], seed)
        for name, value in wanted.items():
            assert np.allclose(found[name], value, rtol=1e-6, atol=1e-6), (seed, name)


def gradients(form: Form, objective: Any, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the mean of the estimator's gradient, and the gradient of minus the bound, by parameter."""
    rng = np.random.default_rng([seed, list(FORMS.values()).index(form)])
    with precision.scope("float64"):
        model = form.model(**form.arguments(rng))
        density = ac.LogDensity.from_model(for_minibatches(model) if form.takes_parts else model)
        dim = density.dim
        start = form.guide.start(np.zeros(2, np.uint32), dim, np.dtype(float))
        params = {name: value + 0.4 * rng.standard_normal(value.shape) for name, value in start.items()}
        params["log_scale"] = params["log_scale"] - 1
        estimator, exact = _programs(form, objective, density, dim)
        words = rng.integers(0, 2**32, 2, dtype=np.uint32)
        return estimator(density.data, params, words), exact(density.data, params)


@functools.cache
def _compiled(form: Form, objective: Any) -> list[Any]:
    """Return where the programs of a form are kept: ten models share them, whose numbers are arguments."""
    del form, objective
    return []


def _programs(form: Form, objective: Any, density: Any, dim: int) -> Any:
    kept = _compiled(form, objective)
    if kept:
        return kept[0]
    guide, num_draws = form.guide, objective.num_draws(dim)
    noise, weights = normal_grid(dim * num_draws, 401)
    noise = noise.reshape(-1, num_draws, dim)
    part = minibatch_of(density, "a test") if form.takes_parts else None

    def estimator(data: Any, params: Any, words: Any) -> Any:
        # Two consecutive parts of two entries are an epoch, in which each entry comes once.
        steps = [None] if part is None else [0, 1]

        def mean(params: Any) -> Any:
            def own(rows: Any) -> Any:
                at = [
                    density.with_data(data) if part is None else part.at(data, words, step) for step in steps
                ]
                return sum(objective.loss(guide, params, rows, sharing(each, True)) for each in at) / len(at)

            return jnp.sum(weights * jax.vmap(own)(noise))

        return jax.grad(mean)(params)

    def exact(data: Any, params: Any) -> Any:
        centre = jax.lax.stop_gradient(params)
        alpha = getattr(objective, "alpha", None)

        def minus_bound(params: Any) -> Any:
            at, cell = grid(guide, centre, dim, 401)
            log_p = jax.vmap(density.with_data(data))(at)
            log_q = jax.vmap(lambda position: guide.log_prob(params, position))(at)
            if alpha is None:
                return -cell * jnp.sum(jnp.exp(log_q) * (log_p - log_q))
            powers = (1 - alpha) * (log_p - log_q)
            both = jnp.logaddexp(powers[:, None], powers) - math.log(2)
            mass = jnp.exp(log_q[:, None] + log_q)
            return -(cell**2) * jnp.sum(mass * both) / (1 - alpha)

        return jax.grad(minus_bound)(params)

    kept.append((jax.jit(estimator), jax.jit(exact)))
    return kept[0]


def normal_grid(dim: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, shape `(node, dim)`, and weights of standard normal expectations.

    Equidistant nodes are as exact as any for smooth functions that vanish at both ends; those of Gauss lie too far
    apart for sums of two weights, which are nearly bent where one takes over from the other.
    """
    line = np.linspace(-WIDTH, WIDTH, count)
    weights = np.exp(-0.5 * line**2)
    every = np.stack(np.meshgrid(*[line] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    return every, functools.reduce(np.multiply.outer, [weights / weights.sum()] * dim).ravel()


def grid(guide: Any, params: Any, dim: int, count: int) -> tuple[Any, Any]:
    """Return points around the guide, shape `(point, dim)`, and the volume of each."""
    line = np.linspace(-WIDTH, WIDTH, count)
    noise = np.stack(np.meshgrid(*[line] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    at, log_q = jax.vmap(lambda own: guide.draw(params, own))(noise)
    stretch = jnp.exp(-0.5 * noise[0] @ noise[0] - 0.5 * dim * math.log(2 * math.pi) - log_q[0])
    return at, stretch * (line[1] - line[0]) ** dim
