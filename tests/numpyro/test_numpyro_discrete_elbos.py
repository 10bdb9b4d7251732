"""Compare bounds of programs with discrete unknowns with NumPyro's, and with exact numbers."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro_models import Library, ours, theirs

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError
from accord.numpyro.infer import SVI, TraceEnum_ELBO, TraceGraph_ELBO
from accord.numpyro.optim import Adam

numpyro = pytest.importorskip("numpyro")

DATA = jnp.array([-1.0, -1.2, 2.0, 2.2, 0.1])
START = {"loc": jnp.array([-0.7, 1.1]), "s": jnp.array(0.9)}


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, which NumPyro needs."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _mixture(lib: Library) -> tuple[Any, Any]:
    def model(y: Any, part: int | None = None) -> None:
        m = lib.np.sample("m", lib.dist.Normal(jnp.zeros(2), 3.0).to_event(1))
        s = lib.np.param("s", 0.9, constraint=lib.dist.constraints.positive)
        with lib.np.plate("row", len(y), subsample_size=part) as rows:
            z = lib.np.sample("z", lib.dist.Bernoulli(0.4), infer={"enumerate": "parallel"})
            lib.np.sample("y", lib.dist.Normal(m[z], s), obs=y[rows])

    def guide(y: Any, part: int | None = None) -> None:
        del y, part
        loc = lib.np.param("loc", jnp.array([-0.7, 1.1]))
        lib.np.sample("m", lib.dist.Normal(loc, 0.3).to_event(1))

    return model, guide


def _drawn(lib: Library) -> tuple[Any, Any]:
    def model(y: Any) -> None:
        with lib.np.plate("row", len(y)):
            z = lib.np.sample("z", lib.dist.Bernoulli(0.4))
            lib.np.sample("y", lib.dist.Normal(3.0 * z - 1, 1.0), obs=y)

    def guide(y: Any) -> None:
        p = lib.np.param("p", jnp.full(len(y), 0.3), constraint=lib.dist.constraints.unit_interval)
        with lib.np.plate("row", len(y)):
            lib.np.sample("z", lib.dist.Bernoulli(p))

    return model, guide


@pytest.mark.slow
def test_a_bound_with_unknowns_summed_out_is_that_of_numpyro() -> None:
    pytest.importorskip("funsor")  # without which NumPyro does not sum

    def loss(elbo: Any, programs: Any) -> Any:
        return lambda params: elbo.loss(jax.random.key(4), params, *programs, DATA)

    own = jax.value_and_grad(loss(TraceEnum_ELBO(num_particles=2), _mixture(ours())))
    with numpyro.validation_enabled(False):
        other = jax.value_and_grad(loss(numpyro.infer.TraceEnum_ELBO(num_particles=2), _mixture(theirs())))
        expected = other(START)
    # Arguments are traced under a gradient, so that what is summed is found before.
    bound = TraceEnum_ELBO(num_particles=2)
    bound.begin(START, *_mixture(ours()), (DATA,), {})
    found = jax.value_and_grad(loss(bound, _mixture(ours())))(START)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), found, expected)
    with pytest.raises(ModelError, match=r"Call `svi.init` outside of jit"):
        own(START)


@pytest.mark.slow
def test_a_part_of_equal_data_bounds_as_all_of_them() -> None:
    bounds = []
    for part in (None, 2):
        programs = _mixture(ours())
        svi = SVI(*programs, Adam(0.1), TraceEnum_ELBO())
        state = svi.init(jax.random.key(0), jnp.full(6, 1.3), part)
        bounds.append(svi.loss.loss(jax.random.key(1), START, *programs, jnp.full(6, 1.3), part))
    np.testing.assert_allclose(bounds[1], bounds[0], rtol=1e-12)
    assert np.isfinite(svi.update(state, jnp.full(6, 1.3), 2)[1])


@pytest.mark.slow
def test_scores_of_each_row_have_the_slope_of_the_bound() -> None:
    """A slope is off by more than 7 of its errors, which are at most 0.03, by a false alarm in 3e-12 of runs."""
    programs, count = _drawn(ours()), 20_000
    elbo = TraceGraph_ELBO(num_particles=count)

    def loss(p: Any) -> Any:
        return elbo.loss(jax.random.key(0), {"p": p}, *programs, DATA)

    def exact(p: Any) -> Any:
        q = jnp.stack([1 - p, p])
        joint = jnp.log(jnp.array([0.6, 0.4]))[:, None] + dist.Normal(
            jnp.array([-1.0, 2.0])[:, None], 1.0
        ).log_prob(DATA)
        return -jnp.sum(q * (joint - jnp.log(q)))

    p = jnp.full(len(DATA), 0.3)
    value, slope = jax.jit(jax.value_and_grad(loss))(p)
    assert abs(value - exact(p)) < 7 * 0.03
    np.testing.assert_allclose(slope, jax.grad(exact)(p), atol=7 * 0.03)
    theirs_at = numpyro.infer.TraceGraph_ELBO().loss(jax.random.key(2), {"p": p}, *_drawn(theirs()), DATA)
    own_at = TraceGraph_ELBO().loss(jax.random.key(2), {"p": p}, *programs, DATA)
    np.testing.assert_allclose(own_at, theirs_at, rtol=1e-12)


def test_a_discrete_unknown_that_nobody_draws_names_the_bound_that_sums_it_out() -> None:
    with pytest.raises(ModelError, match=r"site 'z' is discrete, and the guide does not draw it"):
        SVI(*_mixture(ours()), Adam(0.1), TraceGraph_ELBO()).init(jax.random.key(0), DATA)


def test_names_that_no_statement_has_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    def model(y: Any) -> None:
        door.sample("y", dist.Normal(door.sample("mu", dist.Normal(0.0, 1.0)), 1.0), obs=y)

    def guide(y: Any) -> None:
        del y
        door.sample("mu", dist.Normal(door.param("loc", 0.0), 1.0))

    hidden = door.handlers.block(guide, hide=["other"])
    given = door.handlers.reparam(model, config={"muu": door.infer.reparam.LocScaleReparam(0)})
    SVI(given, hidden, Adam(0.1), door.infer.Trace_ELBO()).init(
        jax.random.key(0), 0.3, init_params={"lok": 1.0}
    )
    said = capsys.readouterr().err
    assert "handlers.reparam was given 'muu', which no statement of the program has" in said
    assert "Did you mean 'mu'" in said
    assert "handlers.block was given 'other'" in said and "handlers.substitute was given 'lok'" in said
    assert said.count("no statement") == 3
