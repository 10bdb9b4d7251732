"""Compare the log densities of programs with NumPyro's, in value and gradient."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro_models import MODELS, ours, theirs

import accord as ac
import accord.distributions as ac_dist
from accord.distributions.pathwise import is_pathwise
from accord.numpyro import as_model
from accord.numpyro.infer import util as door_util

numpyro = pytest.importorskip("numpyro")

_SUMS_OUT = ("summed_out",)


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, which NumPyro needs."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _points(density: ac.LogDensity) -> list[dict[str, np.ndarray]]:
    """Return unconstrained values by name, at three points."""
    rng = np.random.default_rng(1)
    return [
        {e.name: rng.normal(size=e.unconstrained_shape) for e in density.layout.unknowns} for _ in range(3)
    ]


def _flat(density: ac.LogDensity, z: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([np.ravel(z[e.name]) for e in density.layout.unknowns])


def _potential(name: str) -> Any:
    from numpyro.infer.util import potential_energy

    program, args, kwargs = MODELS[name](theirs())
    if name in _SUMS_OUT:
        return None
    seeded = numpyro.handlers.seed(program, jax.random.key(0))
    return jax.jit(jax.value_and_grad(lambda z: -potential_energy(seeded, args, kwargs, z)))


LAWS = [name for name in MODELS if name.startswith("law_")]
FEW = [name for name in MODELS if name not in (*_SUMS_OUT, *LAWS[4:])]


@pytest.mark.parametrize("name", FEW)
def test_log_density_and_gradient_are_numpyros(name: str) -> None:
    _check_same(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS[4:])
def test_log_density_and_gradient_of_other_laws_are_numpyros(name: str) -> None:
    _check_same(name)


def _check_same(name: str) -> None:
    program, args, kwargs = MODELS[name](ours())
    density = ac.LogDensity.from_model(as_model(program, *args, **kwargs))
    value_and_grad, potential = jax.jit(density.value_and_grad), _potential(name)
    for z in _points(density):
        value, grad = value_and_grad(_flat(density, z))
        wanted, slopes = potential({n: jnp.asarray(v) for n, v in z.items()})
        assert float(value) == pytest.approx(float(wanted), rel=1e-10, abs=1e-10)
        expected = _flat(density, {n: np.asarray(s) for n, s in slopes.items()})
        np.testing.assert_allclose(np.asarray(grad), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["regression", "decentred", "masked", "scanned", "events", "factors"])
def test_potential_of_the_door_is_minus_the_log_density(name: str) -> None:
    program, args, kwargs = MODELS[name](ours())
    density = ac.LogDensity.from_model(as_model(program, *args, **kwargs))
    (z, *_) = _points(density)
    seeded = ours().handlers.seed(program, jax.random.key(0))
    energy = door_util.potential_energy(seeded, args, kwargs, {n: jnp.asarray(v) for n, v in z.items()})
    assert float(energy) == pytest.approx(-float(density(jnp.asarray(_flat(density, z)))), rel=1e-10)


def test_a_mixture_with_labels_is_summed_out() -> None:
    program, args, kwargs = MODELS["summed_out"](ours())
    density = ac.LogDensity.from_model(as_model(program, *args, **kwargs))
    values = {"w": np.array([0.3, 0.7]), "mu": np.array([-1.0, 2.0])}
    position = density.unconstrain(values)
    (y,) = args
    terms = [
        np.log(w) - 0.5 * (y - m) ** 2 - 0.5 * np.log(2 * np.pi)
        for w, m in zip(*values.values(), strict=True)
    ]
    likelihood = np.logaddexp(*terms).sum()
    assert float(density.parts(position).likelihood) == pytest.approx(likelihood, rel=1e-12)


DRAWN: dict[str, Any] = {
    "Beta": lambda lib: lib.dist.Beta(jnp.array([0.5, 2.0]), 3.0),
    "Categorical": lambda lib: lib.dist.Categorical(jnp.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])),
    "Categorical of logits": lambda lib: lib.dist.Categorical(logits=jnp.array([0.3, -1.0, 2.0])),
    "expanded": lambda lib: lib.dist.Categorical(jnp.array([0.2, 0.8])).expand([3]).to_event(1),
}


@pytest.mark.parametrize("name", DRAWN)
def test_draws_for_a_key_are_those_of_numpyro(name: str) -> None:
    own, other = (DRAWN[name](lib).sample(jax.random.key(3), (50,)) for lib in (ours(), theirs()))
    np.testing.assert_allclose(own, other, rtol=1e-12)


def test_a_law_that_draws_as_numpyro_is_accords() -> None:
    law = ours().dist.Beta(2.0, 3.0)
    assert isinstance(law, ac_dist.Beta) and isinstance(ac_dist.Beta(2.0, 3.0), ours().dist.Beta)
    assert is_pathwise(law)
    np.testing.assert_allclose(ac_dist.kl_divergence(law, ac_dist.Beta(2.0, 3.0)), 0.0, atol=1e-12)
