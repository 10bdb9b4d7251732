"""Hold distributions whose draws are said to move with their parameters to the derivative of a mean.

The mean slope of a function of draws is compared with that by the score of the density, over the same draws: a false
alarm in 2e-9 of each of some 60 comparisons, at 6 standard errors.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import bijectors, infer
from accord.core import precision
from accord.distributions import constraints
from accord.distributions.pathwise import FAMILIES, is_pathwise
from accord.vi.written.guide import Written

COUNT = 4000
SQUARE = np.array([[1.0, 0.0], [0.4, 0.8]])
MAKE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "Normal": (dist.Normal, (0.3, 1.2)),
    "LogNormal": (dist.LogNormal, (0.3, 0.7)),
    "HalfNormal": (dist.HalfNormal, (1.2,)),
    "StudentT": (dist.StudentT, (5.0, 0.3, 1.2)),
    "HalfStudentT": (dist.HalfStudentT, (5.0, 1.2)),
    "Cauchy": (dist.Cauchy, (0.3, 1.2)),
    "HalfCauchy": (dist.HalfCauchy, (1.2,)),
    "Laplace": (dist.Laplace, (0.3, 1.2)),
    "AsymmetricLaplace": (dist.AsymmetricLaplace, (0.3, 1.2, 0.8)),
    "Logistic": (dist.Logistic, (0.3, 1.2)),
    "Gumbel": (dist.Gumbel, (0.3, 1.2)),
    "Exponential": (dist.Exponential, (1.5,)),
    "Gamma": (dist.Gamma, (2.5, 1.5)),
    "InverseGamma": (dist.InverseGamma, (2.5, 1.5)),
    "Chi2": (dist.Chi2, (3.0,)),
    "Weibull": (dist.Weibull, (1.2, 1.5)),
    "Rayleigh": (dist.Rayleigh, (1.2,)),
    "Frechet": (dist.Frechet, (1.2, 2.5)),
    "LogLogistic": (dist.LogLogistic, (1.2, 2.5)),
    "Beta": (dist.Beta, (2.5, 1.5)),
    "Kumaraswamy": (dist.Kumaraswamy, (2.5, 1.5)),
    "LogitNormal": (dist.LogitNormal, (0.3, 1.2)),
    "RelaxedBernoulli": (lambda t, p: dist.RelaxedBernoulli(t, probs=p), (0.7, 0.4)),
    "RelaxedBernoulliLogits": (lambda t, x: dist.RelaxedBernoulliLogits(t, logits=x), (0.7, 0.4)),
    "Pareto": (lambda alpha: dist.Pareto(1.0, alpha), (2.5,)),
    "Dirichlet": (dist.Dirichlet, (np.array([0.8, 1.5, 2.5]),)),
    "MultivariateNormal": (
        lambda m, c: dist.MultivariateNormal(m, scale_tril=jnp.tril(c)),
        (np.zeros(2), SQUARE),
    ),
    "LowRankMultivariateNormal": (
        dist.LowRankMultivariateNormal,
        (np.zeros(2), np.array([[0.5], [1.0]]), np.array([0.5, 1.5])),
    ),
    "MultivariateStudentT": (
        lambda d, m, c: dist.MultivariateStudentT(d, m, jnp.tril(c)),
        (5.0, np.zeros(2), SQUARE),
    ),
    "MultivariateLogNormal": (
        lambda m, c: dist.MultivariateLogNormal(m, scale_tril=jnp.tril(c)),
        (np.zeros(2), SQUARE),
    ),
    "LogisticNormal": (lambda m, c: dist.LogisticNormal(m, scale_tril=jnp.tril(c)), (np.zeros(2), SQUARE)),
    "MatrixNormal": (
        lambda m, a, b: dist.MatrixNormal(m, jnp.tril(a), jnp.tril(b)),
        (np.zeros((2, 2)), SQUARE, SQUARE),
    ),
    "TransformedDistribution": (
        lambda m, s, a: dist.TransformedDistribution(
            dist.Normal(m, s), [bijectors.Affine(0.0, a), bijectors.Exp()]
        ),
        (0.3, 0.7, 1.1),
    ),
}


def gaps(make: Callable[..., Any], at: tuple[Any, ...]) -> np.ndarray:
    """Differences of the two slopes by each parameter, in standard errors."""
    with precision.scope("float64"):
        params = tuple(jnp.asarray(each, float) for each in at)
        first = np.asarray(make(*params).sample(jax.random.key(0), (200,)))
        middle, spread = (
            np.median(first, axis=0),
            np.quantile(np.abs(first - np.median(first, axis=0)), 0.7, axis=0),
        )
        weights = np.random.default_rng(1).normal(size=middle.shape) + 1.5

        def height(value: Any) -> Any:
            return jnp.tanh(jnp.sum(weights * (value - middle) / spread))

        def gap(key: Any) -> Any:
            moved = jax.grad(lambda p: height(make(*p).sample(key)))(params)
            value = make(*params).sample(key)
            score = jax.grad(lambda p: make(*p).log_prob(value))(params)
            return jnp.concatenate(
                [jnp.ravel(a - height(value) * b) for a, b in zip(moved, score, strict=True)]
            )

        found = np.asarray(jax.jit(jax.vmap(gap))(jax.random.split(jax.random.key(2), COUNT)))
    error = found.std(axis=0) / np.sqrt(COUNT)
    return np.abs(found.mean(axis=0)) / np.where(error > 0, error, 1)


QUICK = ("Normal", "Laplace", "Kumaraswamy", "MultivariateNormal", "TransformedDistribution")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in MAKE]
)
def test_the_mean_moves_with_draws_as_by_the_score(name: str) -> None:
    make, at = MAKE[name]
    assert is_pathwise(make(*at))
    assert gaps(make, at).max() < 6


def test_every_family_is_in_the_table() -> None:
    # Parameters of a uniform distribution are the ends of its support; a point has no density.
    assert {*MAKE, "Uniform", "Delta"} == FAMILIES | {"TransformedDistribution"}


def test_draws_that_are_chosen_among_two_are_found_out() -> None:
    assert not is_pathwise(dist.InverseGaussian(1.0, 2.0))
    assert gaps(dist.InverseGaussian, (1.0, 2.0)).max() > 6


def test_a_support_that_parameters_move_is_none_of_them() -> None:
    assert is_pathwise(dist.Uniform(0.0, 1.0).expand((3,)).to_event(1)) and is_pathwise(dist.Delta(1.0))
    seen = []
    jax.eval_shape(lambda high: seen.append(is_pathwise(dist.Uniform(0.0, high))) or high, 1.0)
    assert seen == [False] and not is_pathwise(dist.Poisson(1.0))


class Shifted(dist.AbstractDistribution):
    """An exponential distribution from `-1` on, whose draws are quantiles of uniform ones."""

    scale: Any
    parameters: ClassVar[dict[str, Any]] = {"scale": constraints.positive}
    has_pathwise_draws: ClassVar[bool] = True

    @property
    def support(self) -> Any:
        return constraints.greater_than(-1.0)

    def log_prob(self, value: Any) -> jax.Array:
        return jnp.where(value < -1, -jnp.inf, -(value + 1) / self.scale - jnp.log(self.scale))

    def icdf(self, q: Any) -> jax.Array:
        return -self.scale * jnp.log1p(-q) - 1


class Normal(Shifted):
    """A class of the user's own, with a name that accord has too, which says nothing of its draws."""

    has_pathwise_draws: ClassVar[bool] = False


def test_a_class_of_the_users_own_counts_by_what_it_says() -> None:
    assert is_pathwise(Shifted(1.5)) and is_pathwise(Shifted(1.5).expand((2,)).to_event(1))
    assert gaps(Shifted, (1.5,)).max() < 6
    assert not is_pathwise(Normal(1.5))


@ac.model
def waiting() -> None:
    x = ac.sample("x", Shifted(1.0))
    ac.sample("seen", dist.Normal(x, 1.0), obs=0.5)


@ac.model
def by_own(kind: Any) -> None:
    ac.sample("x", kind(ac.param("scale", 1.0, constraint=constraints.positive)))


def test_a_guide_of_such_draws_is_fitted_by_their_slopes() -> None:
    options: dict[str, Any] = dict(
        objective=infer.ELBO(draws=4), steps=20, until=None, quiet=True, progress=False
    )
    by_slopes, by_scores = (infer.fit(waiting(), by_own(kind), **options) for kind in (Shifted, Normal))
    assert isinstance(by_slopes.guide, Written) and by_slopes.guide.scored == ()
    assert isinstance(by_scores.guide, Written) and by_scores.guide.scored == ("x",)
