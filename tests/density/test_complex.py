"""Check that complex numbers are refused wherever their imaginary part would be lost, before anything is compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import DataError

Z = np.array([1 + 1j, 2 - 1j])
JAX_Z = jnp.asarray(Z)


@ac.model
def taking(z, y=None):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 2):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def closed(obs=False, parameter=False, deterministic=False, factor=False):
    m = ac.sample("m", dist.Normal(0, 1))
    law = dist.Normal(Z if parameter else np.zeros(2), 1.0)
    with ac.plate("row", 2):
        ac.sample("y", law, obs=Z if obs else np.zeros(2))
    if deterministic:
        ac.deterministic("d", m * Z)
    if factor:
        ac.factor("f", m * 1j)


def density_of(model):
    return lambda: model().log_density()


REFUSED = {
    "an argument": (density_of(lambda: taking(Z)), ["argument 'z'", "`z.real` and `z.imag`"]),
    "an array of JAX": (density_of(lambda: taking(JAX_Z)), ["argument 'z'", "are complex"]),
    "a list": (density_of(lambda: taking([1j, 2.0])), ["argument 'z'"]),
    "a number": (density_of(lambda: taking(1j)), ["argument 'z'"]),
    "an argument that is static": (density_of(lambda: taking(ac.static(1j))), ["argument 'z'"]),
    "a column of pandas": (density_of(lambda: taking(pd.Series(Z))), ["argument 'z'", "are complex"]),
    "objects": (lambda: taking(np.array([1j, 2.0], object)), ["argument 'z'", "row 0", "complex"]),
    "part of a tree": (density_of(lambda: taking({"a": Z})), ["argument 'z/a'"]),
    "a distribution": (density_of(lambda: taking(dist.Normal(Z, 1.0))), ["argument 'z/loc'"]),
    "data": (density_of(lambda: taking(None, Z)), ["argument 'y'"]),
    "what is traced": (
        lambda: jax.make_jaxpr(lambda z: taking(z).log_density()(np.zeros(3)))(Z),
        ["argument 'z'"],
    ),
    "a condition": (lambda: taking(None).condition({"y": Z}), ["site 'y'", "given is complex"]),
    "a condition of JAX": (lambda: taking(None).condition({"y": JAX_Z}), ["site 'y'", "given is complex"]),
    "an intervention": (lambda: taking(None).do({"m": 1j}), ["site 'm'", "given is complex"]),
    "a substitute": (
        lambda: handlers.substitute(taking(None), {"m": Z}),
        ["site 'm'", "given is complex"],
    ),
    "data closed over": (density_of(lambda: closed(obs=True)), ["site 'y'", "given is complex"]),
    "a parameter closed over": (
        density_of(lambda: closed(parameter=True)),
        ["site 'y'", "parameter 'loc' of Normal", "complex128"],
    ),
    "a deterministic site": (density_of(lambda: closed(deterministic=True)), ["ac.deterministic", "'d'"]),
    "a factor": (density_of(lambda: closed(factor=True)), ["ac.factor", "'f'"]),
    "a start": (
        lambda: infer.sample(taking(None), init={"m": 1 + 1j}, quiet=True),
        ["init: site 'm'", "complex", "`value.real`"],
    ),
    "a start of arrays": (lambda: infer.from_values({"m": Z}), ["init: site 'm'", "complex"]),
    "a place": (
        lambda: taking(None).log_density().unconstrain({"m": 1j, "y": np.zeros(2)}),
        ["'m'", "complex"],
    ),
    "a log density": (
        lambda: ac.LogDensity.from_function(lambda q: -q * (q + 1j), 0.0),
        ["from_function", "complex number", "`value.real`"],
    ),
    "an example": (lambda: ac.LogDensity.from_function(lambda q: q.real, 1j), ["leaf 'x'", "two leaves"]),
    "draws": (
        lambda: infer.predict({"m": np.zeros((1, 2)) + 1j}, taking(None)),
        ["site 'm'", "complex128, not numbers"],
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_complex_numbers_do_not_lose_their_imaginary_part(case):
    call, words = case
    with pytest.raises(DataError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_model_may_compute_with_complex_numbers():
    @ac.model
    def spectrum(x):
        scale = ac.sample("scale", dist.HalfNormal(1))
        waves = jnp.fft.rfft(x) * jax.lax.complex(jnp.cos(scale), jnp.sin(scale))
        with ac.plate("frequency", 3):
            ac.sample("power", dist.Normal(jnp.abs(waves), 1.0), obs=np.ones(3))

    density = spectrum(np.arange(4.0)).log_density()
    assert np.isfinite(density(np.zeros(1)))
