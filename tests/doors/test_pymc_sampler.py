"""Test accord as a sampler of PyMC, by the arguments of `pm.sample` and what it returns."""

import abc
import importlib.machinery
import inspect
import json
import sys
import types

import numpy as np
import pytest
from laws import each

from accord import infer
from accord.core.errors import AccordError, OptionError

pytestmark = [
    pytest.mark.pymc,
    *(
        pytest.mark.filterwarnings(f"ignore::{kind}")
        for kind in ("FutureWarning", "UserWarning", "DeprecationWarning")
    ),
]
pm = pytest.importorskip("pymc")
models = pytest.importorskip("pymc_models")

from accord.interop import pymc as door  # noqa: E402 - PyMC first, as its users do

RUN = dict(draws=50, tune=100, chains=2, random_seed=3, progressbar=False, quiet=True)
# Those of the base class that PyMC intends for samplers (pull request 8358), with its defaults.
CONTRACT = dict(
    model=None,
    draws=1000,
    tune=1000,
    chains=None,
    cores=None,
    initvals=None,
    random_seed=None,
    progressbar=True,
    quiet=False,
    discard_tuned_samples=True,
    keep_warning_stat=False,
    var_names=None,
    idata_kwargs=None,
    compute_convergence_checks=True,
    compile_kwargs=None,
)


@pytest.fixture(scope="module")
def model():
    return models.hierarchical()


@pytest.fixture(scope="module")
def tree(model):
    return door.Sampler().sample_from_init(model=model, **RUN)


def groups(tree):
    """Names of groups: of `InferenceData`, and of `DataTree`."""
    return {name.strip("/") for name in tree.groups()} if callable(tree.groups) else {*tree.children}


def variables(tree, group):
    return {name: (each.dims, each.shape) for name, each in tree[group].data_vars.items()}


