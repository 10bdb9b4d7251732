"""Check networks whose parameters are sites, and that the networks given stay as they are."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from laws import assert_close, compiled, each, no_leaks
from networks import Linen, LinenNorm, X, Y, equinox_net, nnx_net

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import AccordError, OptionError, SiteError
from accord.core.precision import scope

NORMAL = dist.Normal(0.0, 0.7)
LINEN = Linen()
one_equinox, one_nnx = functools.cache(equinox_net), functools.cache(nnx_net)


@pytest.fixture(scope="module", autouse=True)
def _prototypes():
    """Build them once and before any trace, as users do, but not while tests are collected: it takes seconds."""
    one_equinox(), one_nnx(), one_nnx(is_training=True)


def called_linen(values):
    return LINEN.apply({"params": nested(values, "net.")}, X)


def called_equinox(values):
    arrays = [values[f"net.layers[{i}].{word}"] for i in range(2) for word in ("weight", "bias")]
    _, rest = eqx.partition(one_equinox(), eqx.is_inexact_array)
    filled = eqx.combine(
        jax.tree.unflatten(jax.tree.structure(eqx.filter(one_equinox(), eqx.is_inexact_array)), arrays), rest
    )
    return jax.vmap(filled)(X)


def called_nnx(values):
    net = values
    x = X @ net["net.layers[0].kernel"] + net["net.layers[0].bias"]
    x = x / jnp.sqrt(1 + 1e-5) * net["net.norm.scale"] + net["net.norm.bias"]
    return (x @ net["net.layers[1].kernel"] + net["net.layers[1].bias"])[:, 0]


def nested(values, prefix):
    tree = {}
    for name, value in values.items():
        layer, word = name.removeprefix(prefix).split(".")
        tree.setdefault(layer, {})[word] = value
    return tree


NETWORKS = {
    "equinox": (lambda: jax.vmap(ac.module("net", one_equinox(), NORMAL)), called_equinox),
    "linen": (lambda: ac.module("net", LINEN, NORMAL, inputs=X), called_linen),
    "nnx": (lambda: ac.module("net", one_nnx(), NORMAL), called_nnx),
}


@ac.model
def regression(make, x, y):
    net = make()
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(ac.deterministic("mean", net(x)), 0.5), obs=y)


@each(NETWORKS)
def test_the_log_density_is_that_of_the_network_written_out(network):
    make, called = network
    density = regression(make, X, Y).log_density()

    def written_out(position):
        values = density.constrain(position)
        values = {entry.name: values[entry.name] for entry in density.layout.entries}
        prior = sum(NORMAL.log_prob(value).sum() for value in values.values())
        return prior + dist.Normal(called(values), 0.5).log_prob(Y).sum()

    with scope("float64"):
        position = 0.3 * jax.random.normal(jax.random.key(1), (density.dim,), float)
        assert position.dtype == np.float64
        wanted = compiled(jax.value_and_grad(written_out))(position)
        assert_close(compiled(density.value_and_grad)(position), wanted)


@each(NETWORKS)
def test_a_prototype_is_neither_changed_nor_traced_into(network):
    before = [np.asarray(leaf) for leaf in leaves_of((one_equinox(), one_nnx()))]
    with no_leaks(), scope("float64"):
        density = regression(network[0], X, Y).log_density()
        jax.jit(density.value_and_grad)(np.zeros(density.dim))
    after = leaves_of((one_equinox(), one_nnx()))
    assert not any(isinstance(leaf, jax.core.Tracer) for leaf in after)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def leaves_of(tree):
    return [leaf for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf)]


@each(NETWORKS)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_network_computes_in_the_precision_of_the_run(network, precision):
    layout = ac.LogDensity.from_model(regression(network[0], X, Y), precision).layout
    assert {entry.dtype for entry in layout.sites} == {precision}


def drawn(make):
    def run():
        make()

    return handlers.trace(handlers.seed(run, 0)).get_trace()


def sites_of(make):
    """The sites, without their values: nothing is computed."""
    found = {}
    with scope("float64"):
        jax.eval_shape(lambda: found.update(drawn(make)))
    return found


def test_sites_are_called_as_their_arrays_are_in_python():
    names = ["layers[0].weight", "layers[0].bias", "layers[1].weight", "layers[1].bias"]
    assert list(sites_of(lambda: ac.module("net", one_equinox(), NORMAL))) == [
        f"net.{name}" for name in names
    ]
    for name in names:
        assert isinstance(eval(f"net.{name}", {"net": one_equinox()}), jax.Array)
    with_keys = eqx.tree_at(
        lambda net: net.layers, one_equinox(), {"a b": one_equinox().layers[0], "c": one_equinox().layers[1]}
    )
    assert list(sites_of(lambda: ac.module("net", with_keys, NORMAL)))[::2] == [
        "net.layers['a b'].weight",
        "net.layers.c.weight",
    ]


def test_an_exact_path_comes_first_and_then_the_first_pattern_that_fits():
    priors = {"*.weight": NORMAL, "*[0].*": None, "layers[1].weight": dist.Laplace(0, 1), "*": "fixed"}
    with scope("float64"):
        density = regression(lambda: jax.vmap(ac.module("net", one_equinox(), priors)), X, Y).log_density()
        found = {entry.name: entry for entry in density.layout.entries}
        assert list(found) == ["net.layers[0].weight", "net.layers[0].bias", "net.layers[1].weight"]
        assert found["net.layers[0].bias"].distribution == "ImproperUniform"
        values = {name: 0.1 * jnp.ones(entry.shape) for name, entry in found.items()}
        whole = called_equinox({**values, "net.layers[1].bias": one_equinox().layers[1].bias.astype(float)})
        shown = density.constrain(density.unconstrain(values))["mean"]
    assert_close(shown, whole)


def test_a_prior_may_follow_from_path_and_shape_and_have_the_shape_of_an_array():
    def prior(path, shape):
        return (
            dist.Normal(0, shape[-1] ** -0.5) if path.endswith("weight") else dist.Dirichlet(jnp.ones(shape))
        )

    layout = regression(lambda: jax.vmap(ac.module("net", one_equinox(), prior)), X, Y).log_density().layout
    assert layout["net.layers[0].bias"].unconstrained_shape == (2,)
    assert layout["net.layers[0].weight"].shape == (3, 2)


def test_without_a_prior_parameters_begin_where_the_network_does():
    with scope("float64"):
        sites = drawn(lambda: ac.module("net", one_equinox()))
    assert_close(sites["net.layers[0].weight"].value, one_equinox().layers[0].weight.astype("float64"))
    lifted = handlers.lift(regression(lambda: jax.vmap(ac.module("net", one_equinox())), X, Y), NORMAL)
    assert {entry.distribution for entry in lifted.log_density().layout.entries} == {"ExpandedDistribution"}


def test_shapes_of_a_linen_module_are_found_without_computing_anything():
    class Refuses(Linen):
        def __call__(self, x):
            jax.debug.callback(lambda: pytest.fail("the module was run"))
            return super().__call__(x)

    with scope("float64"):
        assert len(drawn(lambda: ac.module("net", Refuses(), NORMAL, inputs=X))) == 4
    jax.effects_barrier()


def test_state_is_a_constant_and_what_a_copy_writes_into_it_is_gone():
    in_training = one_nnx(is_training=True)
    norm, norm_state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(2, "batch", mode="batch")
    variables = LinenNorm().init(jax.random.key(0), np.float32(X))
    with scope("float64"):
        trained = regression(lambda: ac.module("net", in_training, NORMAL), X, Y).log_density()
        position = np.linspace(-1.0, 1.0, trained.dim)
        value, other = (compiled(d) for d in (trained, regression(NETWORKS["nnx"][0], X, Y).log_density()))
        assert value(position) == value(position) != other(position)
        assert not in_training.norm.mean.get_value().any()
        bound = regression(
            lambda: ac.module("net", LinenNorm(), NORMAL, variables=variables), X, Y
        ).log_density()
        assert bound.dim == 7

        def normed():
            net = ac.module("net", norm, NORMAL)
            return lambda x: jax.vmap(lambda row: net(row, norm_state)[0].sum(), axis_name="batch")(x)

        assert regression(normed, X, Y).log_density().dim == 4


def test_one_module_by_entry_is_a_prototype_with_a_leading_axis():
    keys = jax.random.split(jax.random.key(0), 4)
    layers = eqx.filter_vmap(lambda key: eqx.nn.Linear(2, "scalar", key=key))(keys)

    @ac.model
    def by_group(x, group, y):
        nets = ac.module("net", layers, NORMAL)
        means = eqx.filter_vmap(lambda net: jax.vmap(net)(x))(nets)
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(means[group, jnp.arange(len(y))], 1.0), obs=y)

    assert by_group(X, np.array([0, 1, 2, 3, 0]), Y).log_density().dim == 4 * 3


@pytest.mark.slow
def test_draws_have_the_arrays_and_predict_with_them(tmp_path):
    model = regression(NETWORKS["equinox"][0], X, Y)
    draws = infer.sample(model, draws=10, warmup=10, chains=1, seed=0, quiet=True, progress=False)
    weight = draws["net.layers[0].weight"]
    assert (weight.shape, weight.dtype) == ((1, 10, 3, 2), np.float64)
    assert draws.to_arviz()["posterior"]["net.layers[0].weight"].shape == (1, 10, 3, 2)
    draws.to_zarr(tmp_path / "draws.zarr")


MISTAKES = {
    "an unknown path": (
        lambda: ac.module("net", one_equinox(), {"layers[0].weigth": NORMAL, "*": None}),
        SiteError,
        r"no parameter 'layers\[0\].weigth'. Did you mean 'layers\[0\].weight'",
    ),
    "an unknown pattern": (
        lambda: ac.module("net", one_equinox(), {"*.weigth": NORMAL, "*": None}),
        SiteError,
        r"Did you mean '\*.weight'",
    ),
    "no line for the rest": (
        lambda: ac.module("net", one_equinox(), {"*.weight": NORMAL}),
        SiteError,
        r"says nothing of 'layers\[0\].bias'",
    ),
    "another shape": (
        lambda: ac.module("net", one_equinox(), dist.Normal(np.zeros(3), 1.0)),
        SiteError,
        r"layers\[0\].weight.*batch \(3,\).*shape \(3, 2\)",
    ),
    "a class for a prior": (
        lambda: ac.module("net", one_equinox(), dist.Normal),
        OptionError,
        "the class Normal",
    ),
    "a class for a module": (lambda: ac.module("net", eqx.nn.MLP), OptionError, "MLP is a class. Build it"),
    "a function": (lambda: ac.module("net", jnp.sin), OptionError, "Equinox or Flax.*A function of"),
    "nothing to learn": (lambda: ac.module("net", eqx.nn.Identity()), OptionError, "no floating-point array"),
    "no name": (lambda: ac.module(one_equinox(), NORMAL), SiteError, "first argument is the name"),
    "a misspelt option": (lambda: ac.module("net", LINEN, input=X), OptionError, "Did you mean 'inputs'"),
    "no inputs": (lambda: ac.module("net", LINEN, NORMAL), OptionError, "only once it is called.*inputs=x"),
    "inputs of equinox": (
        lambda: ac.module("net", one_equinox(), NORMAL, inputs=X),
        OptionError,
        "of flax.linen",
    ),
    "parameters for variables": (
        lambda: ac.module("net", LINEN, NORMAL, variables={"Dense_0": {}}),
        OptionError,
        r"entry 'params'; got dict of \['Dense_0'\]",
    ),
    "shapes without values": (
        lambda: ac.module("net", LINEN, inputs=X),
        OptionError,
        "no prior, and no value.*variables=module.init",
    ),
    "state without values": (
        lambda: ac.module("net", LinenNorm(), NORMAL, inputs=X),
        OptionError,
        "keeps state.*'batch_stats'.*variables=",
    ),
    "state inside": (
        lambda: ac.module("net", eqx.nn.BatchNorm(2, "batch", mode="batch"), NORMAL),
        OptionError,
        "holds state.*make_with_state",
    ),
    "dropout": (
        lambda: ac.module("net", dropping(), NORMAL),
        OptionError,
        r"dropout 'drop'.*`module.eval\(\)`",
    ),
    "complex": (
        lambda: ac.module("net", eqx.nn.Linear(1, 1, dtype=np.complex64, key=jax.random.key(0)), NORMAL),
        OptionError,
        "'weight' is complex64",
    ),
    "twice": (
        lambda: [ac.module("net", one_equinox(), NORMAL) for _ in range(2)],
        SiteError,
        "defined twice",
    ),
    "in a plate": (
        lambda: in_a_plate(),
        SiteError,
        "inside of the plate 'row'.*before the plate.*filter_vmap",
    ),
}


def dropping():
    net = nnx_net()
    net.drop.deterministic = False
    return net


def in_a_plate():
    with ac.plate("row", 3):
        ac.module("net", one_equinox(), NORMAL)


@pytest.mark.parametrize(("call", "error", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(call, error, words):
    assert issubclass(error, AccordError)
    with pytest.raises(error, match=words):
        sites_of(call)


def test_an_nnx_module_may_be_an_argument_of_the_model():
    @ac.model
    def taking(net, x, y):
        net = ac.module("net", net, NORMAL)
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(net(x), 0.5), obs=y)

    with scope("float64"):
        given, own = taking(one_nnx(), X, Y).log_density(), regression(NETWORKS["nnx"][0], X, Y).log_density()
        position = np.linspace(-1.0, 1.0, own.dim)
        assert_close(compiled(given)(position), compiled(own)(position), rtol=1e-12)
    assert isinstance(one_nnx().layers[0].kernel, nnx.Param)
