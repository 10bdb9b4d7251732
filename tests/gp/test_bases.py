"""Test approximations by basis functions: they go to the exact process, and their weights are sites."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled, each
from scipy.special import ive

import accord as ac
import accord.distributions as dist
from accord import gp, handlers
from accord.core.errors import AccordError

X = np.linspace(-1.0, 1.0, 21)
PLANE = np.stack(np.meshgrid(X[::4], X[::5]), axis=-1).reshape(-1, 2)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def approximate(covariance, basis, x=X):
    phi, scales = compiled(lambda x: (basis(x), basis.scales(covariance)))(x)
    weighted = np.asarray(phi) * np.asarray(scales)
    return weighted @ weighted.T


def error(covariance, basis, x=X):
    return np.abs(approximate(covariance, basis, x) - np.asarray(compiled(covariance)(x))).max()


# The largest error of a covariance of amplitude 1 with this many functions on [-4, 4]; measured, rounded up. What is
# left of the last one, which has a heavy tail, is due to the borders.
SINES = {
    "SquaredExponential": (gp.SquaredExponential(1.0, 0.5), {16: 2e-3, 32: 3e-10, 64: 2e-15}),
    "Matern52": (gp.Matern52(1.0, 0.5), {16: 0.03, 64: 6e-5, 256: 6e-8}),
    "Matern32": (gp.Matern32(1.0, 0.5), {16: 0.06, 64: 2e-3, 256: 2e-5}),
    "Matern12": (gp.Matern12(1.0, 0.5), {16: 0.2, 64: 0.06, 256: 0.02}),
    "RationalQuadratic": (gp.RationalQuadratic(1.0, 0.5, 3.0), {16: 6e-3, 64: 7e-5, 128: 7e-5}),
}


@pytest.mark.parametrize(("covariance", "errors"), SINES.values(), ids=SINES)
def test_the_covariance_of_sines_goes_to_the_exact_one(covariance, errors) -> None:
    found = {size: error(covariance, gp.SineBasis(-4.0, 4.0, size)) for size in errors}
    assert all(found[size] < errors[size] for size in errors), found


def test_sines_on_a_box_approximate_a_process_with_two_lengthscales() -> None:
    covariance, basis = (
        gp.SquaredExponential(1.3, np.array([0.6, 1.2])),
        gp.SineBasis(-5.0, np.full(2, 5.0), (48, 24)),
    )
    assert basis.num_functions == 48 * 24 == basis.frequencies().shape[0]
    assert error(covariance, basis, PLANE) < 1e-5


# Errors of a covariance of amplitude 1, for the shortest and the longest lengthscale; measured, rounded up.
RULES = {"SquaredExponential": 0.005, "Matern52": 0.009, "Matern32": 0.02}


@pytest.mark.parametrize(("name", "most"), RULES.items(), ids=RULES)
def test_a_basis_chosen_around_points_is_accurate_for_all_lengthscales_between(name, most) -> None:
    family = getattr(gp, name)
    basis = gp.SineBasis.around(X, (0.2, 0.8), family)
    assert max(error(family(1.0, scale), basis) for scale in (0.2, 0.4, 0.8)) < most
    on_plane = gp.SineBasis.around(PLANE, (0.5, 0.5), family)
    assert len(on_plane.size) == 2


def test_the_scales_of_harmonics_are_bessel_functions_and_their_covariance_goes_to_the_exact_one() -> None:
    basis = gp.HarmonicBasis(0.7, 30)
    at_points = compiled(
        lambda s: (basis.scales(gp.Periodic(1.5, s, 0.7)), basis(X), gp.Periodic(1.5, s, 0.7)(X))
    )
    for lengthscale in (0.05, 0.3, 1.0, 30.0):
        scales, phi, exact = map(np.asarray, at_points(lengthscale))
        series = ive(np.arange(31), lengthscale**-2) * np.r_[1.0, np.full(30, 2.0)]
        np.testing.assert_allclose(scales[:31] ** 2, 2.25 * series, rtol=1e-8)
        np.testing.assert_array_equal(scales[31:], scales[1:31])
        if lengthscale >= 0.3:
            np.testing.assert_allclose((phi * scales) @ (phi * scales).T, exact, atol=3e-12)
    assert error(gp.Periodic(1.0, 0.5, 0.7), gp.HarmonicBasis(0.7, 6)) < 2e-3


@each(
    {
        "sines": lambda: (gp.Matern52, gp.SineBasis(-2.0, 2.0, 12)),
        "harmonics": lambda: (gp.Periodic, gp.HarmonicBasis(1.0, 12)),
    }
)
def test_scales_have_finite_gradients_for_extreme_lengthscales(pair) -> None:
    family, basis = pair
    slope = compiled(jax.jacfwd(lambda s: jnp.log(basis.scales(family(1.0, s)))))
    for lengthscale in (1e-3, 1.0, 1e3):
        assert_finite(slope(lengthscale))


def test_beyond_its_borders_a_basis_has_no_value() -> None:
    phi = compiled(gp.SineBasis(-1.0, 1.0, 3))(np.array([-1.5, -1.0, 0.0, 1.0, 1.1]))
    np.testing.assert_array_equal(np.isnan(phi).all(axis=1), [True, False, False, False, True])


def test_harmonics_are_exact_after_a_million_periods() -> None:
    basis = compiled(gp.HarmonicBasis(0.5, 8))
    assert_close(basis(X + 2**20), basis(X), rtol=1e-8, atol=1e-8)


@each({"sines": lambda: gp.SineBasis(-1.5, 1.5, 4), "harmonics": lambda: gp.HarmonicBasis(0.7, 4)})
def test_a_basis_of_known_points_is_numpy_and_keeps_its_digits(basis) -> None:
    traced = compiled(lambda x: basis(x))(X)
    with jax.enable_x64(False):
        known = basis(X)
    assert type(known) is np.ndarray
    assert_close(known, traced)


@ac.model
def regression(x, y, centred=False):
    scale = ac.sample("scale", dist.LogNormal(0.0, 1.0))
    basis = gp.SineBasis(-2.0, 2.0, 5)
    f = basis(x) @ gp.weights("f", gp.Matern32(1.5, scale), basis, centred=centred)
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(f, 0.1), obs=y)


def test_centred_and_not_they_are_the_same_model() -> None:
    standard, direct = (regression(X, np.sin(X), centred=each).log_density() for each in (False, True))
    unit, basis = np.array([0.3, -1.0, 0.5, 2.0, -0.7]), gp.SineBasis(-2.0, 2.0, 5)
    scales = np.asarray(compiled(basis.scales)(gp.Matern32(1.5, 0.8)))
    # Both positions begin with the logarithm of the scale, and the weights are as they are.
    one = compiled(standard)(np.r_[np.log(0.8), unit])
    other = compiled(direct)(np.r_[np.log(0.8), unit * scales])
    assert_close(one, other + np.log(scales).sum())
    assert regression(X[:3], X[:3]).log_density().layout["f"].shape == (5,)


def test_a_plate_has_one_process_for_each_entry() -> None:
    basis = gp.HarmonicBasis(1.0, 3)

    def model():
        with ac.plate("group", 4):
            found = gp.weights("f", gp.Periodic(2.0, 1.0), basis)
        return ac.deterministic("at", found @ basis(X).T)

    def drawn():
        sites = handlers.trace(handlers.seed(model, 0)).get_trace()
        return sites["f"].value, sites["at"].value, basis(X), basis.scales(gp.Periodic(2.0, 1.0))

    f, at, phi, scales = map(np.asarray, compiled(drawn)())
    assert (f.shape, at.shape) == ((4, 7), (4, 21))
    assert_close(at[2], phi @ (scales * f[2]))


SINE, WAVE = gp.SineBasis(-1.0, 1.0, 3), gp.HarmonicBasis(1.0, 3)
MISTAKES = {
    "no interval": (lambda: gp.SineBasis(1.0, -1.0, 3), ["low must be below high"]),
    "no function": (lambda: gp.SineBasis(-1.0, 1.0, 0), ["size", "at least 1"]),
    "borders of other axes": (
        lambda: gp.SineBasis(np.zeros(2), 1.0, 3),
        ["low has shape (2,)", "one for each axis"],
    ),
    "points of other axes": (lambda: SINE(PLANE), ["2 axes", "tuple"]),
    "waves on a plane": (lambda: WAVE(PLANE), ["(30, 2)", "on a line"]),
    "a periodic process of sines": (lambda: SINE.scales(gp.Periodic()), ["Periodic", "gp.HarmonicBasis"]),
    "a rough process of waves": (lambda: WAVE.scales(gp.Matern12()), ["Matern12", "gp.SineBasis"]),
    "another period": (lambda: WAVE.scales(gp.Periodic(1.0, 1.0, 2.0)), ["1.0", "2.0", "covariance.period"]),
    "a negative period": (lambda: gp.HarmonicBasis(-1.0, 3), ["period", "above 0"]),
    "a basis that was evaluated": (
        lambda: gp.weights("f", gp.Matern12(), SINE(X)),
        ["gp.SineBasis(low", "basis(x)"],
    ),
    "a class": (lambda: gp.weights("f", gp.Matern12, SINE), ["gp.weights 'f'", "gp.Matern52(amplitude"]),
    "no rules": (lambda: gp.SineBasis.around(X, (1.0, 2.0), gp.Matern12), ["no rules", "Matern52"]),
    "scales the wrong way": (
        lambda: gp.SineBasis.around(X, (2.0, 1.0), gp.Matern52),
        ["shortest <= longest"],
    ),
    "a misspelt option": (lambda: gp.SineBasis(-1.0, 1.0, sise=3), ["'sise'", "Did you mean 'size'"]),
}


@pytest.mark.parametrize(("call", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_says_what_to_write(call, words) -> None:
    with pytest.raises(AccordError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
