"""Check models as values, plates, and the statements of a model."""

import contextvars
import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import AccordError, DataError, ModelError, OptionError, SiteError
from accord.language import ModelFunction


@ac.model
def regression(x, y=None, *, scale=1.0):
    """Regress y on x."""
    slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    with ac.plate("row", x.shape[0]):
        return ac.sample("y", dist.Normal(slope * x, scale), obs=y)


def run(function, *args):
    """Visit the sites of a function as a model's, with drawn latent values."""
    return handlers.trace(handlers.seed(function, 0)).get_trace(*args)


def test_a_model_binds_its_arguments_and_keeps_them_as_given():
    x = np.arange(3.0)
    model = regression(x, scale=2.0)
    assert list(model.arguments) == ["x", "y", "scale"]
    assert model.arguments["x"] is x
    assert (model.name, model.function.__doc__, regression.__doc__) == (
        "regression",
        "Regress y on x.",
        "Regress y on x.",
    )


def test_a_model_runs_as_its_function():
    assert handlers.seed(regression(np.arange(3.0)), 0)().shape == (3,)


def test_a_model_is_frozen():
    with pytest.raises(AttributeError):
        regression(np.arange(3.0)).arguments = {}


def test_a_model_and_its_function_survive_pickle():
    assert pickle.loads(pickle.dumps(regression)) is regression
    model = pickle.loads(pickle.dumps(regression(np.arange(3.0)).condition({"y": np.ones(3)})))
    np.testing.assert_array_equal(model.handlers[0].values["y"], np.ones(3))


def test_a_model_function_defined_inside_another_is_pickled_by_value():
    @ac.model
    def local():
        ac.sample("x", dist.Normal(0.0, 1.0))

    assert local.__reduce__() == (ModelFunction, (local.function, ac.Model))


def test_what_is_put_on_a_model_leaves_it_one_of_its_class():
    model = regression(np.arange(3.0))
    changed = (
        model.condition({"y": np.ones(3)}),
        model | {"slope": 1.0},
        model.do({"slope": 1.0}).undo(),
        model.uncondition(),
        handlers.mask(model, mask=True),
        regression.bind({"x": np.arange(3.0)}),
        pickle.loads(pickle.dumps(model)),
        jax.tree.map(lambda leaf: leaf, model),
    )
    assert {type(each) for each in changed} == {type(model)} == {ac.Model}
    assert all(each.sites() for each in changed)


def test_a_table_lists_the_sites():
    table = regression(np.arange(3.0), y=np.ones(3)).sites()
    assert [(row.name, row.kind, row.shape, row.dims) for row in table] == [
        ("slope", "latent", (), ()),
        ("y", "observed", (3,), ("row",)),
    ]
    assert str(table).splitlines()[0].split() == ["site", "kind", "shape", "dims", "distribution"]
    assert len(table) == 2 and "Normal" in repr(table)


def test_plates_take_batch_dims_from_the_right():
    def model():
        with ac.plate("a", 2) as a, ac.plate("b", 3):
            assert a.tolist() == [0, 1]
            ac.sample("ab", dist.Normal(0.0, 1.0))
        with ac.plate("c", 4, dim=-2):
            ac.sample("c_only", dist.Normal(0.0, 1.0))
            with ac.plate("d", 5):
                ac.sample("cd", dist.Normal(0.0, 1.0))
        with ac.plate("e", 2), ac.plate("f", 7, dim=-3), ac.plate("g", 3):
            ac.sample("efg", dist.Normal(jnp.zeros(2), 1.0))

    shapes = {name: site.value.shape for name, site in run(model).items()}
    assert shapes == {"ab": (3, 2), "c_only": (4, 1), "cd": (4, 5), "efg": (7, 3, 2)}


def test_a_plate_can_be_entered_again():
    def model():
        rows = ac.plate("row", 3)
        with rows:
            ac.sample("a", dist.Normal(0.0, 1.0))
        with ac.plate("column", 2), rows:
            ac.sample("b", dist.Normal(0.0, 1.0))

    assert run(model)["b"].value.shape == (3, 2)


