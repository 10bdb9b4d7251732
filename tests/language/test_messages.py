"""Say what is wrong, where, and what to write: one table of mistakes of a model's author, and the words they get."""

import dataclasses
import inspect
import math
import os
import re
import sysconfig
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import AccordError, DataError, DistributionError, ModelError, OptionError, SiteError

Y = np.arange(8.0)
HERE = r"test_messages.py:\d+"


def traced(function, *data):
    """A call that finds the sites of a function as a model."""
    return lambda: ac.model(function)(*data).log_density()


def observing(distribution, value, *plates):
    """A call that observes a value in plates given by (name, size), the first one entered first."""

    def model():
        ac.sample("m", dist.Normal(0, 1))
        inside(list(plates), lambda: ac.sample("y", distribution, obs=value))

    return traced(model)


def inside(plates, statement):
    if not plates:
        return statement()
    with ac.plate(*plates[0]):
        return inside(plates[1:], statement)


def latent(use, shape=()):
    """A call that does something with the value of a latent site."""

    def model():
        use(ac.sample("k", dist.Normal(np.zeros(shape), 1)))

    return traced(model)


def statement(write, *plates):
    """A call that writes one statement, after a site and inside of plates."""

    def model():
        ac.sample("m", dist.Normal(0, 1))
        inside(list(plates), write)

    return traced(model)


@ac.model
def line(y, *, scale=1.0):
    slope = ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("row", 8):
        mean = ac.deterministic("mean", slope * jnp.arange(8.0))
        ac.sample("y", dist.Normal(mean, scale), obs=y)


def branch(k):
    return 1.0 if k > 0 else 2.0


def loop(k):
    while k < 1:
        k = k + 1


def into_numpy(k):
    np.zeros(3)[0] = k


def in_place(k):
    k[0] = 1.0


def use_a_value_of_an_earlier_run():
    kept = []

    def model():
        kept.append(ac.sample("k", normal))
        return kept[0] + 1.0

    traced(model)()
    handlers.seed(model, 0)()


def mask_without_its_name():
    with handlers.mask(np.ones(8, bool)):
        pass


def plate_as_a_loop():
    for i in ac.plate("row", 8):
        ac.sample(f"x{i}", dist.Normal(0, 1))


normal = dist.Normal(0, 1)
TABLE = np.zeros((10, 3))


