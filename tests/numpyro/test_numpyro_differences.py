"""Meet each place where accord differs from NumPyro: the door does as NumPyro does, or an error says what to write."""

import os
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import DistributionError, ModelError, OptionError, SiteError
from accord.numpyro import handlers
from accord.numpyro.infer import MCMC, NUTS, Predictive

Y = np.array([0.3, -1.0, 2.0])


@pytest.fixture(autouse=True)
def as_users_have_it():
    """JAX's own rules of promotion, as in scripts."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def normal(y: Any = None) -> None:
    mu = door.sample("mu", dist.Normal(0.0, 3.0))
    door.deterministic("double", 2 * mu)
    with door.plate("row", 3):
        door.sample("y", dist.Normal(mu, 1.0), obs=y)


def run(
    program: Any, *args: Any, key: Any = None, kernel: dict[str, Any] | None = None, **options: Any
) -> MCMC:
    chain = MCMC(NUTS(program, **kernel or {}), num_warmup=20, num_samples=10, progress_bar=False, **options)
    chain.run(jax.random.key(0) if key is None else key, *args)
    return chain


def left_of_plates() -> None:
    with door.plate("row", 3):
        door.sample("x", dist.Normal(jnp.zeros((2, 3)), 1.0))


def wrong_plate() -> None:
    with door.plate("row", 4):
        door.sample("x", dist.Normal(jnp.zeros(3), 1.0))


def copied(y: Any) -> None:
    mu = door.sample("mu", dist.Normal(0.0, 1.0))
    door.sample("y", dist.Normal(mu * jnp.ones(3), 1.0), obs=y)


def constant() -> None:
    door.sample("x", dist.Delta(2.0))


def part() -> None:
    mu = door.sample("mu", dist.Normal(0.0, 1.0))
    with door.plate("row", 3, subsample_size=2) as index:
        door.sample("y", dist.Normal(mu, 1.0), obs=Y[index])


def twice() -> None:
    door.sample("x", dist.Normal(0.0, 1.0))
    door.sample("x", dist.Normal(0.0, 1.0))


REFUSED: dict[str, tuple[Any, tuple[Any, ...], type[Exception], str]] = {
    "a plate of another size": (wrong_plate, (), SiteError, r"batch shape \(3,\).*'row' has size 4"),
    "a number that is counted thrice": (copied, (1.0,), SiteError, "counts each of the data several times"),
    "an unknown that cannot move": (constant, (), DistributionError, "make it a `deterministic`"),
    "a part of the data, by NUTS": (part, (), ModelError, "takes some of its entries at random"),
    "a name twice": (twice, (), ModelError, "'x' is defined twice"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_posterior_is_refused_before_any_draw(name: str) -> None:
    program, args, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        run(program, *args)


def test_axes_left_of_plates_are_taken() -> None:
    assert handlers.trace(handlers.seed(left_of_plates, 0)).get_trace()["x"]["value"].shape == (2, 3)


def test_a_law_is_known_by_its_parameter() -> None:
    by_logits, by_probs = dist.Bernoulli(logits=0.3), dist.Bernoulli(0.3)
    assert isinstance(by_logits, dist.BernoulliLogits) and not isinstance(by_logits, dist.BernoulliProbs)
    assert isinstance(by_probs, dist.BernoulliProbs) and not isinstance(by_probs, dist.BernoulliLogits)
    assert isinstance(by_probs, dist.Bernoulli) and not isinstance(by_probs, dist.CategoricalProbs)


def test_parameters_are_checked_whatever_the_law_is_told() -> None:
    for told in (True, False, None):
        assert dist.Normal(0.0, 1.0, validate_args=told).batch_shape == ()
        with pytest.raises(DistributionError, match="scale must be above 0"):
            dist.Normal(0.0, -1.0, validate_args=told)


def test_typed_and_raw_keys_of_the_same_bits_give_the_same_draws_in_the_type_of_the_process() -> None:
    typed, raw = (
        run(normal, Y, key=key).get_samples()["mu"] for key in (jax.random.key(3), jax.random.PRNGKey(3))
    )
    np.testing.assert_array_equal(typed, raw)
    assert isinstance(typed, jax.Array) and typed.dtype == jnp.zeros(()).dtype


def test_ways_to_run_chains_give_the_shapes_of_numpyro() -> None:
    for way in ("parallel", "sequential", "vectorized"):
        chain = run(normal, Y, num_chains=2, chain_method=way)
        assert chain.get_samples()["mu"].shape == (20,)
        apart = chain.get_samples(group_by_chain=True)["mu"]
        np.testing.assert_array_equal(apart.reshape(20), chain.get_samples()["mu"])
    with pytest.raises(OptionError, match=r"executor=infer\.Devices"):
        run(normal, Y, chain_method=jax.vmap)


def test_options_that_fix_what_warm_up_learns_are_refused() -> None:
    fixed: tuple[dict[str, Any], ...] = (
        {"adapt_step_size": False},
        {"adapt_mass_matrix": False},
        {"inverse_mass_matrix": np.ones(1)},
    )
    for options in fixed:
        with pytest.raises(OptionError, match="fixes what accord's warm-up learns"):
            NUTS(normal, **options)
    for dense in (True, [("mu",)]):
        assert run(normal, Y, kernel={"dense_mass": dense}).get_samples()["mu"].shape == (10,)


@pytest.fixture
def platform_is_put_back() -> Iterator[None]:
    """Let no setting of the process stay for the tests that follow."""
    yield
    door.set_platform(None)


@pytest.mark.usefixtures("platform_is_put_back")
def test_devices_of_the_host_change_no_flags_and_a_platform_that_comes_too_late_is_told() -> None:
    flags = os.environ.get("XLA_FLAGS")
    door.set_host_device_count(4)
    assert os.environ.get("XLA_FLAGS") == flags
    jnp.zeros(1).block_until_ready()
    door.set_platform(jax.default_backend())
    with pytest.raises(OptionError, match="it is too late, since JAX already runs on"):
        door.set_platform("tpu")
    with pytest.raises(OptionError, match="the platform must be"):
        door.set_platform("abacus")


def test_the_summary_leaves_out_what_is_computed_from_others(capsys: pytest.CaptureFixture[str]) -> None:
    chain = run(normal, Y)
    chain.print_summary()
    assert "double" not in capsys.readouterr().out
    chain.print_summary(exclude_deterministic=False)
    assert "double" in capsys.readouterr().out


def test_predictions_have_the_sites_that_are_asked_for() -> None:
    predict = Predictive(normal, run(normal, Y).get_samples(), return_sites=["y", "double"])
    assert {name: each.shape for name, each in predict(jax.random.key(1)).items()} == {
        "double": (10,),
        "y": (10, 3),
    }


def test_a_bar_changes_no_draw_and_keys_of_infer_without_a_meaning_are_taken() -> None:
    def noted(y: Any) -> None:
        mu = door.sample("mu", dist.Normal(0.0, 3.0), infer={"is_auxiliary": True, "of_mine": 3})
        with door.plate("row", 3):
            door.sample("y", dist.Normal(mu, 1.0), obs=y)

    assert run(noted, Y).get_samples()["mu"].shape == (10,)
    chain = MCMC(NUTS(normal), num_warmup=20, num_samples=10, progress_bar=True)
    chain.run(jax.random.key(0), Y)
    np.testing.assert_array_equal(chain.get_samples()["mu"], run(normal, Y).get_samples()["mu"])


def test_an_entry_of_a_trace_is_read_as_a_mapping() -> None:
    site = handlers.trace(handlers.seed(normal, 0)).get_trace(Y)["y"]
    assert (site["type"], site["name"], site["is_observed"]) == ("sample", "y", True)
    assert [(each.name, each.dim, each.size) for each in site["cond_indep_stack"]] == [("row", -1, 3)]