def test_a_distribution_brings_its_own_batch_shape():
    sites = run(lambda: ac.sample("x", dist.Normal(jnp.zeros((3, 2)), 1.0)))
    assert sites["x"].value.shape == (3, 2)


def test_events_stay_on_the_right_of_plates():
    def model():
        with ac.plate("n", 4):
            ac.sample("x", dist.Normal(jnp.zeros(3), 1.0).to_event(1))

    assert run(model)["x"].value.shape == (4, 3)


def _plate(*args, **options):
    def model():
        with ac.plate(*args, **options):
            ac.sample("x", dist.Normal(0.0, 1.0))

    return model


def _nested(**inner):
    def model():
        with ac.plate("a", 3, dim=-1), ac.plate(**inner):
            ac.sample("x", dist.Normal(0.0, 1.0))

    return model


def _observe(distribution, value, *plates):
    def model():
        if plates:
            with ac.plate("n", plates[0]):
                ac.sample("y", distribution, obs=value)
        else:
            ac.sample("y", distribution, obs=value)

    return model


def _twice():
    ac.sample("x", dist.Normal(0.0, 1.0))
    ac.deterministic("x", 1.0)


def _factor(value):
    def model():
        with ac.plate("n", 3):
            ac.factor("f", value)

    return model


def _weighted(context):
    def model():
        with ac.plate("n", 3), context():
            ac.sample("x", dist.Normal(0.0, 1.0))

    return model


def _under(transform):
    def model():
        return transform(lambda loc: ac.sample("x", dist.Normal(loc, 1.0)))(jnp.zeros(3))

    return model


def _in_thread(target):
    def model():
        errors = []

        def call():
            try:
                target()
            except AccordError as error:
                errors.append(error)

        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(call,))
        thread.start()
        thread.join()
        raise errors[0]

    return model


normal = dist.Normal(0.0, 1.0)
SITE_ERRORS = {
    "scalar distribution with a vector": (
        _observe(normal, np.zeros(8)),
        SiteError,
        r'`with ac.plate\("y_plate", 8\):`',
    ),
    "scalar distribution with a matrix": (
        _observe(normal, np.zeros((8, 2))),
        SiteError,
        r'with ac.plate\("y_plate_0", 8, dim=-2\), ac.plate\("y_plate_1", 2, dim=-1\):',
    ),
    "column against a vector": (
        _observe(dist.Normal(np.zeros((8, 1)), 1.0), np.zeros(8)),
        SiteError,
        r"shape \(8,\).*Normal needs batch \(8, 1\).*drop a trailing dimension",
    ),
    "other size than the plate": (
        _observe(normal, np.zeros(7), 8),
        SiteError,
        r"\(7,\).*batch \(8,\).*'n' has size 8 at dim -1",
    ),
    "scalar for a vector": (
        _observe(dist.Normal(np.zeros(3), 1.0), 0.0),
        SiteError,
        "one value for each entry",
    ),
    "more dims and other sizes": (
        _observe(normal, np.zeros((5, 3)), 8),
        SiteError,
        "more dimensions than the site",
    ),
    "parameters of another size than the plate": (
        _observe(dist.Normal(np.zeros(7), 1.0), np.zeros(8), 8),
        SiteError,
        r"batch shape \(7,\), but the plate 'n' has size 8",
    ),
    "words as data": (_observe(normal, np.array(["a"])), DataError, "'y'.*not numbers"),
    "same name twice": (
        _twice,
        SiteError,
        r"'x' is defined twice: at .*test_model.py:\d+ and at .*test_model.py:\d+",
    ),
    "mask of another shape": (
        _weighted(lambda: handlers.mask(mask=np.ones(2, bool))),
        SiteError,
        r"mask has shape \(2,\)",
    ),
    "mask of more dims": (
        _weighted(lambda: handlers.mask(mask=np.ones((2, 3), bool))),
        SiteError,
        "mask has shape",
    ),
    "scale of another shape": (
        _weighted(lambda: handlers.scale(scale=np.ones(2))),
        SiteError,
        r"scale has shape \(2,\)",
    ),
    "scalar factor in a plate": (_factor(1.0), SiteError, r"factor 'f'.*shape \(\).*make \(3,\)"),
    "plate in itself": (_nested(name="a", size=3), SiteError, "'a'.*plate of the same name"),
    "dim taken": (_nested(name="b", size=3, dim=-1), SiteError, "dim -1 is taken by the plate 'a'"),
    "negative size": (_plate("a", -1), OptionError, "at least 0"),
    "size of words": (_plate("a", "3"), OptionError, "must be an integer"),
    "float size": (_plate("a", jnp.ones(())), OptionError, "must be an integer"),
    "positive dim": (_plate("a", 3, dim=0), OptionError, "counts from the right"),
    "number as a plate's name": (_plate(3, 3), OptionError, "name must be a string"),
    "coords of another length": (_plate("a", 3, coords=["x"]), OptionError, "1 labels for size 3"),
    "no name": (lambda: ac.sample(dist.Normal(0.0, 1.0)), SiteError, "first argument is the site's name"),
    "no distribution": (lambda: ac.sample("x", 3.0), SiteError, "'x'.*got float 3.0"),
    "class for a distribution": (lambda: ac.sample("x", dist.Normal), SiteError, "got the class Normal"),
    "empty name": (lambda: ac.deterministic("", 3.0), SiteError, "not empty"),
    "model in a model": (
        lambda: regression(np.ones(2)),
        ModelError,
        "'regression'.*does not run it.*`ac.submodel",
    ),
    "model as a distribution": (lambda: ac.sample("x", regression), ModelError, "`ac.submodel"),
    "vmap": (_under(jax.vmap), SiteError, "'x'.*JAX transformation.*ac.plate"),
    "jit": (_under(jax.jit), SiteError, "'x'.*JAX transformation"),
    "scan": (
        _under(lambda f: lambda xs: jax.lax.scan(lambda c, x: (c, f(x)), 0.0, xs)),
        SiteError,
        "JAX transformation",
    ),
    "thread": (_in_thread(lambda: ac.sample("x", normal)), SiteError, "'x'.*thread that is not the one"),
}


