"""Hold the bench on posteriordb together: its data, its judge, its page, and the stand-in that NumPyro runs."""

import ast
import json
import zipfile
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from folders import BENCHMARKS, importable

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.notice import Notice
from accord.density.weights import MAP

MODELS = BENCHMARKS / "pdb"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    """The folders of the command and of its models, where they import one another."""
    with importable(monkeypatch, BENCHMARKS, MODELS):
        yield


@pytest.fixture
def database(tmp_path):
    """A clone with two posteriors, one of which has a model here and reference draws."""
    from database import Database

    inner = tmp_path / "posterior_database"
    draws = [{"beta[1]": [1.0, 2.0], "beta[2]": [3.0, 4.0], "sigma": [0.1, 0.2]}] * 2
    files = {
        "data/data/kidiq.json.zip": {
            "N": 2,
            "kid_score": [65, 98],
            "mom_hs": [1, 0],
            "mom_iq": [121.0, 89.0],
        },
        "reference_posteriors/draws/draws/kidiq-kidscore_momhs.json.zip": draws,
    }
    for name, content in files.items():
        path = inner / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(path.stem, json.dumps(content))
    (inner / "posteriors").mkdir()
    for model in ("kidscore_momhs", "unheard_of"):
        about = {"model_name": model, "data_name": "kidiq", "reference_posterior_name": f"kidiq-{model}"}
        (inner / "posteriors" / f"kidiq-{model}.json").write_text(json.dumps(about))
    return Database(tmp_path)


def run(engine, posterior="kidiq-kidscore_momhs", seed=0, **changes):
    """A run as it is kept, with round figures."""
    record = {
        "engine": engine,
        "posterior": posterior,
        "seed": seed,
        "date": "2026-01-01",
        "machine": "a machine",
        "cores": 2,
        "versions": {"accord": "0.1", "jax": "1"},
        "limit": 300.0,
        "load": 0.0,
        "error": "",
        "seconds": 10.0,
        "warm_seconds": 5.0,
        "cpu_seconds": 10.0,
        "warm_cpu_seconds": 5.0,
        "num_unknowns": 3,
        "max_r_hat": 1.0,
        "worst": "beta[0]",
        "min_ess_bulk": 1000.0,
        "min_ess_tail": 900.0,
        "means": [0.0, 1.0],
        "errors": [0.1, 0.1],
        "reference_z": 1.0,
        "divergences": 0,
        "notices": [],
    }
    return record | changes


def test_a_posterior_is_bound_to_its_data_and_one_without_a_model_is_missing(database):
    from registry import bind, missing, problems

    there = problems(database)
    problem = there["kidiq-kidscore_momhs"]
    model = bind(problem.module, problem.model, problem.data)
    assert np.array_equal(model.arguments["X"], [[1, 1], [1, 0]])
    assert missing(database) == {"kidiq-unheard_of": "unheard_of"}


def test_reference_draws_have_the_shapes_of_the_parameters(database):
    draws = database.reference("kidiq-kidscore_momhs")
    assert draws["beta"].shape == (2, 2, 2) and draws["sigma"].shape == (2, 2)
    assert np.array_equal(draws["beta"][0], [[1, 3], [2, 4]])
    assert database.reference("kidiq-of_a_partial_clone") == {}


def test_a_density_passes_at_its_own_draws_and_fails_at_others():
    """False alarms: a number beyond 5 standard errors among 4, once in 400,000 keys; the key is fixed."""
    from verify import LIMIT, stein

    import accord as ac

    density = ac.LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(2))
    draws = np.random.default_rng(0).standard_normal((4, 250, 2))
    name = density.layout.entries[0].name
    assert np.abs(stein(density, "", {name: draws}, {})).max() < LIMIT
    assert np.abs(stein(density, "", {name: 1.3 * draws}, {})).max() > LIMIT


