"""Check what each handler does to the sites of a model."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import AccordError, ModelError, OptionError, SiteError


@ac.model
def chain():
    """A mean and an observation of it."""
    m = ac.sample("m", dist.Normal(0.0, 1.0))
    x = ac.sample("x", dist.Normal(m, 1.0))
    return ac.deterministic("sum", m + x)


def sites_of(target, *args):
    return handlers.trace(target).get_trace(*args)


def test_a_trace_lists_the_sites_in_the_order_of_the_model():
    sites = sites_of(handlers.seed(chain(), 0))
    assert list(sites) == ["m", "x", "sum"]
    assert [site.kind for site in sites.values()] == ["sample", "sample", "deterministic"]
    assert sites["sum"].value == sites["m"].value + sites["x"].value


def test_a_seed_gives_the_same_draws_every_time_and_another_seed_others():
    first, again, other = (
        sites_of(handlers.seed(chain(), key))["m"].value for key in (0, jax.random.key(0), 1)
    )
    assert first == again != other


def test_a_draw_does_not_depend_on_the_other_sites_of_the_model():
    def longer():
        ac.sample("before", dist.Normal(0.0, 1.0))
        ac.sample("m", dist.Normal(0.0, 1.0))

    assert sites_of(handlers.seed(longer, 3))["m"].value == sites_of(handlers.seed(chain(), 3))["m"].value


def test_sites_in_a_plate_are_drawn_independently():
    def model():
        with ac.plate("outer", 3, dim=-2), ac.plate("inner", 2):
            ac.sample("z", dist.Normal(jnp.zeros((3, 1)), 1.0))

    value = sites_of(handlers.seed(model, 0))["z"].value
    assert value.shape == (3, 2)
    assert len(np.unique(value)) == 6


def test_the_innermost_seed_wins():
    assert (
        sites_of(handlers.seed(handlers.seed(chain(), 1), 2))["m"].value
        == sites_of(handlers.seed(chain(), 1))["m"].value
    )


def test_substitute_fixes_a_latent_site():
    sites = sites_of(handlers.substitute(chain(), {"m": 2.0, "x": 3.0}))
    assert (sites["sum"].value, sites["m"].is_observed) == (5.0, False)


def test_condition_observes_a_site_and_the_last_value_counts():
    model = chain().condition({"x": 1.0, "m": 0.0}).condition({"x": 2.0})
    sites = sites_of(model)
    assert (sites["x"].value, sites["m"].value, sites["x"].is_observed) == (2.0, 0.0, True)
    assert sites_of(handlers.condition(model, {"x": 3.0}))["x"].value == 3.0


def test_condition_replaces_an_observed_value():
    def model(y):
        ac.sample("y", dist.Normal(0.0, 1.0), obs=y)

    assert sites_of(handlers.condition(model, {"y": 2.0}), 1.0)["y"].value == 2.0


def test_do_sets_a_site_whatever_is_observed():
    sites = sites_of(chain().condition({"x": 1.0, "m": 0.0}).do({"x": 7.0}))
    assert (sites["x"].value, sites["x"].is_intervened, sites["sum"].value) == (7.0, True, 7.0)
    assert sites_of(handlers.do(chain(), {"x": 7.0, "m": 1.0}))["sum"].value == 8.0


def test_a_condition_further_out_leaves_an_intervention_alone():
    sites = sites_of(chain().do({"x": 7.0, "m": 1.0}).condition({"x": 1.0}))
    assert (sites["x"].value, sites["x"].is_observed) == (7.0, False)


def test_uncondition_makes_observed_sites_latent_again():
    def model():
        ac.sample("y", dist.Normal(0.0, 1.0), obs=2.0)
        ac.sample("x", dist.Normal(0.0, 1.0))

    latent = handlers.uncondition(handlers.condition(model, {"x": 3.0}))
    assert not any(site.is_observed for site in sites_of(handlers.seed(latent, 0)).values())
    some = ac.model(model)().condition({"x": 3.0}).uncondition(["x"])
    assert [site.is_observed for site in sites_of(handlers.seed(some, 0)).values()] == [True, False]
    assert sites_of(some.condition({"x": 4.0}))["x"].value == 4.0


def test_undo_takes_interventions_back():
    model = chain().condition({"x": 1.0}).do({"x": 7.0, "m": 2.0})
    assert sites_of(handlers.seed(model.undo(["x"]), 0))["x"].value == 1.0
    assert sites_of(handlers.seed(model.undo(["x"]), 0))["m"].is_intervened
    assert len(model.undo().handlers) == 1


def test_a_bar_conditions():
    assert sites_of(chain() | {"m": 1.0} | {"x": 2.0})["x"].value == 2.0


def test_replay_takes_latent_values_from_a_trace_and_draws_the_rest():
    trace = sites_of(handlers.seed(chain(), 0))
    del trace["x"]
    replayed = sites_of(handlers.seed(handlers.replay(chain(), trace), 5))
    assert replayed["m"].value == trace["m"].value
    assert replayed["x"].value == trace["m"].value + jax.random.normal(
        jax.random.fold_in(jax.random.key(5), zlib.crc32(b"x")), (), replayed["x"].value.dtype
    )


BLOCKS = [
    (dict(), []),
    (dict(hide=["m"]), ["x", "sum"]),
    (dict(expose=["m"]), ["m"]),
]


@pytest.mark.parametrize(("options", "left"), BLOCKS)
def test_block_hides_sites_from_what_is_further_out(options, left):
    assert list(sites_of(handlers.block(handlers.seed(chain(), 0), **options))) == left


def test_a_hidden_site_is_not_seeded_from_further_out():
    with pytest.raises(SiteError, match=r"'m'.*has no value"):
        handlers.seed(handlers.block(chain(), hide=["m"]), 0)()


def test_handlers_on_a_function_take_its_arguments():
    def model(size, *, scale):
        with ac.plate("n", size):
            return ac.sample("x", dist.Normal(0.0, scale))

    assert handlers.seed(model, 0)(4, scale=2.0).shape == (4,)
    assert handlers.seed(ac.model(model), 0)(4, scale=2.0).shape == (4,)
    assert handlers.seed(ac.model(model)(4, scale=2.0), 0)().shape == (4,)


def test_handlers_nest_in_a_running_model():
    def outer():
        inner = handlers.block(handlers.seed(lambda: ac.sample("m", dist.Normal(0.0, 1.0)), 1))
        return inner() + ac.sample("m", dist.Normal(0.0, 1.0))

    sites = sites_of(handlers.substitute(outer, {"m": 1.0}))
    assert list(sites) == ["m"]


def test_masks_and_scales_combine():
    def model():
        with handlers.mask(mask=np.array([True, False])), handlers.scale(scale=2.0), ac.plate("n", 2):
            with (
                handlers.mask(mask=True),
                handlers.scale(scale=3.0),
                handlers.mask(mask=np.array([True, True])),
            ):
                ac.sample("x", dist.Normal(0.0, 1.0))
            ac.deterministic("d", 1.0)

    sites = sites_of(handlers.scale(handlers.mask(handlers.seed(model, 0), mask=True), scale=5.0))
    assert sites["x"].scale == 30.0
    np.testing.assert_array_equal(sites["x"].mask, [True, False])
    assert sites["d"].mask is None and sites["d"].scale is None


def test_a_mask_that_is_false_wins_over_every_other():
    def model():
        with handlers.mask(mask=False), handlers.mask(mask=np.array(True)), handlers.mask(mask=np.True_):
            ac.sample("x", dist.Normal(0.0, 1.0))
        with handlers.mask(mask=np.array(True)), handlers.mask(mask=False):
            ac.sample("y", dist.Normal(0.0, 1.0))

    sites = sites_of(handlers.seed(model, 0))
    assert sites["x"].mask is False and sites["y"].mask is False


def test_a_seeded_model_can_be_drawn_under_vmap():
    draws = jax.vmap(lambda key: handlers.seed(chain(), key)())(jax.random.split(jax.random.key(0), 5))
    assert draws.shape == (5,)


def _observed():
    ac.sample("y", dist.Normal(0.0, 1.0), obs=1.0)


def _mask_outside():
    with handlers.mask(mask=True):
        pass


ERRORS = {
    "unknown name in condition": (
        lambda: chain().condition({"mm": 1.0}).log_density(),
        SiteError,
        "condition: .*'mm'.*'m'",
    ),
    "deterministic site in do": (
        lambda: handlers.seed(chain().do({"sum": 1.0}), 0)(),
        SiteError,
        "do: 'sum' is a deterministic site",
    ),
    "unknown name in substitute": (
        lambda: handlers.seed(handlers.substitute(chain(), {"y": 1.0}), 0)(),
        SiteError,
        "substitute: the model has no site 'y'. The sample sites are 'm', 'x'",
    ),
    "unknown name in uncondition": (
        lambda: handlers.seed(chain().uncondition(["mm"]), 0)(),
        SiteError,
        "uncondition: .*'mm'.*Did you mean 'm'",
    ),
    "a string in uncondition": (lambda: chain().uncondition("m"), OptionError, r"write \['m'\]"),
    "undo of what was not done": (
        lambda: chain().do({"m": 1.0}).undo(["mm"]),
        SiteError,
        "undo: .*'mm'.*Did you mean 'm'.*Set are 'm'",
    ),
    "a bar with a number": (lambda: chain() | 1.0, TypeError, "unsupported operand"),
    "substitute of an observed site": (
        lambda: handlers.substitute(_observed, {"y": 2.0})(),
        SiteError,
        "'y'.*`condition`",
    ),
    "condition without sites": (
        lambda: handlers.condition(lambda: None, {"y": 2.0})(),
        SiteError,
        "It has no sample site",
    ),
    "values that are no mapping": (lambda: chain().condition([1.0]), OptionError, "mapping from site names"),
    "values that are no numbers": (lambda: chain().condition({"x": "1"}), AccordError, "'x'.*not numbers"),
    "no value": (lambda: chain()(), SiteError, "'m'.*`infer.sample`.*handlers.seed"),
    "unknown name in block": (
        lambda: handlers.block(handlers.seed(chain(), 0), hide=["mm"])(),
        SiteError,
        "block: .*'mm'.*Did you mean 'm'",
    ),
    "both in block": (lambda: handlers.block(chain(), hide=["m"], expose=["x"]), OptionError, "not both"),
    "a string in block": (lambda: handlers.block(chain(), hide="m"), OptionError, r"hide=\['m'\]"),
    "mask of numbers": (lambda: handlers.mask(mask=np.ones(3)), OptionError, "float64.*Compare"),
    "mask of nothing": (lambda: handlers.mask(mask=None), OptionError, "NoneType"),
    "negative scale": (lambda: handlers.scale(scale=-1.0), OptionError, "positive"),
    "scale of words": (lambda: handlers.scale(scale="2"), OptionError, "number or an array"),
    "mask outside": (_mask_outside, ModelError, "handlers.mask was entered outside"),
    "seed of words": (lambda: handlers.seed(chain(), "0"), OptionError, "JAX random key"),
    "arguments for a model": (
        lambda: handlers.trace(chain()).get_trace(1),
        OptionError,
        "'chain' has them bound",
    ),
    "not a model": (lambda: handlers.seed(3, 0), OptionError, "a model or a function"),
}


@pytest.mark.parametrize(("call", "error", "words"), ERRORS.values(), ids=ERRORS.keys())
def test_a_wrong_use_says_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()