def test_the_arguments_are_those_that_pymc_intends():
    taken = dict(inspect.signature(door.Sampler.sample_from_init).parameters)
    del taken["self"]
    assert {name: each.default for name, each in taken.items()} == CONTRACT
    assert {each.kind for each in taken.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_it_is_one_of_pymcs_samplers_where_pymc_has_them(monkeypatch):
    class Sampler(abc.ABC):
        @abc.abstractmethod
        def sample_from_init(self): ...

    for name in ("pymc.sampling.samplers", "pymc.sampling.samplers.base"):
        module = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        module.__path__ = []
        module.Sampler = Sampler
        monkeypatch.setitem(sys.modules, name, module)
    assert isinstance(door.Sampler(), Sampler)


def test_draws_are_those_of_sample(model, tree):
    draws = door.sample(model, draws=50, warmup=100, chains=2, seed=3, quiet=True)
    for name in draws:
        np.testing.assert_array_equal(tree["posterior"][name], draws[name])


@pytest.mark.parametrize("name", ["hierarchical", "correlated", "time series"])
def test_the_tree_is_that_of_pymc(name):
    model = models.MODELS[name]()
    run = RUN | dict(draws=4, tune=4)
    ours = door.Sampler().sample_from_init(model=model, **run)
    theirs = pm.sample(
        model=model,
        nuts_sampler="pymc",
        cores=1,
        compute_convergence_checks=False,
        compile_kwargs={"mode": "FAST_COMPILE"},
        **run,
    )
    assert groups(ours) == groups(theirs)
    for group in groups(theirs) - {"sample_stats"}:
        assert variables(ours, group) == variables(theirs, group)
        for dim, labels in theirs[group].coords.items():
            np.testing.assert_array_equal(ours[group].coords[dim], labels)
    for group in {"observed_data", "constant_data"} & groups(theirs):
        for name in theirs[group].data_vars:
            np.testing.assert_array_equal(ours[group][name], theirs[group][name])


def test_warm_up_is_kept_under_the_models_names(model, tree):
    kept = door.Sampler().sample_from_init(
        model=model, discard_tuned_samples=False, var_names=["theta", "tau"], **RUN
    )
    assert variables(kept, "warmup_posterior") == {
        "tau": (("chain", "draw"), (2, 100)),
        "theta": (("chain", "draw", "school"), (2, 100, 8)),
    }
    assert (np.asarray(kept["warmup_posterior"]["tau"]) > 0).all()
    assert {"diverging", "energy"} <= {*kept["warmup_sample_stats"].data_vars}
    assert [*kept["posterior"].data_vars] == ["tau", "theta"]
    np.testing.assert_array_equal(kept["posterior"]["theta"], tree["posterior"]["theta"])
    assert "warmup_posterior" not in groups(tree)


def test_pymc_computes_log_likelihoods_and_log_priors_also_of_variables_that_are_not_kept(model):
    found = door.Sampler().sample_from_init(
        model=model,
        var_names=["tau"],
        idata_kwargs={"log_likelihood": True, "log_prior": ["mu"]},
        **RUN,
    )
    whole = door.Sampler().sample_from_init(model=model, **RUN)
    theta, mu = (np.asarray(whole["posterior"][name]) for name in ("theta", "mu"))
    scale = models.SIGMA
    wanted = -0.5 * ((models.Y - theta) / scale) ** 2 - np.log(scale * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(found["log_likelihood"]["y"], wanted, rtol=1e-10)
    assert found["log_likelihood"]["y"].dims == ("chain", "draw", "school")
    assert variables(found, "log_prior").keys() == {"mu"}
    np.testing.assert_allclose(
        found["log_prior"]["mu"], -0.5 * (mu / 5) ** 2 - np.log(5 * np.sqrt(2 * np.pi)), rtol=1e-6
    )


SEEDS = {
    "an integer is the seed": (7, 7),
    "a list gives one seed": ([1, 2], None),
    "a generator is not moved on": (np.random.default_rng(4), None),
}


@each(SEEDS)
def test_the_seed_is_a_function_of_the_argument(seeds, model):
    given, wanted = seeds
    run = RUN | dict(random_seed=given, draws=2, tune=2)
    found = [door.Sampler().sample_from_init(model=model, **run).attrs["seed"] for _ in range(2)]
    assert found[0] == found[1] and wanted in (found[0], None)


def test_without_a_seed_each_run_has_its_own_and_says_which(model):
    run = RUN | dict(random_seed=None, draws=2, tune=2)
    first, second = (door.Sampler().sample_from_init(model=model, **run) for _ in range(2))
    assert first.attrs["seed"] != second.attrs["seed"]
    again = door.Sampler().sample_from_init(model=model, **run | dict(random_seed=int(first.attrs["seed"])))
    np.testing.assert_array_equal(again["posterior"]["z"], first["posterior"]["z"])


def test_starts_are_what_pymc_makes_of_them(model):
    """A start is given by name, by that of a transformed variable, or by the variable; draws of one step show it."""
    start = {"mu": 1.5, "tau_log__": np.log(2.0), model["z"]: np.arange(8.0)}
    found = door.Sampler(infer.NUTS(max_tree_depth=1)).sample_from_init(
        model=model, initvals=[start, None], discard_tuned_samples=False, **RUN | dict(tune=60)
    )
    first = found["warmup_posterior"].isel(draw=0)
    gap = abs(np.asarray(first["z"]) - np.arange(8.0)).max(1)
    assert gap[0] < 2.0 < gap[1]
    prior = door.Sampler().sample_from_init(
        model=model, initvals={"mu": "prior"}, **RUN | dict(draws=2, tune=2)
    )
    assert '"from_values"' in prior.attrs["settings"]


def test_what_has_no_meaning_is_told(model):
    with pytest.warns(UserWarning, match="keep_warning_stat=True has no effect"):
        door.Sampler().sample_from_init(model=model, keep_warning_stat=True, **RUN | dict(draws=2, tune=2))


def test_diagnostics_are_in_the_tree_and_printed_unless_they_are_not_wanted(model, capfd):
    loud = RUN | dict(draws=2, tune=2, quiet=False)
    found = door.Sampler().sample_from_init(model=model, **loud)
    said = capfd.readouterr()
    first = json.loads(found.attrs["notices"])[0]
    assert first.partition(":")[0] in ("error", "warning") and first[:40] in said.err + said.out
    door.Sampler().sample_from_init(model=model, compute_convergence_checks=False, **loud)
    said = capfd.readouterr()
    assert said.err + said.out == ""


REFUSED = {
    "mode": (dict(compile_kwargs={"mode": "NUMBA"}), "JAX compiles the model"),
    "updates": (dict(compile_kwargs={"random_seed": 1}), "JAX compiles the model"),
    "variable": (dict(var_names=["tua"]), "'tua'.*Did you mean 'tau'"),
    "start": (dict(initvals={"nu": 1.0}), "initvals has 'nu'"),
    "shape of a start": (dict(initvals={"z": np.zeros(3)}), "site 'z' has shape|'z'.*shape"),
    "starts": (dict(initvals=[{}, {}, {}]), "3 entries, and there are 2 chains"),
    "kind of starts": (dict(initvals="jitter"), "must map variables to values"),
    "dims": (dict(idata_kwargs={"dims": {}}), "Name the dims in the model"),
    "conversion": (dict(idata_kwargs={"log_likelihod": True}), "Did you mean 'log_likelihood'"),
    "names": (dict(idata_kwargs={"log_likelihood": "y"}), "True, False or a list"),
    "cores": (dict(cores=0), "cores must be a whole number of at least 1"),
    "seed": (dict(random_seed="a"), "random_seed must be"),
    "progress": (dict(progressbar=3), "progressbar must be"),
    "option": (dict(n_init=3), "no option 'n_init'"),
    "sampler's": (dict(target_accept=0.9), "no option 'target_accept'"),
}


@each(REFUSED)
def test_what_cannot_be_honoured_is_refused(refused, model):
    options, words = refused
    with pytest.raises(AccordError, match=words):
        door.Sampler().sample_from_init(model=model, **RUN | options)


def test_options_of_the_sampler_are_checked_when_it_is_made():
    with pytest.raises(OptionError, match=r"Sampler\(infer.NUTS\(target_accept=0.9\)\)"):
        door.Sampler(infer.NUTS(), target_accept=0.9)
    with pytest.raises(OptionError, match="target_accept"):
        door.Sampler(target_accept=1.5)
    with pytest.raises(OptionError, match="no option 'max_treedepth'"):
        door.Sampler(max_treedepth=5)


def test_bambi_predicts_from_draws_of_its_model_and_centred_predictors_are_told():
    bambi = pytest.importorskip("bambi")
    pandas = pytest.importorskip("pandas")
    x = np.linspace(2, 4, 40)
    table = pandas.DataFrame({"x": x, "y": 1 + 2 * x + 0.1 * np.cos(40 * x)})
    model = bambi.Model("y ~ x", table, center_predictors=False)
    model.build()
    tree = door.Sampler().sample_from_init(model=model.backend.model, **RUN)
    ends = model.predict(tree, data=pandas.DataFrame({"x": [0.0, 5.0]}), inplace=False)
    mean = np.asarray(ends["posterior"]["mu"].mean(("chain", "draw")))
    np.testing.assert_allclose(mean, [1.0, 11.0], atol=0.3)
    centred = door.target(bambi.Model("y ~ x", table))
    assert [notice.code for notice in centred.notices] == ["centred_intercept"]
    assert not door.target(model).notices