def test_what_never_varies_is_no_unknown_unless_nothing_varies(tmp_path):
    from judging import judge

    moving = np.random.default_rng(0).standard_normal((4, 200))
    corner = np.ones((4, 200))
    np.savez(tmp_path / "some.npz", L=np.stack([corner, moving], axis=-1))
    np.savez(tmp_path / "none.npz", L=corner)
    some, none = (judge(tmp_path / f"{name}.npz", {}) for name in ("some", "none"))
    assert some["num_unknowns"] == 1 and some["max_r_hat"] < 1.1 and some["worst"] == "L[1]"
    assert none["max_r_hat"] > 900 and none["min_ess_bulk"] == 0


def test_draws_of_another_posterior_are_far_from_the_reference(tmp_path):
    from judging import judge

    draws = np.random.default_rng(0).standard_normal((4, 200))
    np.savez(tmp_path / "draws.npz", mu=draws)
    assert judge(tmp_path / "draws.npz", {"mu": draws})["reference_z"] == 0
    assert judge(tmp_path / "draws.npz", {"mu": draws + 1})["reference_z"] > 6


@pytest.mark.parametrize(("cpu_seconds", "expected"), [(12.0, 3.0), (9.0, 3.0), (0.9, 0.3)])
def test_compiling_takes_the_share_of_the_clock_that_the_run_was_given(cpu_seconds, expected):
    from child import Outcome, _compiling

    found = {"seconds": 9.0, "cpu_seconds": cpu_seconds}
    assert _compiling(Outcome({}, {}, 3.0), found) == pytest.approx({"seconds": 3.0, "cpu_seconds": expected})