# A call, the class of its error, and what the message or its notes must contain, in this order.
CASES = {
    # Shapes: the diagram has one line for each shape, and marks the axes that do not fit.
    "plates the other way round": (
        observing(normal, TABLE, ("row", 10), ("group", 3)),
        SiteError,
        [
            "'y'",
            "(10, 3)",
            "(3, 10)",
            "`y.T`",
            r"plates  group\(3\)  row\(10\)\n",
            r"batch +3 +10\n",
            r"value +10 +3\n",
            r" +\^ +\^$",
        ],
    ),
    "one axis of two": (
        observing(normal, np.zeros((3, 9)), ("row", 10), ("group", 3)),
        SiteError,
        ["'row' has size 10", r"`ac.plate\(\"row\", y.shape\[1\]\)`", r"value +3 +9\n +\^$"],
    ),
    "no plate": (observing(normal, Y), SiteError, ["'y'", r"`with ac.plate\(\"y_plate\", 8\):`"]),
    "no plate beside parameters": (
        observing(dist.Normal(np.zeros(3), 1), TABLE),
        SiteError,
        [r"`with ac.plate\(\"y_plate\", 10, dim=-2\):`"],
    ),
    "no to_event": (
        observing(dist.Normal(np.zeros(3), 1), TABLE, ("row", 10)),
        SiteError,
        ["'row' has size 10", r"`.to_event\(1\)`", r"plates  row\(10\)\n +Normal +3\n"],
    ),
    "parameters that no plate follows": (
        observing(dist.Normal(TABLE, 1), TABLE, ("row", 10), ("group", 3)),
        SiteError,
        [r"with ac.plate\(\"row\", 10, dim=-2\), ac.plate\(\"group\", 3, dim=-1\):"],
    ),
    "parameters that want an index": (
        observing(dist.Normal(np.zeros(3), 1), Y, ("row", 8)),
        SiteError,
        ["theta\\[group\\]", "8 integers below 3"],
    ),
    "another event": (
        observing(dist.MultivariateNormal(np.zeros(2), np.eye(2)), TABLE, ("row", 10)),
        SiteError,
        [r"event has shape \(2,\)", r"\(3,\) in the value", r"event +2\n"],
    ),
    "rows by rows": (
        observing(dist.Normal(np.zeros((8, 1)) + Y, 1), Y),
        SiteError,
        [r"\(8, 1\) and \(8,\) make \(8, 8\)", r"\[:, 0\]"],
    ),
    "one number for a vector": (
        observing(normal, 0.0, ("row", 8)),
        SiteError,
        ["one value for each", r"jnp.full\(\(8,\)"],
    ),
    "a column": (observing(normal, Y[:, None], ("row", 8)), SiteError, [r"y.reshape\(\(8,\)\)"]),
    "three axes in another order": (
        observing(normal, np.zeros((2, 3, 4)), ("a", 3), ("b", 4), ("c", 2)),
        SiteError,
        [r"jnp.transpose", r"plates  c\(2\)  b\(4\)  a\(3\)"],
    ),
    "as many entries and no order": (
        observing(normal, np.zeros((2, 4)), ("row", 8)),
        SiteError,
        ["reshape the value"],
    ),
    "a mask the other way round": (
        statement(
            lambda: handlers.mask(lambda: ac.sample("x", normal), mask=np.ones((10, 3), bool))(),
            ("row", 10),
            ("group", 3),
        ),
        SiteError,
        ["mask has shape", "`mask.T`", r"mask +10 +3\n"],
    ),
    "a factor with an axis too many": (
        statement(lambda: ac.factor("f", np.zeros((8, 2))), ("row", 8)),
        SiteError,
        ["'f'", r"`.sum\(-1\)`", r"plates +row\(8\)\n"],
    ),
    "a plate inside of its namesake": (
        statement(lambda: ac.sample("x", normal), ("row", 8), ("row", 3)),
        SiteError,
        ["'row'", HERE, "same name"],
    ),
    "parameters that do not broadcast": (
        statement(lambda: ac.sample("x", dist.Normal(np.zeros(3), np.ones(8))), ("row", 8)),
        DistributionError,
        [r"Normal.*loc \(3,\), scale \(8,\)", r"theta\[group\]", "plate 'row'", HERE, "after site 'm'"],
    ),
    "arithmetic inside of plates": (
        statement(lambda: Y @ jnp.zeros(3), ("row", 8), ("group", 3)),
        TypeError,
        [
            r"plates 'row' \(size 8 at dim -1\), 'group' \(size 3 at dim -2\)",
            "model 'model'",
            HERE,
            "`.*Y @ jnp",
            "'m'",
        ],
    ),
    "rows of different lengths": (
        observing(normal, [[1, 2], [3]], ("row", 2)),
        DataError,
        ["'y'", "different lengths"],
    ),
    # Python where a number is missing.
    "if": (latent(branch), ModelError, ["site 'k'", HERE + " `return 1.0 if k > 0", "`jnp.where`"]),
    "while": (latent(loop), ModelError, ["'k'", "`while k < 1:`", "`jnp.where`"]),
    "a list indexed": (
        latent(lambda k: [1, 2][k.astype(int)]),
        ModelError,
        ["'k'", r"`jnp.asarray\(values\)\[i\]`"],
    ),
    "entries selected": (latent(lambda k: k[k > 0], (3,)), ModelError, ["'k'", "k > 0", "handlers.mask"]),
    "float": (latent(float), ModelError, ["'k'", "`float`"]),
    "math": (latent(math.exp), ModelError, ["'k'", "`jnp` for `math`"]),
    "NumPy": (latent(np.exp), ModelError, ["'k'", "`jnp` for `np`"]),
    "an array of NumPy": (latent(into_numpy), ModelError, ["'k'", r"x.at\[i\].set\(value\)"]),
    "a shape": (
        latent(lambda k: jnp.zeros(k.astype(int))),
        ModelError,
        ["'k'", "shape is fixed", "handlers.mask"],
    ),
    "a plate": (latent(lambda k: ac.plate("p", k.astype(int))), ModelError, ["'k'", HERE]),
    "a plate of a float": (
        latent(lambda k: ac.plate("p", k)),
        OptionError,
        ["'p'", "integer", r"y.shape\[0\]", HERE],
    ),
    "range of a float": (latent(range), TypeError, ["model 'model'", HERE, "'k'", "tracer", "count by it"]),
    "a number formatted": (latent(lambda k: f"{k:.2f}"), TypeError, [HERE, "'k'", "jax.debug.print"]),
    "in place": (latent(in_place, (3,)), TypeError, [r"\.at\[", HERE, "`k\\[0\\] = 1.0`"]),
    "if on data that is traced": (
        lambda: jax.jit(
            lambda y: ac.model(lambda y: branch(ac.sample("k", normal) * y.sum()))(y).log_density().dim
        )(Y),
        ModelError,
        [r"the data \('y'\)", "jit", HERE, "`jnp.where`"],
    ),
    "a value of an earlier run": (
        use_a_value_of_an_earlier_run,
        jax.errors.UnexpectedTracerError,
        [HERE, r"`return kept\[0\] \+ 1.0`", "'k'", "earlier run", "pass it as an argument"],
    ),
    "if under the user's own jit": (
        lambda: jax.jit(lambda key: handlers.seed(lambda: branch(ac.sample("k", normal)), key)())(
            jax.random.key(0)
        ),
        jax.errors.TracerBoolConversionError,
        [HERE, "'k'", "`jnp.where`"],
    ),
    "if in a log density that is a function": (
        lambda: ac.LogDensity.from_function(branch, 1.0),
        jax.errors.TracerBoolConversionError,
        ["function 'branch'", HERE, "`jnp.where`"],
    ),
    "dtypes under strict promotion": (
        lambda: handlers.seed(lambda: ac.sample("k", normal) * jnp.ones(3, "int32"), 0)(),
        ValueError,
        ["strict", HERE, "'k'", "`.astype`"],
    ),
    # Statements and distributions.
    "an option that sample lacks": (
        statement(lambda: ac.sample("x", normal, infer={})),
        OptionError,
        ["'infer'", "name, distribution, obs", HERE],
    ),
    "an option that plate lacks": (
        statement(lambda: ac.plate("p", 8, subsample=3)),
        OptionError,
        ["'subsample'", "Did you mean 'subsample_size'", "name, size, dim"],
    ),
    "an option of plate misspelt": (
        statement(lambda: ac.plate("p", 8, dims=-1)),
        OptionError,
        ["'dims'", "'dim'"],
    ),
    "a truth for a size": (statement(lambda: ac.plate("p", True)), OptionError, ["'p'", "integer", "True"]),
    "data before the distribution": (
        statement(lambda: ac.sample("y", Y, normal)),
        SiteError,
        ["'y'", r"shape \(8,\)", r'`ac.sample\("y", distribution, obs=data\)`'],
    ),
    "a distribution without parameters": (
        statement(lambda: ac.sample("y", dist.Normal)),
        SiteError,
        ["'y'", "class Normal", r"`.*dist.Normal\(...\)\)`"],
    ),
    "no distribution": (
        statement(lambda: ac.sample("y")),
        SiteError,
        ["'y'", "None", r"dist.Normal\(0, 1\)"],
    ),
    "a plate without its size": (statement(lambda: ac.plate("p")), OptionError, ["plate: .*'size'"]),
    "dim by position": (
        statement(lambda: ac.plate("p", 8, -1)),
        OptionError,
        ["too many", "dim, subsample_size, coords, chunk by name"],
    ),
    "a plate as a loop": (
        statement(plate_as_a_loop),
        ModelError,
        ["'row'", HERE, r"`with ac.plate\(\"row\", 8\) as i:`"],
    ),
    "a mask without its name": (statement(mask_without_its_name), OptionError, ["'mask'", "by name"]),
    "no value": (statement(lambda: ac.deterministic("d", None)), SiteError, ["'d'", "None", "return it"]),
    "words as a value": (statement(lambda: ac.factor("f", "1")), SiteError, ["'f'", "str '1'", "number"]),
    "a list as a value": (statement(lambda: ac.deterministic("d", [1, 2])), SiteError, ["'d'", "jnp.stack"]),
    "a dict as a value": (
        statement(lambda: ac.deterministic("d", {"a": 1})),
        SiteError,
        ["'d'", "one statement for each"],
    ),
    "a parameter misspelt": (
        statement(lambda: dist.HalfNormal(scal=1)),
        DistributionError,
        ["'scal'", "'scale'", HERE],
    ),
    "a parameter that is another's": (
        statement(lambda: dist.Normal(mean=0)),
        DistributionError,
        ["'mean'", "loc, scale"],
    ),
    "a parameter that is None": (
        statement(lambda: dist.Normal(None, 1)),
        DistributionError,
        ["loc", "NoneType", HERE],
    ),
    "a parameter outside": (
        statement(lambda: dist.Normal(0, -1)),
        DistributionError,
        ["scale", "-1", HERE, "'m'"],
    ),
    "a distribution misspelt": (
        statement(lambda: dist.Normall(0, 1)),
        AttributeError,
        ["'Normall'", "'Normal'", HERE],
    ),
    "an index of floats": (
        statement(lambda: jnp.zeros(3)[np.array([0.0, 2.0])]),
        TypeError,
        ["integer", HERE, r"some are missing", r"`g\.astype\(int\)`", r"`ac\.levels\(column\)`"],
    ),
    "numbers where the model takes levels": (
        traced(lambda g: ac.sample("a", dist.Normal(0, 1).expand((g.num_levels,))), np.array([0, 1])),
        AttributeError,
        ["num_levels", r"`ac\.levels\(column\)`"],
    ),
    "a list where the model takes levels": (
        traced(lambda g: ac.sample("a", dist.Normal(0, 1).expand((g.num_levels,))), ["a", "b"]),
        AttributeError,
        ["num_levels", r"`ac\.levels\(column\)`"],
    ),
    "a number for a shape": (
        statement(lambda: normal.expand(3)),
        DistributionError,
        [r"`.expand\(\(3,\)\)`"],
    ),
    "data left out": (
        statement(lambda: ac.sample("y", dist.Poisson(0.5), obs=None)),
        SiteError,
        ["'y'", "Poisson has infinitely many values", "collapse", "obs=None"],
    ),
    "not a function": (lambda: ac.model(3), OptionError, ["got 3", "@ac.model"]),
    "a model twice": (lambda: ac.model(line), OptionError, ["'line'", "already"]),
    # Names.
    "data": (lambda: line(y=Y, scal=2.0), DataError, ["'scal'", "'scale'"]),
    "data of a density": (lambda: line(Y).log_density().with_data({"yy": Y}), DataError, ["'yy'", "'y'"]),
    "condition": (
        lambda: line(Y).condition({"slop": 1.0}).sites(),
        SiteError,
        ["condition", "'slop'", "'slope'"],
    ),
    "condition by keyword": (lambda: line(Y).condition(slope=1.0), OptionError, ["'slope'", "values"]),
    "do": (lambda: line(Y).do({"sloop": 1.0}).sites(), SiteError, ["do:", "'sloop'", "'slope'"]),
    "do on a deterministic": (
        lambda: line(Y).do({"mean": Y}).sites(),
        SiteError,
        ["'mean' is a deterministic", HERE],
    ),
    "substitute": (
        lambda: handlers.substitute(line(Y), {"lope": 1.0}).sites(),
        SiteError,
        ["substitute", "'lope'", "'slope'"],
    ),
    "block": (
        lambda: handlers.block(line(Y), hide=["slop"]).sites(),
        SiteError,
        ["block", "'slop'", "'slope'"],
    ),
    "unconstrain": (
        lambda: line(Y).log_density().unconstrain({"slop": 1.0}),
        DataError,
        ["'slop'", "'slope'"],
    ),
    "from_values": (
        lambda: infer.sample(line(Y), init=infer.from_values({"slop": 1.0}), quiet=True),
        AccordError,
        ["'slop'", "'slope'"],
    ),
    "shard": (
        lambda: infer.sample(line(Y), executor=infer.Devices(shard={"yy": 0}), quiet=True),
        OptionError,
        ["'yy'", "'y'"],
    ),
    "precision": (
        lambda: infer.sample(line(Y), precision="float46"),
        OptionError,
        ["'float46'", "'float64'"],
    ),
    "an option of a store": (lambda: infer.RunFolder(pth="run"), OptionError, ["'pth'", "'path'"]),
    "an option of a start": (lambda: infer.from_uniform(radios=1.0), OptionError, ["'radios'", "'radius'"]),
    "an option of what has none": (lambda: infer.Serial(workers=2), OptionError, ["'workers'", "takes none"]),
}


