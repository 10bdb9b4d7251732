"""Test covariance functions: against their formulas, their Fourier transforms, and where points meet."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled, each
from scipy import integrate, special

from accord import gp
from accord.core.errors import DistributionError

# With the correlation as a function of the distance in lengthscales.
STATIONARY = {
    "SquaredExponential": (lambda a, s: gp.SquaredExponential(a, s), lambda r: np.exp(-(r**2) / 2)),
    "Matern12": (lambda a, s: gp.Matern12(a, s), lambda r: np.exp(-r)),
    "Matern32": (lambda a, s: gp.Matern32(a, s), lambda r: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r)),
    "Matern52": (
        lambda a, s: gp.Matern52(a, s),
        lambda r: (1 + 5**0.5 * r + 5 * r**2 / 3) * np.exp(-(5**0.5) * r),
    ),
    "RationalQuadratic": (lambda a, s: gp.RationalQuadratic(a, s, 1.7), lambda r: (1 + r**2 / 3.4) ** -1.7),
}
COVARIANCES = {name: make for name, (make, _) in STATIONARY.items()} | {
    "Periodic": lambda a, s: gp.Periodic(a, s, 1.3)
}
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(6, 2)), RNG.normal(size=(4, 2))
SCALES = np.array([0.5, 2.0])


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(("make", "correlation"), STATIONARY.values(), ids=STATIONARY)
def test_a_stationary_covariance_is_that_of_the_distance_in_lengthscales(make, correlation) -> None:
    distance = np.linalg.norm((X[:, None] - Z) / SCALES, axis=-1)
    assert_close(compiled(make(1.5, SCALES))(X, Z), 2.25 * correlation(distance))
    assert_close(compiled(make(1.5, 0.5))(X[:, 0]), 2.25 * correlation(np.abs(X[:, :1] - X[:, 0]) / 0.5))


def test_a_periodic_covariance_repeats_itself() -> None:
    covariance, x = compiled(gp.Periodic(1.5, 0.7, 1.3)), X[:, 0]
    wave = np.sin(np.pi * (x[:, None] - Z[:, 0]) / 1.3)
    assert_close(covariance(x, Z[:, 0]), 2.25 * np.exp(-2 * wave**2 / 0.49))
    assert_close(covariance(x + 2.6, Z[:, 0]), covariance(x, Z[:, 0]), rtol=1e-11)


@each(COVARIANCES)
def test_a_matrix_is_symmetric_and_has_no_negative_eigenvalue(make) -> None:
    matrix = np.asarray(compiled(make(1.5, 0.7))(np.linspace(-2.0, 2.0, 15)))
    assert_close(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-13 * 15
    assert_close(np.diag(matrix), np.full(15, 2.25))


@pytest.mark.parametrize("make", [make for make, _ in STATIONARY.values()], ids=STATIONARY)
def test_a_spectral_density_is_the_fourier_transform_on_a_line(make) -> None:
    covariance, frequencies = make(1.5, 0.6), np.array([0.3, 1.7, 4.0])
    value = compiled(lambda r: covariance(jnp.reshape(r, (1,)), jnp.zeros(1))[0, 0])
    found = [
        2 * integrate.quad(value, 0, np.inf, weight="cos", wvar=w, epsabs=1e-10, limlst=200)[0]
        for w in frequencies
    ]
    density = np.exp(compiled(covariance.log_spectral_density)(frequencies))
    np.testing.assert_allclose(density, found, rtol=1e-7)


@pytest.mark.parametrize(("make", "correlation"), STATIONARY.values(), ids=STATIONARY)
@pytest.mark.parametrize("num_axes", [2, 3])
@pytest.mark.slow
def test_a_spectral_density_is_the_fourier_transform_in_space(make, correlation, num_axes) -> None:
    """By the integral over radii, forth, or back where it is the covariance that has the heavy tail."""
    kernel = (lambda t: special.j0(t)) if num_axes == 2 else (lambda t: np.sinc(t / np.pi))
    area, scales = {2: 2 * np.pi, 3: 4 * np.pi}[num_axes], np.linspace(0.5, 2.0, num_axes)
    covariance, at = make(1.5, scales), 0.8
    whole = compiled(covariance.log_spectral_density)(at / np.sqrt(num_axes) / scales[None])
    unit = float(np.exp(whole[0])) / (2.25 * scales.prod())
    if not isinstance(covariance, gp.RationalQuadratic):
        found, _ = integrate.quad(
            lambda r: area * r ** (num_axes - 1) * correlation(r) * kernel(at * r),
            0,
            45,
            limit=300,
            epsabs=1e-11,
        )
        np.testing.assert_allclose(unit, found, rtol=1e-8)
        return
    w, weight = np.polynomial.legendre.leggauss(400)
    w, weight = 30 * (w + 1), 30 * weight
    plain = make(1.0, np.ones(num_axes))
    density = np.exp(compiled(plain.log_spectral_density)(w[:, None] / np.sqrt(num_axes) * np.ones(num_axes)))
    back = (area * weight * w ** (num_axes - 1) * density * kernel(at * w)).sum() / (2 * np.pi) ** num_axes
    np.testing.assert_allclose(back, correlation(at), rtol=1e-6)


@each(COVARIANCES)
def test_gradients_are_finite_where_points_meet_and_scales_are_extreme(make) -> None:
    x = np.array([0.0, 0.0, 1e-12, 3.0])
    slopes = compiled(jax.grad(lambda a, s, x: make(a, s)(x).sum(), (0, 1, 2)))
    for scale in (1e-4, 1.0, 1e4):
        assert_finite(slopes(1.5, scale, x))


SLOPES = {
    "Matern32": (gp.Matern32, -3.0),
    "Matern52": (gp.Matern52, -5 / 3),
    "SE": (gp.SquaredExponential, -1.0),
}


@pytest.mark.parametrize(("family", "curvature"), SLOPES.values(), ids=SLOPES)
def test_the_second_derivative_by_place_is_right_where_points_meet(family, curvature) -> None:
    def value(x):
        return family(2.0, 0.5)(x[None], np.zeros(1))[0, 0]

    first, second = compiled(lambda x: (jax.grad(value)(x), jax.grad(jax.grad(value))(x)))(0.0)
    assert_close(second, np.asarray(4 * curvature / 0.25))
    assert_close(first, np.zeros(()))


def test_a_covariance_computes_in_the_precision_of_its_points_and_keeps_its_parameters() -> None:
    covariance = gp.Matern52(0.1, np.float64(0.3))
    assert jax.eval_shape(covariance, X).dtype == np.float64
    with jax.enable_x64(False):
        assert jax.eval_shape(gp.Matern52(0.1, 0.3), jnp.zeros(3)).dtype == np.float32
    assert covariance.amplitude == 0.1


MISTAKES = {
    "a negative scale": (lambda: gp.Matern52(1.0, -1.0), ["Matern52: lengthscale", "above 0", "-1.0"]),
    "a misspelt one": (
        lambda: gp.Matern52(1.0, lenghtscale=1.0),
        ["lenghtscale", "Did you mean 'lengthscale'"],
    ),
    "one for each process": (lambda: gp.Matern32(np.ones(3), 1.0), ["amplitude has shape (3,)", "vmap"]),
    "scales of other axes": (lambda: gp.Matern32(1.0, np.ones(3))(X), ["(6, 2)", "lengthscale (3,)"]),
    "points of other axes": (lambda: gp.Matern32(1.0, 1.0)(X, X[:, 0]), ["(6, 2), (6,)"]),
    "one point": (lambda: gp.Matern32(1.0, 1.0)(0.5), ["(n,) or (n, d)", "x[None]"]),
    "a plane of periods": (lambda: gp.Periodic(1.0, 1.0)(X), ["Periodic", "2 axes", "Multiply"]),
    "periods by axis": (lambda: gp.Periodic(1.0, np.ones(2)), ["Periodic", "(2,)", "on a line"]),
}


@pytest.mark.parametrize(("call", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_says_what_to_write(call, words) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
