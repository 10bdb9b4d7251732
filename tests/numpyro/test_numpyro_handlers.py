"""Compare what handlers make of programs with what NumPyro's make of them, draws included."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro_models import MODELS, ours, theirs

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError, OptionError, SiteError
from accord.numpyro import NotInAccord, handlers
from accord.numpyro.contrib.control_flow import scan


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, which NumPyro needs."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("name", ["regression", "hierarchy", "masked", "scoped", "factors", "seeded_inside"])
def test_traces_have_the_sites_scales_plates_and_draws_of_numpyro(name: str) -> None:
    pytest.importorskip("numpyro")
    found: list[Any] = []
    for lib in (ours(), theirs()):
        program, args, kwargs = MODELS[name](lib)
        seeded = lib.handlers.seed(program, jax.random.key(3))
        found.append(lib.handlers.trace(seeded).get_trace(*args, **kwargs))
    mine, wanted = found
    assert list(mine) == list(wanted)
    for site, expected in wanted.items():
        assert mine[site]["type"] == expected["type"]
        assert mine[site].get("scale") == expected.get("scale")
        assert mine[site].get("is_observed") == expected.get("is_observed")
        frames = [(f.name, f.dim, f.size) for f in expected.get("cond_indep_stack", [])]
        assert [tuple(f) for f in mine[site].get("cond_indep_stack", [])] == frames
        if "HalfCauchy" not in str(expected.get("fn")):
            np.testing.assert_allclose(mine[site]["value"], expected["value"], rtol=1e-6)


def test_a_part_of_a_plate_is_numpyros_part_and_scales_likewise() -> None:
    pytest.importorskip("numpyro")

    def run(lib: Any) -> Any:
        def program(x: Any) -> Any:
            with lib.np.plate("row", 20, subsample_size=5) as index:
                lib.np.sample("y", lib.dist.Normal(0.0, 1.0), obs=lib.np.subsample(x, event_dim=0))
            return index

        seeded = lib.handlers.seed(program, jax.random.key(1))
        return lib.handlers.trace(seeded).get_trace(jnp.arange(20.0))

    mine, wanted = run(ours()), run(theirs())
    np.testing.assert_array_equal(mine["row"]["value"], wanted["row"]["value"])
    np.testing.assert_array_equal(mine["y"]["value"], wanted["y"]["value"])
    assert mine["y"]["scale"] == wanted["y"]["scale"] == 4.0


def test_do_sets_what_follows_and_keeps_the_site() -> None:
    def program() -> Any:
        a = door.sample("a", dist.Normal(0.0, 1.0))
        return door.sample("b", dist.Delta(a + 1.0))

    set_to = handlers.do(program, data={"a": 5.0})
    sites = handlers.trace(handlers.seed(set_to, 0)).get_trace()
    assert float(sites["b"]["value"]) == 6.0
    assert float(sites["a"]["value"]) != 5.0


def test_replay_block_and_uncondition() -> None:
    def program() -> None:
        door.sample("a", dist.Normal(0.0, 1.0))
        door.sample("b", dist.Normal(0.0, 1.0), obs=2.0)

    first = handlers.trace(handlers.seed(program, 0)).get_trace()
    second = handlers.trace(handlers.seed(handlers.replay(program, trace=first), 1)).get_trace()
    assert second["a"]["value"] == first["a"]["value"]
    shown = handlers.trace(handlers.seed(handlers.block(program, hide=["a"]), 0)).get_trace()
    assert list(shown) == ["b"]
    anew = handlers.trace(handlers.seed(handlers.uncondition(program), 0)).get_trace()
    assert float(anew["b"]["value"]) != 2.0
    assert float(anew["b"]["infer"]["obs"]) == 2.0


def test_data_for_some_steps_of_a_scan_leave_the_others_to_be_drawn() -> None:
    def program() -> None:
        def step(last: Any, _: Any) -> Any:
            return door.sample("y", dist.Normal(last, 0.1)), None

        scan(step, 0.0, None, length=6)

    given = handlers.condition(program, data={"y": jnp.arange(4.0)})
    sites = handlers.trace(handlers.seed(given, 0)).get_trace()
    np.testing.assert_array_equal(sites["y"]["value"][:4], np.arange(4.0))
    assert abs(float(sites["y"]["value"][4]) - 3.0) < 1.0  # ten standard deviations
    assert sites["y"]["fn"].log_prob(sites["y"]["value"]).shape == (6,)


def test_statements_outside_of_handlers_draw_by_their_key() -> None:
    assert door.sample("x", dist.Normal(0.0, 1.0), rng_key=jax.random.key(0)).shape == ()
    assert door.sample("x", dist.Normal(0.0, 1.0), obs=3.0) == 3.0
    with pytest.raises(ModelError, match="needs `rng_key=`"):
        door.sample("x", dist.Normal(0.0, 1.0))


def test_errors_name_the_site_and_what_to_write() -> None:
    with pytest.raises(SiteError, match="site 'x': expected a distribution, got float"):
        door.sample("x", 3.0)
    with pytest.raises(ModelError, match="'a' is defined twice"):
        handlers.trace(handlers.seed(_twice, 0)).get_trace()
    with pytest.raises(ModelError, match="Put `handlers"):
        handlers.trace(_twice).get_trace()
    with pytest.raises(OptionError, match="the size must be at least 1"):
        door.plate("row", 0)
    with pytest.raises(OptionError, match="the mask must be bool"):
        handlers.mask(mask=jnp.ones(3))
    with pytest.raises(OptionError, match="the scale must be above 0"):
        handlers.scale(scale=0.0)
    with pytest.raises(OptionError, match="give one of `data` and `condition_fn`"):
        handlers.condition(_twice)
    with pytest.raises(NotInAccord, match=r"`numpyro.handlers.collapse` is not in accord: discrete unknowns"):
        handlers.collapse(_twice)  # pyright: ignore[reportAttributeAccessIssue]


def _twice() -> None:
    door.sample("a", dist.Normal(0.0, 1.0))
    door.sample("a", dist.Normal(0.0, 1.0))


def test_a_distribution_of_numpyro_itself_is_refused_by_name() -> None:
    numpyro = pytest.importorskip("numpyro")
    with pytest.raises(SiteError, match="Normal is a distribution of the library NumPyro itself"):
        door.sample("x", numpyro.distributions.Normal(0.0, 1.0))


def test_names_of_laws_are_classes_that_take_numpyros_arguments() -> None:
    law = dist.Normal(0.0, 1.0, validate_args=True)
    assert isinstance(law, dist.Normal)
    assert not isinstance(law, dist.Gamma)
    assert dist.Independent(dist.Normal(jnp.zeros(3), 1.0), reinterpreted_batch_ndims=1).event_shape == (3,)
    assert dist.ExpandedDistribution(dist.Normal(0.0, 1.0), batch_shape=(2,)).batch_shape == (2,)
    assert dist.Poisson(2.0, is_sparse=False).batch_shape == ()
    through = dist.transforms.ComposeTransform(
        [dist.transforms.AffineTransform(0.0, 2.0), dist.transforms.ExpTransform()]
    )
    assert float(through.inv(through(0.3))) == pytest.approx(0.3)
    assert float(through.log_abs_det_jacobian(0.3, None)) == pytest.approx(0.6 + np.log(2))
