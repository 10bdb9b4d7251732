"""Densities with kinks are refused where sites are integrated out by an approximation, and others are not."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers
from accord.core.errors import SiteError

LAPLACE, QUADRATURE = handlers.Laplace(), handlers.Quadrature()
COUNTS = np.array([0, 2, 5])


def of_prior(prior):
    @ac.model
    def model():
        tau = ac.sample("tau", dist.HalfNormal(1))
        with ac.plate("row", 3):
            effect = ac.sample("effect", prior(tau))
            ac.sample("y", dist.Poisson(jnp.exp(effect)), obs=COUNTS)

    return model()


def of_rows(rows):
    @ac.model
    def model():
        tau = ac.sample("tau", dist.HalfNormal(1))
        with ac.plate("row", 3):
            effect = ac.sample("effect", dist.Normal(0, tau))
            ac.sample("y", rows(effect), obs=COUNTS.astype(float))

    return model()


def affine(loc, scale, base):
    return dist.TransformedDistribution(base, bijectors.Affine(loc, scale))


HALVES = dist.Categorical(np.array([0.5, 0.5]))

KINKS = {
    "Laplace": (of_prior(lambda tau: dist.Laplace(0.0, tau)), "effect", "Laplace"),
    "asymmetric": (
        of_prior(lambda tau: dist.AsymmetricLaplace(0.0, tau, 2.0)),
        "effect",
        "AsymmetricLaplace",
    ),
    "by quantile": (
        of_prior(lambda tau: dist.AsymmetricLaplaceQuantile(0.0, tau, 0.3)),
        "effect",
        "AsymmetricLaplaceQuantile",
    ),
    "power 1.5": (of_prior(lambda tau: dist.GeneralizedNormal(0.0, tau, 1.5)), "effect", "GeneralizedNormal"),
    "unknown power": (
        of_prior(lambda tau: dist.GeneralizedNormal(0.0, 1.0, 2 + tau)),
        "effect",
        "GeneralizedNormal",
    ),
    "skewed power 1": (
        of_prior(lambda tau: dist.SkewedExponentialPower(0.0, tau, 1.0, 0.4)),
        "effect",
        "SkewedExponentialPower",
    ),
    "expanded": (of_prior(lambda tau: dist.Laplace(0.0, tau).expand((3,))), "effect", "Laplace"),
    "masked": (
        of_prior(lambda tau: dist.Laplace(0.0, tau).mask(np.array([True, False, True]))),
        "effect",
        "Laplace",
    ),
    "moved": (of_prior(lambda tau: affine(0.0, tau, dist.Laplace(0.0, 1.0))), "effect", "Laplace"),
    "mixed": (
        of_prior(
            lambda tau: dist.MixtureSameFamily(HALVES, dist.Laplace(np.array([-1.0, 1.0]), tau * jnp.ones(2)))
        ),
        "effect",
        "Laplace",
    ),
    "rows": (of_rows(lambda effect: dist.Laplace(effect, 1.0)), "y", "Laplace"),
    "moved rows": (of_rows(lambda effect: affine(effect, 1.0, dist.Laplace(0.0, 1.0))), "y", "Laplace"),
}

SMOOTH = {
    "power 2": of_prior(lambda tau: dist.GeneralizedNormal(0.0, tau, 2.0)),
    "SoftLaplace": of_prior(lambda tau: dist.SoftLaplace(0.0, tau)),
    "StudentT": of_prior(lambda tau: dist.StudentT(4.0, 0.0, tau)),
    # The kink is where the effect does not move it.
    "spread of rows": of_rows(lambda effect: dist.Laplace(1.5, jnp.exp(effect))),
}


@pytest.mark.parametrize("name", KINKS)
def test_a_site_whose_density_has_a_kink_is_refused(name):
    model, site, kind = KINKS[name]
    words = rf"site '{site}': {kind} has a kink.*'effect' may be.*dist\.StudentT .*or sample 'effect'"
    with pytest.raises(SiteError) as raised:
        handlers.collapse(model, ["effect"], by=QUADRATURE).log_density()
    assert re.search(words, str(raised.value), re.DOTALL), str(raised.value)


def test_so_it_is_by_laplace():
    with pytest.raises(SiteError, match="has a kink"):
        handlers.collapse(KINKS["Laplace"][0], ["effect"], by=LAPLACE).log_density()


@pytest.mark.parametrize("name", SMOOTH)
def test_a_site_with_two_derivatives_is_taken(name):
    density = handlers.collapse(SMOOTH[name], ["effect"], by=QUADRATURE).log_density()
    assert density.layout.collapsed == ("effect",)
