"""Compare log joint densities, and their gradients, with figures worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_known_answers import half_line, normal_of_unknown_variance

import accord as ac
import accord.distributions as dist

X = np.array([1.5, 2.0])


@ac.model
def two_normals():
    m = ac.sample("m", dist.Normal(0, 1))
    ac.sample("x", dist.Normal(m, 1))


# (s, m): log prior, log likelihood, log joint
K1B = {(1.0, 1.0): (-2.221714, -2.462877, -4.684591), (2.0, 1.0): (-2.897729, -2.843524, -5.741253)}


@pytest.mark.parametrize("point", K1B)
def test_prior_and_likelihood_of_k1_are_the_exact_ones(point):
    s, m = point
    density = normal_of_unknown_variance(X).log_density()
    terms = {
        name: float(term) for name, term in density.site_terms(density.unconstrain({"s": s, "m": m})).items()
    }
    prior = terms["s"] + terms["m"] - np.log(s)  # without the Jacobian of log s
    np.testing.assert_allclose((prior, terms["x"], prior + terms["x"]), K1B[point], atol=1e-6)


# What is put on which site, and the log joint where the other site is 1.
K12 = {
    "m conditioned": (lambda model: model.condition({"m": 1.0}), -2.3378770664093453),
    "x conditioned": (lambda model: model.condition({"x": 1.0}), -2.3378770664093453),
    "m intervened": (lambda model: model.do({"m": 1.0}), -0.9189385332046728),
    "x intervened": (lambda model: model.do({"x": 1.0}), -1.4189385332046727),
}


@pytest.mark.parametrize("name", K12)
def test_a_conditioned_site_keeps_its_density_and_one_set_by_intervention_loses_it(name):
    change, exact = K12[name]
    np.testing.assert_allclose(change(two_normals()).log_density()(jnp.array([1.0])), exact, rtol=1e-15)


def test_a_truncation_at_infinity_has_the_exact_value_and_gradient():
    density = half_line().log_density()
    position = density.unconstrain({"sigma": 1.0, "V": 2.0})
    value, gradient = density.value_and_grad(position)
    np.testing.assert_allclose(value - jnp.log(2.0), -3.0285667753, atol=1e-10)
    np.testing.assert_allclose(gradient, [4, -3], rtol=1e-13)


def test_the_gradient_in_model_space_is_the_exact_one():
    def log_joint(sigma, V):
        prior = dist.InverseGamma(2, 3).log_prob(sigma)
        return prior + dist.TruncatedNormal(0, sigma, low=0, high=jnp.inf).log_prob(V)

    np.testing.assert_allclose(log_joint(1.0, 2.0), -3.0285667753, atol=1e-10)
    np.testing.assert_allclose(jax.grad(log_joint, (0, 1))(1.0, 2.0), [3, -2], rtol=1e-13)


def test_the_mode_of_k1_is_the_exact_one():
    """K1a: in model space, without the Jacobian, the gradient vanishes at s = 49/54, m = 7/6."""

    def log_joint(s, m):
        prior = dist.InverseGamma(2, 3).log_prob(s) + dist.Normal(0, jnp.sqrt(s)).log_prob(m)
        return prior + dist.Normal(m, jnp.sqrt(s)).log_prob(X).sum()

    value, gradient = jax.value_and_grad(log_joint, (0, 1))(49 / 54, 7 / 6)
    np.testing.assert_allclose(value, -4.622354, atol=1e-6)
    np.testing.assert_allclose(gradient, 0, atol=1e-13)


def test_the_probabilities_of_ordered_categories_are_the_exact_ones():
    """K13."""
    law = dist.OrderedLogistic(-2.0, jnp.array([-1.0, 1.0]))
    found = jnp.exp(law.log_prob(jnp.arange(3)))
    np.testing.assert_allclose(found, [0.731059, 0.221516, 0.047426], atol=5e-7)
    np.testing.assert_allclose(found.sum(), 1, rtol=1e-15)
