"""Test distributions of angles and directions where a table cannot: on circles, spheres and the torus."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled

import accord.distributions as dist
from accord.core.errors import DistributionError

ANGLES = np.linspace(-np.pi, np.pi, 257)[:-1]
TORUS = np.stack(np.meshgrid(ANGLES, ANGLES, indexing="ij"), axis=-1)


def test_the_sine_model_has_total_mass_one_with_one_mode_or_two() -> None:
    k1, k2 = np.array([0.5, 3.0, 20.0, 1e-3]), np.array([2.0, 5.0, 10.0, 1e-3])
    r = np.array([1.0, 10.0, -30.0, 5.0])
    total = compiled(
        jax.vmap(lambda *p: jnp.exp(dist.SineBivariateVonMises(0.3, -1.0, *p).log_prob(TORUS)).mean())
    )
    assert_close(total(k1, k2, r) * 4 * np.pi**2, np.ones(4), rtol=1e-9)


def test_the_two_ways_to_give_a_correlation_agree() -> None:
    value = np.array([0.4, 2.0])
    plain = dist.SineBivariateVonMises(0.3, -1.0, 4.0, 9.0, -3.0).log_prob(value)
    assert_close(plain, dist.SineBivariateVonMises(0.3, -1.0, 4.0, 9.0, None, -0.5).log_prob(value))


def test_a_von_mises_fisher_variable_on_the_circle_is_a_von_mises_variable() -> None:
    k = np.array([0.0, 1e-6, 1.0, 1e3, 1e6])
    centre, x = np.array([0.8, 0.6]), np.array([0.6, 0.8])
    angles = np.arctan2(0.6, 0.8), np.arctan2(0.8, 0.6)

    def both(k: jax.Array) -> tuple:
        return dist.VonMisesFisher(centre, k).log_prob(x), dist.VonMises(angles[0], k).log_prob(angles[1])

    one, other = compiled(jax.vmap(jax.value_and_grad(lambda k: both(k)[0])))(k)
    expected, slope = compiled(jax.vmap(jax.value_and_grad(lambda k: both(k)[1])))(k)
    assert_close(one, expected, rtol=1e-11)
    assert_close(other, slope, rtol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_projected_normal_densities_have_total_mass_one(n: int) -> None:
    # By symmetry only the angle to the concentration matters; the rest of the sphere is its area.
    angle = (np.arange(400) + 0.5) * np.pi / 400
    c = np.zeros((3, n))
    c[:, 0] = [0.0, 0.5, 6.0]
    x = np.zeros((400, 1, n))
    x[:, 0, 0], x[:, 0, 1] = np.cos(angle), np.sin(angle)
    density = np.exp(np.asarray(compiled(lambda x: dist.ProjectedNormal(c).log_prob(x))(x)))
    area = {2: 2.0, 3: 2 * np.pi, 5: 2 * np.pi**2}[n]
    total = (density * np.sin(angle)[:, None] ** (n - 2)).sum(0) * area * np.pi / 400
    assert_close(total, np.ones(3), rtol=1e-4)


def test_draws_of_angles_follow_their_parameters_as_quantiles_do() -> None:
    key, h = jax.random.key(1), 1e-5

    def facts(k: jax.Array) -> tuple:
        x = dist.VonMises(0.0, k).sample(key)
        level = jax.lax.stop_gradient(dist.VonMises(0.0, k).cdf(x))
        return x, dist.VonMises(0.0, k).icdf(level)

    def fixed(k: jax.Array) -> jax.Array:
        return dist.VonMises(0.0, k).icdf(dist.VonMises(0.0, 2.0).cdf(dist.VonMises(0.0, 2.0).sample(key)))

    (x, again), slopes = compiled(lambda k: (facts(k), jax.jacobian(facts)(k)))(2.0)
    assert_close(x, again, rtol=1e-10)
    assert_close(slopes[0], slopes[1], rtol=1e-6)
    up, down = compiled(jax.vmap(fixed))(np.array([2 + h, 2 - h]))
    assert_close(slopes[0], (up - down) / (2 * h), rtol=1e-5)


def test_far_tails_of_angles_do_not_underflow() -> None:
    d = dist.VonMises(0.0, 1e6)
    below, above = compiled(lambda x: (d.log_cdf(x), d.log_survival(-x)))(-0.3)
    assert_close(below, above)
    assert -45_000 < below < -44_000
    assert compiled(jax.grad(d.log_cdf))(-0.3) == pytest.approx(1e6 * np.sin(0.3), rel=1e-3)


WRONG: dict[str, tuple[Callable, list[str]]] = {
    "two correlations": (
        lambda: dist.SineBivariateVonMises(0, 0, 1, 1, 0.1, 0.2),
        ["SineBivariateVonMises", "exactly one"],
    ),
    "too much skewness": (
        lambda: dist.SineSkewed(dist.VonMises(np.zeros(2), 1.0).to_event(1), np.array([0.7, 0.7])),
        ["SineSkewed", "skewness", "at most 1"],
    ),
    "skewness of another length": (
        lambda: dist.SineSkewed(dist.VonMises(np.zeros(2), 1.0).to_event(1), np.zeros(3)),
        ["SineSkewed", "(2,)", "(3,)"],
    ),
    "a direction on a line": (lambda: dist.ProjectedNormal(np.zeros(1)), ["ProjectedNormal", "2 dimensions"]),
    "a direction of another length": (
        lambda: dist.VonMisesFisher(np.ones(2), 1.0),
        ["mean_direction", "length 1"],
    ),
}


@pytest.mark.parametrize(("call", "words"), WRONG.values(), ids=list(WRONG))
def test_parameters_that_do_not_fit_are_refused(call: Callable, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