def told(error):
    """The message of an error and its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_told_with_its_place_and_its_remedy(case):
    call, kind, words = CASES[case]
    with pytest.raises(kind) as caught:
        call()
    assert re.search(".*?".join(words), told(caught.value), re.DOTALL | re.MULTILINE), told(caught.value)


STATEMENTS = [ac.sample, ac.deterministic, ac.factor, ac.plate]
HANDLERS = [getattr(handlers, name) for name in handlers.__all__]
RUNNING = [getattr(infer, name) for name in infer.__all__ if callable(getattr(infer, name))]


NAMES = [
    function for _, function in inspect.getmembers(dist, inspect.isfunction) if function.__name__[0].isupper()
]


@pytest.mark.parametrize(
    "function", [*STATEMENTS, *HANDLERS, *RUNNING, *NAMES], ids=lambda each: each.__name__
)
def test_an_option_that_is_not_there_is_refused_with_those_that_are(function):
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    with pytest.raises(OptionError) as caught:
        function(no_such_option=1)
    assert re.search(f"'no_such_option'.* It takes {', '.join(known) or 'none'}[.]", str(caught.value))


# What is observed, in which plates, and the line that the error gives: with it there is no error.
LINES = {
    "a vector": (normal, Y, []),
    "a table": (normal, TABLE, []),
    "a table with columns of their own": (dist.Normal(np.zeros(3), 1), TABLE, []),
    "a table of events": (dist.MultivariateNormal(np.zeros(3), np.eye(3)), np.zeros((4, 10, 3)), []),
    "plates against the parameters": (dist.Normal(TABLE, 1), TABLE, [("row", 10), ("group", 3)]),
    "a plate before an axis of parameters": (dist.Normal(TABLE, 1), TABLE, [("row", 10)]),
}


@pytest.mark.parametrize("case", LINES)
def test_the_line_to_write_is_right(case):
    distribution, value, plates = LINES[case]
    with pytest.raises(SiteError) as caught:
        observing(distribution, value, *plates)()
    (written,) = re.findall(r"`(with .*?:)`", str(caught.value))

    def model():
        ac.sample("m", normal)
        names = {"ac": ac, "distribution": distribution, "value": value}
        exec(f'{written}\n    ac.sample("y", distribution, obs=value)', names)

    assert ac.model(model)().log_density().layout["y"].shape == value.shape


@ac.model
def fails(y):
    ac.sample("m", normal)
    with ac.plate("row", 8):
        y["missing"]


RUNS = {
    "Serial": lambda target: infer.sample(target, executor=infer.Serial(), quiet=True),
    "Processes": lambda target: infer.sample(target, executor=infer.Processes(1), quiet=True),
    "check": infer.check,
    "a draw from the prior": lambda target: handlers.seed(target, 0)(),
}


@pytest.mark.parametrize("run", RUNS)
def test_an_error_of_the_model_passes_as_it_is_and_names_the_users_line(run):
    with pytest.raises(KeyError) as caught:
        RUNS[run](fails({}))
    assert type(caught.value) is KeyError and caught.value.args == ("missing",)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fails"
    plates, place = caught.value.__notes__[:2]
    assert plates == "Inside of the plate 'row' (size 8 at dim -1)."
    assert re.fullmatch(rf"In the model 'fails', at .*{HERE} `y\[\"missing\"\]`, after site 'm'.", place)


@dataclasses.dataclass(frozen=True)
class FrozenError(Exception):
    """An exception that takes no notes."""

    code: int


def test_an_exception_that_takes_no_notes_passes_all_the_same():
    def model():
        with ac.plate("row", 8):
            raise FrozenError(3)

    with pytest.raises(FrozenError):
        handlers.seed(model, 0)()


def test_the_line_of_a_model_that_is_installed_is_named_though_it_is_in_a_library():
    path = f"{sysconfig.get_paths()['purelib']}/somebody/models.py"
    names = {}
    exec(compile("def model(size):\n    return 1 / size\n", path, "exec"), names)
    with pytest.raises(ZeroDivisionError) as caught:
        handlers.seed(names["model"], 0)(0)
    assert f"'model', at {path}:2 " in told(caught.value)


class Unfinished(dist.AbstractDistribution):
    """A distribution of a user's own whose density raises."""

    @property
    def support(self):
        return dist.constraints.real

    def log_prob(self, value):
        raise NotImplementedError("to be written")