@pytest.mark.parametrize(("function", "error", "words"), SITE_ERRORS.values(), ids=SITE_ERRORS.keys())
def test_a_site_that_does_not_fit_is_an_error_that_names_it(function, error, words):
    with pytest.raises(error, match=words):
        run(function)


def _enter_plate_outside():
    with ac.plate("a", 3):
        pass


CALL_ERRORS = {
    "missing": (
        lambda: regression(),
        DataError,
        r"missing argument 'x'.*It takes \(x, y=None, \*, scale=1.0\)",
    ),
    "unknown": (
        lambda: regression(np.ones(2), scal=1.0),
        DataError,
        "unknown argument 'scal'. Did you mean 'scale'?",
    ),
    "both": (
        lambda: regression(xx=1),
        DataError,
        "missing argument 'x'. unknown argument 'xx'. Did you mean 'x'?",
    ),
    "too many": (lambda: regression(1, 2, 3), DataError, "too many positional"),
    "sample outside": (
        lambda: ac.sample("x", normal),
        ModelError,
        "'x'.*outside of any model.*`infer.sample`",
    ),
    "sample a model": (lambda: ac.sample(regression(np.ones(2))), ModelError, "regression.*`infer.sample"),
    "sample a model function": (lambda: ac.sample(regression), ModelError, "`infer.sample"),
    "plate outside": (_enter_plate_outside, ModelError, "'a'.*outside of any model"),
    "factor outside": (lambda: ac.factor("f", 1.0), ModelError, "'f'.*outside"),
}


@pytest.mark.parametrize(("call", "error", "words"), CALL_ERRORS.values(), ids=CALL_ERRORS.keys())
def test_a_wrong_call_says_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_an_error_in_the_model_is_its_own():
    with pytest.raises(ZeroDivisionError):
        run(lambda: 1 / 0)
    with pytest.raises(ModelError, match="outside of any model"):
        ac.sample("x", normal)
