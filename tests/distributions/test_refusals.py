"""Test that mistakes are refused in words that name the distribution, the parameter, the value and the remedy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.distributions as dist
from accord.core.errors import DistributionError
from accord.distributions import constraints

REFUSED = {
    "negative scale": (lambda: dist.Normal(0, -1), ["Normal", "scale", "-1", "above 0"]),
    "zero scale": (lambda: dist.Normal(0, 0.0), ["Normal", "scale", "0.0"]),
    "NaN scale": (lambda: dist.Normal(0, np.nan), ["Normal", "scale", "NaN"]),
    "negative scale in an array": (lambda: dist.HalfNormal(np.array([1.0, -2.0])), ["scale", "-2.0", "(1,)"]),
    "negative scale in a JAX array": (
        lambda: dist.Gamma(jnp.asarray([1.0, -2.0])),
        ["concentration", "-2.0"],
    ),
    "list": (lambda: dist.Normal(0, [1]), ["scale", "list", "NumPy array"]),
    "bounds in the wrong order": (lambda: dist.Uniform(2, 1), ["Uniform", "low=2", "high=1", "order"]),
    "empty truncation": (
        lambda: dist.TruncatedNormal(0, 1, low=np.array([0.0, 1.0]), high=1.0),
        ["TruncatedNormal", "low=1.0", "(1,)"],
    ),
    "scalar concentration": (lambda: dist.Dirichlet(1.0), ["Dirichlet", "concentration", "axis"]),
    "neither probs nor logits": (lambda: dist.Bernoulli(), ["Bernoulli", "none", "exactly one"]),
    "both probs and logits": (
        lambda: dist.Binomial(1, 0.1, 0.2),
        ["Binomial", "probs and logits", "exactly one"],
    ),
    "probability above one": (lambda: dist.Bernoulli(1.5), ["Bernoulli", "probs", "1.5", "between"]),
    "probabilities that do not sum to one": (
        lambda: dist.Categorical(np.array([0.3, 0.3])),
        ["probs", "sum 1"],
    ),
    "fractional count": (lambda: dist.Binomial(2.5, 0.1), ["total_count", "2.5", "whole number"]),
    "not positive definite": (
        lambda: dist.MultivariateNormal(0, covariance_matrix=np.array([[1.0, 2.0], [2.0, 1.0]])),
        ["covariance_matrix", "positive definite"],
    ),
    "two matrices": (
        lambda: dist.MultivariateNormal(0, covariance_matrix=np.eye(2), scale_tril=np.eye(2)),
        ["MultivariateNormal", "exactly one"],
    ),
    "loc of another length": (
        lambda: dist.MultivariateNormal(np.zeros(3), scale_tril=np.eye(2)),
        ["(3,)", "(2, 2)"],
    ),
    "expand to a shape that does not fit": (
        lambda: dist.Normal(np.zeros(3), 1).expand((2,)),
        ["(3,)", "(2,)"],
    ),
    "to_event of axes that are not there": (lambda: dist.Normal(np.zeros(3), 1).to_event(2), ["(3,)", "2"]),
    "mask of numbers": (
        lambda: dist.Normal(0, 1).mask(np.array([0.0, 1.0])),
        ["mask", "float64", "booleans"],
    ),
    "weights without components": (
        lambda: dist.MixtureSameFamily(dist.Categorical(np.array([0.5, 0.5])), dist.Normal(np.zeros(3), 1)),
        ["(3,)", "2 mixing weights"],
    ),
    "components without weights": (
        lambda: dist.MixtureGeneral(dist.Categorical(np.array([1.0])), [dist.Normal(), dist.Normal()]),
        ["2 components", "1 mixing"],
    ),
    "components of other supports": (
        lambda: dist.Mixture(dist.Categorical(np.array([0.5, 0.5])), [dist.Normal(), dist.HalfNormal()]),
        ["supports", "support="],
    ),
    "components of other shapes": (
        lambda: dist.Mixture(
            dist.Categorical(np.array([0.5, 0.5])),
            [dist.Normal(), dist.MultivariateNormal(0, scale_tril=np.eye(2))],
        ),
        ["event shapes"],
    ),
    "improper support without event axes": (
        lambda: dist.ImproperUniform(constraints.simplex, (), ()),
        ["ImproperUniform", "event_shape"],
    ),
    "no map to a discrete set": (lambda: dist.biject_to(constraints.boolean), ["biject_to", "discrete"]),
    "no map to a set": (lambda: dist.biject_to(constraints.sphere), ["ProjectedNormal"]),
    "no entropy": (
        lambda: dist.MixtureSameFamily(
            dist.Categorical(np.array([0.5, 0.5])), dist.Dirichlet(np.ones((2, 3)))
        ).entropy(),
        ["MixtureSameFamily", "entropy"],
    ),
    "no quantiles": (lambda: dist.Dirichlet(np.ones(3)).icdf(0.5), ["Dirichlet", "icdf"]),
    "no cdf": (lambda: dist.Dirichlet(np.ones(3)).cdf(np.ones(3)), ["Dirichlet", "cdf"]),
    "no mean": (lambda: dist.ImproperUniform(constraints.real, (), ()).mean, ["ImproperUniform", "mean"]),
    "no variance": (
        lambda: dist.ImproperUniform(constraints.real, (), ()).variance,
        ["ImproperUniform", "variance"],
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_mistakes_are_refused_in_words_that_name_them(call: object, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_a_cached_property_is_refused_when_the_class_is_defined() -> None:
    import functools

    with pytest.raises(DistributionError, match=r"Cached\.total is a functools\.cached_property"):

        class Cached(dist.AbstractDistribution):
            @functools.cached_property
            def total(self) -> float:
                return 1.0


def test_traced_parameters_are_not_looked_at() -> None:
    assert jnp.isnan(jax.jit(lambda s: dist.Normal(0, s).log_prob(1.0))(-1.0))
