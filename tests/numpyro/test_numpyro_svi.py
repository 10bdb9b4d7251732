"""Compare fits with NumPyro's, step by step: the same losses and parameters for the same key."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro_models import Library, ours, theirs

from accord.core.errors import ModelError, OptionError
from accord.numpyro import optim as door_optim
from accord.numpyro.infer import SVI, Trace_ELBO
from accord.numpyro.infer.svi import SVIState

numpyro = pytest.importorskip("numpyro")

DATA = np.array([0.3, 1.2, -0.4, 2.0, 0.8, 1.1])
STEPS = 25


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, which NumPyro needs."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _hierarchy(lib: Library) -> tuple[Any, Any]:
    def model(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 2.0))
        with lib.np.plate("row", len(y)):
            theta = lib.np.sample("theta", lib.dist.Normal(mu, 1.0))
            lib.np.sample("y", lib.dist.Normal(theta, 0.5), obs=y)

    def guide(y: Any) -> None:
        loc = lib.np.param("loc", 0.1)
        scale = lib.np.param("scale", 0.8, constraint=lib.dist.constraints.positive)
        lib.np.sample("mu", lib.dist.Normal(loc, scale))
        with lib.np.plate("row", len(y)):
            means = lib.np.param("means", lambda key: jax.random.normal(key, (len(y),)), event_dim=0)
            lib.np.sample("theta", lib.dist.Normal(means, 0.5))

    return model, guide


def _part(lib: Library) -> tuple[Any, Any]:
    def model(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 2.0))
        with lib.np.plate("row", len(y), subsample_size=3):
            lib.np.sample("y", lib.dist.Normal(mu, 0.5), obs=lib.np.subsample(y, event_dim=0))

    def guide(y: Any) -> None:
        del y
        loc = lib.np.param("loc", 0.1)
        lib.np.sample(
            "mu", lib.dist.Normal(loc, lib.np.param("s", 1.0, constraint=lib.dist.constraints.positive))
        )

    return model, guide


def _local(lib: Library) -> tuple[Any, Any]:
    def model(y: Any) -> None:
        with lib.np.plate("row", len(y), subsample_size=3):
            theta = lib.np.sample("theta", lib.dist.Normal(0.0, 1.0))
            lib.np.sample("y", lib.dist.Normal(theta, 0.5), obs=lib.np.subsample(y, event_dim=0))

    def guide(y: Any) -> None:
        with lib.np.plate("row", len(y), subsample_size=3):
            means = lib.np.param("means", jnp.linspace(-1.0, 1.0, 6), event_dim=0)
            lib.np.sample("theta", lib.dist.Normal(means, 0.5))

    return model, guide


BOUNDS: dict[str, Any] = {
    "trace": lambda lib: lib.infer.Trace_ELBO(),
    "particles": lambda lib: lib.infer.Trace_ELBO(num_particles=3),
    "mean_field": lambda lib: lib.infer.TraceMeanField_ELBO(),
    "renyi": lambda lib: lib.infer.RenyiELBO(alpha=0.5, num_particles=3),
}


def _run(lib: Library, programs: Any, bound: Any, optim: Any) -> Any:
    model, guide = programs(lib)
    fit = lib.infer.SVI(model, guide, optim, bound(lib))
    return fit.run(jax.random.key(4), STEPS, jnp.asarray(DATA), progress_bar=False)


CASES = [(_hierarchy, "trace"), (_part, "mean_field"), (_local, "renyi")]
MORE = [
    (programs, bound)
    for programs in (_hierarchy, _part, _local)
    for bound in BOUNDS
    if (programs, bound) not in [*CASES, (_part, "renyi")]
]


@pytest.mark.parametrize(("programs", "bound"), CASES)
def test_losses_and_parameters_are_numpyros(programs: Any, bound: str) -> None:
    _check_same(programs, bound)


@pytest.mark.slow
@pytest.mark.parametrize(("programs", "bound"), MORE)
def test_losses_and_parameters_of_other_bounds_are_numpyros(programs: Any, bound: str) -> None:
    _check_same(programs, bound)


def _check_same(programs: Any, bound: str) -> None:
    mine = _run(ours(), programs, BOUNDS[bound], door_optim.Adam(0.05))
    wanted = _run(theirs(), programs, BOUNDS[bound], numpyro.optim.Adam(0.05))
    np.testing.assert_allclose(mine.losses, wanted.losses, rtol=1e-8)
    assert mine.params.keys() == wanted.params.keys()
    for name, value in wanted.params.items():
        np.testing.assert_allclose(mine.params[name], value, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Adagrad", (0.1,)),
        ("ClippedAdam", (0.05,)),
        ("Momentum", (0.01, 0.9)),
        ("RMSProp", (0.01,)),
        ("RMSPropMomentum", (0.01,)),
        ("SGD", (0.01,)),
    ],
)
def test_optimisers_step_as_numpyros_do(name: str, arguments: tuple[float, ...]) -> None:
    mine = _run(ours(), _hierarchy, BOUNDS["trace"], getattr(door_optim, name)(*arguments))
    wanted = _run(theirs(), _hierarchy, BOUNDS["trace"], getattr(numpyro.optim, name)(*arguments))
    np.testing.assert_allclose(mine.losses, wanted.losses, rtol=1e-8)


def test_optax_and_jaxs_own_optimisers_are_taken() -> None:
    import optax
    from jax.example_libraries import optimizers

    mine = _run(ours(), _hierarchy, BOUNDS["trace"], optax.adam(0.05))
    wanted = _run(ours(), _hierarchy, BOUNDS["trace"], door_optim.Adam(0.05))
    np.testing.assert_allclose(mine.losses, wanted.losses, rtol=1e-6)
    again = _run(ours(), _hierarchy, BOUNDS["trace"], optimizers.adam(0.05))
    np.testing.assert_array_equal(again.losses, wanted.losses)


def test_a_stable_step_stays_where_the_loss_is_not_finite() -> None:
    lib = ours()

    def model() -> None:
        lib.np.sample("x", lib.dist.Normal(0.0, 1.0))

    def guide() -> None:
        s = lib.np.param("s", 1.5)
        lib.np.sample("x", lib.dist.Normal(s, 1.0))
        lib.np.factor("undefined", jnp.log(s - 1.0))

    fit = SVI(model, guide, door_optim.SGD(10.0), Trace_ELBO())
    state, _ = fit.update(fit.init(jax.random.key(0)))
    before = float(fit.get_params(state)["s"])
    assert before < 1.0  # where the factor is not defined
    after, loss = jax.jit(fit.stable_update)(state)
    assert isinstance(after, SVIState)
    assert np.isnan(float(loss))
    assert float(fit.get_params(after)["s"]) == before


def test_minimize_climbs_to_the_mode() -> None:
    lib = ours()

    def model(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 2.0))
        lib.np.sample("y", lib.dist.Normal(mu, 0.5), obs=y)

    def guide(y: Any) -> None:
        del y
        lib.np.sample("mu", lib.dist.Delta(lib.np.param("at", 0.0)))

    fit = SVI(model, guide, door_optim.Minimize(), Trace_ELBO())
    state = fit.init(jax.random.key(0), jnp.asarray(DATA))
    state, _ = fit.update(state, jnp.asarray(DATA))
    precision = 1 / 4 + len(DATA) / 0.25
    assert float(fit.get_params(state)["at"]) == pytest.approx(DATA.sum() / 0.25 / precision, rel=1e-6)


def test_networks_and_values_that_steps_keep() -> None:
    from jax.example_libraries import stax

    lib = ours()
    init, apply = stax.serial(stax.Dense(3), stax.Tanh, stax.Dense(1))

    def model(x: Any, y: Any) -> None:
        net = lib.np.module("net", (init, apply), input_shape=(2,))
        seen = lib.np.mutable("seen", {"count": jnp.zeros(())})
        seen["count"] = seen["count"] + 1
        lib.np.sample("y", lib.dist.Normal(net(x)[:, 0], 0.1), obs=y)

    def guide(x: Any, y: Any) -> None:
        del x, y

    x = jnp.asarray(np.random.default_rng(0).normal(size=(20, 2)))
    fit = SVI(model, guide, door_optim.Adam(0.02), Trace_ELBO())
    found = fit.run(jax.random.key(0), 200, x, x[:, 0] * x[:, 1], progress_bar=False)
    assert float(found.losses[-1]) < float(found.losses[0])
    assert float(found.state.mutable_state["seen"]["count"]) >= 200


def test_errors_say_what_to_write() -> None:
    lib = ours()

    def model() -> None:
        lib.np.sample("x", lib.dist.Normal(0.0, 1.0))

    def other() -> None:
        lib.np.sample("z", lib.dist.Normal(0.0, 1.0))

    def labels() -> None:
        lib.np.sample("x", lib.dist.Bernoulli(0.5))

    with pytest.raises(ModelError, match=r"the guide draws 'z', and the model has no such site"):
        SVI(model, other, door_optim.Adam(0.1), Trace_ELBO()).run(jax.random.key(0), 1, progress_bar=False)
    with pytest.raises(ModelError, match=r"site 'x' is discrete, and Trace_ELBO has no gradient there"):
        SVI(labels, labels, door_optim.Adam(0.1), Trace_ELBO()).init(jax.random.key(0))
    with pytest.raises(OptionError, match=r"loss must be a bound"):
        SVI(model, model, door_optim.Adam(0.1), "elbo")
    with pytest.raises(OptionError, match=r"num_particles must be at least 1"):
        Trace_ELBO(num_particles=0)
    with pytest.raises(ModelError, match=r"call `init` or `run` first"):
        SVI(model, model, door_optim.Adam(0.1), Trace_ELBO()).get_params(SVIState(None, None, None))