def test_an_error_in_a_log_density_names_the_site():
    with pytest.raises(NotImplementedError) as caught:
        ac.model(lambda: ac.sample("x", Unfinished()))().log_density()(np.zeros(1))
    assert re.search(rf"At site 'x' \(at .*{HERE}\), while the log density of Unfinished", told(caught.value))


def test_errors_of_accord_that_name_a_site_have_no_notes_of_ours():
    with pytest.raises(SiteError) as caught:
        observing(normal, Y)()
    assert not [note for note in getattr(caught.value, "__notes__", ()) if "model" in note]


def test_a_value_from_an_earlier_run_is_refused_and_its_site_named():
    kept = []

    @ac.model
    def remembers():
        kept.append(ac.sample("m", normal))
        ac.sample("y", dist.Normal(kept[0], 1), obs=1.0)

    with pytest.raises(ModelError, match=r"at site 'y', a value of shape .* earlier run"):
        infer.sample(remembers(), quiet=True)
    assert "at site 'y'" in str(infer.check(remembers()))


@pytest.mark.parametrize("is_there_at_first", [True, False])
def test_a_site_that_comes_or_goes_is_refused_by_name(is_there_at_first):
    runs = []

    @ac.model
    def moody():
        runs.append(ac.sample("m", normal))
        if (len(runs) == 1) == is_there_at_first:
            ac.factor("u", 0.0)

    density = moody().log_density()
    with pytest.raises(
        ModelError, match=r"site 'u' is .*there now and was .*when the model was first traced"
    ):
        density(np.zeros(1))


@ac.model
def fails_in_a_worker():
    ac.sample("m", normal)
    if "ACCORD_WORKER" in os.environ:
        raise LookupError("not here")


@pytest.mark.slow
def test_an_error_raised_in_a_worker_alone_brings_its_place_along():
    with pytest.raises(LookupError, match="not here") as caught:
        infer.sample(fails_in_a_worker(), chains=1, executor=infer.Processes(1), quiet=True)
    assert re.search(rf"In the model 'fails_in_a_worker', at .*{HERE}.*after site 'm'", told(caught.value))
    assert re.search(r"In the worker process:\n  File .*fails_in_a_worker", told(caught.value))