CHANGES: dict[str, tuple[dict[str, Any], bool]] = {
    "ended": ({}, True),
    "over the limit": ({"error": "over 300 s"}, False),
    "R-hat": ({"max_r_hat": 1.02}, False),
    "error": ({"notices": [{"severity": "error", "code": "stuck", "message": "A chain."}]}, False),
    "warning": ({"notices": [{"severity": "warning", "code": "divergences", "message": "Some."}]}, True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_run_converged_if_it_ended_with_a_small_r_hat_and_no_error(name):
    from standing import has_converged

    changes, expected = CHANGES[name]
    assert has_converged(run("accord", **changes)) is expected


def test_the_page_says_who_converged_how_fast_and_what_was_said(database):
    from posterior_page import page

    notice = {"severity": "warning", "code": "r_hat", "message": "R-hat of 'mu' is 1.3."}
    runs = [
        run("accord", cpu_seconds=2.0, warm_cpu_seconds=9.0),
        run("numpyro"),
        run("accord", "hard-one", max_r_hat=1.3, notices=[notice]),
        run("accord_cured", "hard-one", max_r_hat=1.005, cure="`handlers.reparam(...)`"),
        {key: run("numpyro", "hard-one")[key] for key in ("engine", "posterior", "seed", "date", "machine")}
        | {"cores": 2, "versions": {}, "limit": 300.0, "load": 0.0, "error": "over 300 s"},
    ]
    text = page(runs, database)
    assert "| kidiq-kidscore_momhs | 3 | 1 of 1 | 1.000 | 1 of 1 | 1.000 |" in text
    assert (
        "The furthest from its reference is kidiq-kidscore_momhs for accord (1.0 standard errors), and"
        in text
    )
    assert "| hard-one | 3 | 0 of 1 | 1.300 | 0 of 1 | over 300 s |" in text
    assert (
        "5 cold, 0.556 warm, on 1 posteriors. More than 1.2 times numpyro's warm seconds: kidiq-kidscore_momhs (1.80)"
        in text
    )
    assert "warning `r_hat` | `handlers.reparam(...)` | 1.005 |" in text
    assert "kidiq-unheard_of" in text


@ac.model
def centred():
    scale = ac.sample("scale", dist.HalfNormal(1))
    with ac.plate("place", 3):
        ac.sample("x", dist.Normal(0, scale))


def test_a_cure_does_what_the_notices_say():
    from cures import cure

    line = 'handlers.reparam(model, {"x": reparam.LocScale()})'
    funnel = Notice(
        "warning", "divergences", "", f"It narrows: reparameterise by `{line}`. Else smaller steps."
    )
    few = Notice("warning", "ess_bulk", "", "Draw about 7 times as many draws, or reparameterise.")
    diverging = Notice("warning", "divergences", "", "Raise target_accept above 0.8.")
    told = Notice("info", "r_hat", "", "The chains disagree.")
    other = Notice("info", "long_warmup", "", "Start nearer.")
    model, options, words = cure(centred(), [few, funnel, diverging])
    names = [entry.name for entry in ac.LogDensity.from_model(model).layout.entries]
    assert names == ["scale", "x_base"] and options == {}
    assert words == f"`{line}`"
    _, options, words = cure(centred(), [few, diverging])
    assert options == {"sampler": infer.NUTS(target_accept=0.99), "draws": 7000, "warmup": 1000}
    assert words == "target_accept=0.99, warmup=1000, draws=7000"
    assert cure(centred(), [told])[1] == {"draws": 4000, "warmup": 1000}
    assert cure(centred(), [other])[1:] == ({}, "")
    apart = Notice(
        "error", "chains_apart", "", "Sample by `infer.sample(model, infer.Tempered())`, which moves."
    )
    _, options, words = cure(centred(), [apart, few, diverging])
    assert options == {"sampler": infer.Tempered(), "draws": 4000, "warmup": 1000}
    assert words == "`infer.Tempered()`, warmup=1000, draws=4000"


def test_a_cure_takes_the_model_with_proper_priors_that_a_sampler_needs():
    from cold import mixture_of_normals
    from cures import cure

    model = mixture_of_normals()
    remedy = "Give 'first' a proper prior, with which `infer.Tempered()` moves between modes."
    other, options, words = cure(model, [Notice("error", "chains_apart", "", remedy)])
    assert words == "a proper prior for first, then `infer.Tempered()`, warmup=1000, draws=4000"
    assert isinstance(options["sampler"], infer.Tempered)
    mine, theirs = (ac.LogDensity.from_model(each) for each in (model, other))
    position = np.random.default_rng(0).normal(size=mine.dim)
    np.testing.assert_allclose(theirs(position) - mine(position), np.log(6))  # the orders of three components


def test_a_cure_goes_on_until_no_notice_asks_for_more():
    from cures import cured
    from models_hmm import ENTRIES

    model = ENTRIES["hmm_gaussian"].model(y=np.arange(9.0), K=2)
    away = Notice(
        "error", "runs_away", "", "Give 'mu', 'sigma' a proper prior, with a scale in the units of the data."
    )
    apart = Notice(
        "error", "chains_apart", "", "Sample by `infer.sample(model, infer.Tempered())`, which moves."
    )
    slow = Notice("warning", "r_hat", "", "Use more warm-up and about 3 times as many draws.")
    diverging = Notice("warning", "divergences", "", "Raise target_accept above 0.8.")  # the sampler stays
    told = iter([[apart], [slow, diverging], []])
    asked = []

    def sampled(model, **options):
        asked.append((model.name, options.get("draws"), type(options.get("sampler"))))
        return SimpleNamespace(notices=next(told))

    draws, words = cured(model, SimpleNamespace(notices=[away]), sampled)
    proper = "hmm_gaussian_with_proper_priors"
    assert asked == [(proper, None, type(None)), *((proper, n, infer.Tempered) for n in (4000, 16000))]
    assert draws.notices == []
    assert words == (
        "a proper prior for mu, sigma, then `infer.Tempered()`, warmup=1000, draws=4000, "
        "then warmup=1000, draws=16000"
    )


def test_a_cure_takes_the_non_centred_form_of_a_series():
    """Both densities differ by the Jacobian of the map from what is new to the states."""
    from cures import cure
    from fresh import ENTRIES
    from models_series import state_space_stochastic_level_stochastic_seasonal as state_space

    remedy = "Reparameterise what depends on 'scale' (a non-centred form), or take more draws."
    slow = Notice("warning", "e_bfmi", "", remedy)
    generator = np.random.default_rng(0)
    new = generator.normal(size=40)

    model = ENTRIES["stochastic_volatility"](size=40)
    other, options, words = cure(model, [slow])
    assert words == "the non-centred form, warmup=1000, draws=4000"
    assert options == {"draws": 4000, "warmup": 1000}
    mean, persistence, scale = -0.5, 0.9, 0.3
    states = [new[0] / np.sqrt(1 - persistence**2)]
    for noise in new[1:]:
        states.append(persistence * states[-1] + noise)
    shared = {"mean": mean, "persistence": persistence, "scale": scale}
    log_variance = mean + scale * np.array(states)
    gap = _gap(model, {**shared, "log_variance": log_variance}, other, {**shared, "new": new})
    np.testing.assert_allclose(gap, 40 * np.log(scale) - 0.5 * np.log(1 - persistence**2))

    model = state_space(y=generator.normal(size=40), x=new, w=generator.normal(size=40))
    other, *_ = cure(model, [slow])
    sigma = np.array([0.1, 0.2, 0.5])
    mu_new, seasonal_first, seasonal_new = (generator.normal(size=n) for n in (39, 11, 29))
    mu = 0.1 + sigma[1] * np.append(0.0, np.cumsum(mu_new) / 10)
    seasonal = list(seasonal_first)
    for noise in seasonal_new:
        seasonal.append(sigma[0] * noise - sum(seasonal[-11:]))
    shared = {"beta": 0.3, "lambda": -0.2, "sigma": sigma}
    states = {"mu": mu, "seasonal": np.array(seasonal)}
    derived = {"mu_first": mu[:1], "mu_new": mu_new / 10}
    derived |= {"seasonal_first": seasonal_first, "seasonal_new": seasonal_new}
    gap = _gap(model, {**shared, **states}, other, {**shared, **derived})
    np.testing.assert_allclose(gap, 39 * np.log(sigma[1]) + 29 * np.log(sigma[0]))


def _gap(model, values, other, other_values):
    """How much larger the log density of `other` is than that of `model`, both without Jacobians."""
    mine, theirs = (ac.LogDensity.from_model(each) for each in (model, other))
    value = mine.value(mine.unconstrain(values), MAP)
    return theirs.value(theirs.unconstrain(other_values), MAP) - value


def test_a_cure_relabels_what_a_notice_says_has_changed_places():
    from cures import has_more_to_do, relabelled

    @ac.model
    def pair():
        with ac.plate("component", 2):
            x = ac.sample("x", dist.Normal(0, 10))
        ac.factor("apart", dist.Normal(20, 1).log_prob(jnp.abs(x[0] - x[1])))

    starts = [{"x": 10.0 * np.array([sign, -sign])} for sign in (1, -1, 1, -1)]
    draws = infer.sample(pair(), seed=1, draws=100, warmup=100, init=starts, progress=False, quiet=True)
    same, words = relabelled(draws)
    assert words == "`infer.relabel(draws, 'component')`"
    assert len(np.unique(np.sign(same["x"][..., 0] - same["x"][..., 1]))) == 1
    assert relabelled(same) == (same, "")
    assert has_more_to_do(draws.notices)
    assert not has_more_to_do([Notice("info", "relabelled", "", ""), Notice("info", "long_warmup", "", "")])


def test_the_stand_in_has_every_statement_that_a_model_uses():
    text = (BENCHMARKS / "peers" / "standin" / "accord" / "__init__.py").read_text()
    tree = ast.parse(text).body
    offered = {node.name for node in tree if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    offered |= {alias.asname for node in tree if isinstance(node, ast.ImportFrom) for alias in node.names}
    for file in MODELS.glob("models_*.py"):
        used = {
            node.attr
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ac"
        }
        assert used <= offered, file.name


def test_a_record_names_files_of_the_project_without_a_folder_of_the_machine():
    from launch import HERE, without_root

    assert without_root(f"at {HERE / 'models_hmm.py'}:27") == "at benchmarks/pdb/models_hmm.py:27"
