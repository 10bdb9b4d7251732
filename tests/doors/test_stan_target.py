"""Test densities of Stan programs, and runs of them."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import cloudpickle
import jax
import numpy as np
import pytest
from laws import each
from scipy import stats

import accord as ac
from accord import infer
from accord.core.errors import DataError, ModelError, OptionError, StorageError
from accord.interop import stan as door
from accord.interop.stan.build import digest_of
from accord.interop.stan.toolchain import Toolchain
from accord.interop.stan.translate import Translation
from accord.programs.cache import private_folder

pytestmark = pytest.mark.stan
pytest.importorskip("httpstan")

FOLDER = Path(__file__).parent / "stan_programs"
SCHOOLS, KINDS = FOLDER / "schools.stan", FOLDER / "kinds.stan"
RUN = dict(draws=50, warmup=100, chains=2, quiet=True)
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
DATA = {"J": 8, "y": Y, "sigma": SIGMA}


def schools_anew(data):
    dims = dict.fromkeys(("z", "theta", "y_rep", "y", "sigma"), "school")
    return door.target(SCHOOLS, data, dims=dims, coords={"school": list("ABCDEFGH")})


@cache
def schools():
    return schools_anew(DATA)


def kinds_data(mode=0, none=0):
    table, blocks = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(2, 2, 3) / 7
    return {"mode": mode, "none": none, "table": table, "blocks": blocks, "empty": np.zeros(none)}


@cache
def kinds(mode=0, none=0):
    return door.target(KINDS, kinds_data(mode, none))


DENSITIES = {"schools": lambda: schools(), "kinds": lambda: kinds(), "with two more": lambda: kinds(none=2)}


def at(density, number=0, **values):
    q = np.random.default_rng(number).normal(size=density.dim) * 0.5
    for name, value in values.items():
        q[density.layout[name].start] = value
    return q


def test_the_log_density_is_the_closed_form_with_all_constants():
    density = schools()
    for number in range(3):
        q = at(density, number)
        mu, tau, z = q[0], np.exp(q[1]), q[2:]
        terms = [stats.norm.logpdf(mu, 0, 5), stats.cauchy.logpdf(tau, 0, 5), q[1]]
        terms += [stats.norm.logpdf(z).sum(), stats.norm.logpdf(Y, mu + tau * z, SIGMA).sum()]
        np.testing.assert_allclose(density(q), sum(terms), rtol=1e-13)
        parts = jax.jit(density.program.parts)(q, density.data)
        np.testing.assert_allclose(parts.jacobian, q[1], atol=1e-13)


@each(DENSITIES)
def test_gradients_second_derivatives_and_rows_are_those_of_the_density(density):
    q, steps = at(density), np.eye(density.dim) * 1e-5
    rows = jax.jit(jax.vmap(density.value_and_grad))
    values, slopes = rows(np.concatenate([q + steps, q - steps]))
    slope = density.value_and_grad(q)[1]
    assert values[3] == density.value_and_grad(q + steps[3])[0] == density(q + steps[3])
    ups, downs = np.split(np.asarray(values), 2)
    np.testing.assert_allclose(slope, (ups - downs) / 2e-5, rtol=1e-6, atol=1e-6)
    ups, downs = np.split(np.asarray(slopes), 2)
    for hessian in (jax.hessian(density), jax.jacrev(jax.grad(density))):
        found = jax.jit(hessian)(q)
        np.testing.assert_allclose(found, (ups - downs) / 2e-5, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found, found.T, atol=1e-9)


def test_derivatives_of_values_are_those_of_a_closed_form():
    density = schools()
    q, direction = at(density), at(density, 1)
    values, moved = jax.jvp(density.constrain, (q,), (direction,))
    np.testing.assert_allclose(moved["tau"], values["tau"] * direction[1], rtol=1e-9)
    by_hand = direction[0] + moved["tau"] * values["z"] + values["tau"] * direction[2:]
    np.testing.assert_allclose(moved["theta"], by_hand, rtol=1e-9)


def test_third_derivatives_are_refused():
    with pytest.raises(ModelError, match="first and second derivatives"):
        jax.jvp(jax.hessian(schools()), (at(schools()),), (at(schools()),))


@each(DENSITIES)
def test_values_and_positions_are_inverses(density):
    q = at(density, 3)
    values = density.constrain(q)
    given = {entry.name: values[entry.name] for entry in density.layout.unknowns}
    np.testing.assert_allclose(density.unconstrain(given), q, atol=1e-10)


def test_values_have_the_shapes_and_the_order_of_the_program():
    density = kinds()
    values = density.constrain(at(density))
    shapes = {"a": (), "b": (2, 3), "p": (3,), "o": (3,), "L": (3, 3), "S": (2, 2), "m": (2, 3), "r": (2, 3)}
    assert {name: values[name].shape for name in shapes} == shapes and values["e"].shape == (0,)
    assert (values["b"] > 0).all() and np.isclose(values["p"].sum(), 1) and (np.diff(values["o"]) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(values["L"], axis=1), 1)
    np.testing.assert_array_equal(values["S"], values["S"].T)
    np.testing.assert_allclose(values["scaled"], values["a"] * kinds_data()["blocks"])
    assert values["k"].dtype == np.int64


def test_values_that_stan_refuses_are_errors_with_its_message():
    density = kinds()
    values = dict(density.constrain(at(density)))
    given = {entry.name: values[entry.name] for entry in density.layout.unknowns} | {"p": [0.5, 0.6, 0.7]}
    with pytest.raises(DataError, match=r"kinds.stan.*not a valid simplex.*line 23"):
        density.unconstrain(given)


def test_draws_have_the_programs_names_with_dims_and_data():
    draws = infer.sample(schools(), **RUN)
    assert list(draws) == ["mu", "tau", "z", "theta", "y_rep", "best"] and (draws["tau"] > 0).all()
    np.testing.assert_allclose(draws["theta"], draws["mu"][..., None] + draws["tau"][..., None] * draws["z"])
    np.testing.assert_array_equal(draws["best"], draws["theta"].argmax(-1) + 1)
    tree = draws.to_arviz()
    assert tree["posterior"]["y_rep"].dims == ("chain", "draw", "school")
    np.testing.assert_array_equal(tree["constant_data"]["sigma"].sel(school="B"), 10.0)


def test_predictions_scatter_about_their_means():
    """By 8 standard errors at most: false alarms are rarer than 1e-12 where draws were independent."""
    draws = infer.sample(schools(), draws=1000, chains=2, quiet=True)
    scaled = (draws["y_rep"] - draws["theta"]) / SIGMA
    assert abs(scaled.mean()) < 8 / np.sqrt(scaled.size)
    assert abs(np.mean(scaled**2) - 1) < 8 * np.sqrt(2 / scaled.size)


@each({"schools": lambda: schools(), "kinds, with a parallel sum": lambda: kinds()})
def test_workers_draw_the_same(density):
    reference = infer.sample(density, executor=infer.Serial(), **RUN)
    for executor in (infer.Threads(2), infer.Processes(2)):
        np.testing.assert_equal(dict(infer.sample(density, executor=executor, **RUN)), dict(reference))


def test_a_run_that_is_taken_up_again_draws_the_same(tmp_path):
    density = schools()
    whole = infer.sample(density, **RUN)
    infer.sample(density, store=infer.RunFolder(tmp_path / "run"), **{**RUN, "draws": 20})
    longer = infer.resume(tmp_path / "run", schools_anew(DATA), quiet=True).extend(30)
    np.testing.assert_equal(dict(longer), dict(whole))


def test_another_program_cannot_take_up_a_run(tmp_path):
    infer.sample(schools(), store=infer.RunFolder(tmp_path / "run"), **RUN)
    with pytest.raises(StorageError, match="argument 'y' has other values"):
        infer.resume(tmp_path / "run", schools_anew({**DATA, "y": Y + 1}), quiet=True)


def test_other_methods_take_it():
    paths = infer.pathfinder(schools(), paths=2, draws=50, quiet=True)
    assert np.isfinite(paths["y_rep"]).all()
    fit = infer.fit(schools(), infer.guides.Laplace(), quiet=True, progress=False)
    assert np.isfinite(fit.log_evidence_bound)
    started = infer.sample(
        schools(), init=infer.from_values({"mu": 3.0, "tau": 2.0, "z": np.zeros(8)}), **RUN
    )
    assert np.isfinite(started["mu"]).all()
    with pytest.raises(ModelError, match=r"likelihood cannot be told from its prior.*`ac.model`"):
        infer.smc(schools(), particles=100, quiet=True)
    for judge in (infer.predict, infer.loo):
        with pytest.raises(ModelError, match=r"generated quantities of a Stan program.*computed=\{"):
            judge(started)


def test_data_may_be_a_json_file(tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps({**{k: np.asarray(v).tolist() for k, v in DATA.items()}, "unused": [1]}))
    density = door.target(str(SCHOOLS), path)
    assert density(at(density)) == schools()(at(density))


def test_a_density_that_was_pickled_is_the_same():
    for dump in (pickle, cloudpickle):
        density = pickle.loads(dump.dumps(schools()))
        assert density(at(density)) == schools()(at(density))


def test_a_rejected_position_has_no_density_and_stans_words():
    density = kinds(1)
    q = at(density, a=0.5)
    assert density(q) == -np.inf and density.value_and_grad(q)[0] == -np.inf
    text = str(ac.density.blame(density, q))
    assert "Stan says: a is 0.5, which is too much (in 'kinds.stan', line 44" in text and "statement" in text
    assert any(said.startswith("a is 0.5,") for said in door.messages(density))
    draws = infer.sample(density, **RUN)
    assert (draws["a"] <= 0.4).all()
    notice = next(each for each in draws.notices if each.code == "divergences")
    assert "which is too much" in notice.message


def test_warnings_of_stanc_are_notices():
    assert not schools().notices
    (notice,) = kinds().notices
    assert notice.code == "stanc" and "line 16" in notice.message and "int division" in notice.message


def test_what_a_program_prints_is_kept_once_with_its_count():
    density = kinds(2)
    before = door.messages(density).get("for the record", 0)
    jax.block_until_ready(density(at(density)))
    jax.block_until_ready(density(at(density)))
    assert door.messages(density) == {"for the record": before + 2}


def test_an_index_out_of_range_ends_the_run_with_stans_words():
    with pytest.raises(Exception, match=r"Stan says: .*index 3 out of range.*line 46"):
        infer.sample(kinds(3), init=infer.from_uniform(3), **RUN)


def test_generated_quantities_after_an_error_are_missing():
    density = kinds(4)
    values = density.constrain(at(density))
    assert np.isfinite(values["a"]) and np.isfinite(values["scaled"]).all()
    assert np.isnan(values["late"])
    assert any("normal_rng: Scale parameter is -1" in said for said in door.messages(density))


WRONG_DATA = {
    "a bound": ({"mode": 9}, "mode is 9, but must be less than or equal to 5"),
    "a size": ({"table": np.zeros((3, 3))}, r"variable name=table.*declared=\(2,3\); dims found=\(3,3\)"),
    "axes": ({"table": np.zeros(3)}, r"'table' has shape \(3,\).*real numbers with 2 axes"),
    "a fraction": ({"mode": 1.5}, r"'mode' is array\(1.5\).*one whole number.*astype\(int\)"),
    "too large": ({"mode": 2**40}, "'mode' holds numbers that do not fit into 32 bits"),
    "ragged": ({"table": [[1, 2, 3], [1, 2]]}, "'table' is no array of numbers"),
    "text": ({"table": np.array([["a", "b", "c"]] * 2)}, "'table' is no array of numbers"),
    "unknown": ({"tabel": 1}, "no data 'tabel'. Did you mean 'table'"),
}


@each(WRONG_DATA)
def test_wrong_data_name_their_variable(case):
    changes, words = case
    with pytest.raises(DataError, match=words):
        door.target(KINDS, {**kinds_data(), **changes})


WRONG = {
    "missing": (lambda: door.target(SCHOOLS, {"J": 8, "y": Y}), DataError, "'sigma' is missing.*1 axis"),
    "no data": (lambda: door.target(SCHOOLS), DataError, "'J' is missing.*one whole number"),
    "no file": (lambda: door.target("nowhere.stan"), OptionError, "'nowhere.stan'.*No such file"),
    "no data file": (
        lambda: door.target(SCHOOLS, "nowhere.json"),
        OptionError,
        "'nowhere.json'.*No such file",
    ),
    "no program": (lambda: door.target(3), OptionError, "got int"),
    "an option": (lambda: door.target(SCHOOLS, DATA, seed=1), OptionError, "no option 'seed'"),
    "stanc": (
        lambda: door.target("parameters {\n  real a;\n}\nmodel {\n  a ~ norml(0, 1);\n}\n"),
        ModelError,
        r"(?s)'program.stan', line 5, column 2 .*a ~ norml\(0, 1\);.*'norml_lpdf'",
    ),
    "nothing to sample": (lambda: door.target("data { real a; }"), ModelError, "no parameters"),
    "a tuple": (
        lambda: door.target(
            "parameters { real a; } generated quantities { tuple(real, int) both = (a, 1); }"
        ),
        ModelError,
        "'both' of the program 'program.stan' is a tuple",
    ),
    "dims": (lambda: door.target(SCHOOLS, DATA, dims={"theta": ("a", "b")}), DataError, "dims names 2 axes"),
    "messages": (lambda: door.messages(3), OptionError, "from interop.stan.target"),
    "single precision": (
        lambda: infer.sample(schools(), precision="float32", **RUN),
        OptionError,
        "'schools.stan' computes in float64",
    ),
}


@each(WRONG)
def test_what_cannot_be_is_refused_with_the_remedy(case):
    call, kind, words = case
    with pytest.raises(kind, match=words):
        call()


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ImportError, match=r"'no-such-compiler' is not found. Install g"):
        door.target(SCHOOLS, DATA)


COPYING = """\
#!/bin/sh
case "$*" in *-dumpfullversion*) echo 1; exit;; esac
echo compiled >> "{log}"
while [ "$1" != -o ]; do shift; done
cp "{library}" "$2"
"""
EVALUATE = """\
import sys
import jax
from accord.interop import stan
with jax.enable_x64(True):
    density = stan.target(sys.argv[1], sys.argv[2])
    print(density.dim)
"""


def test_processes_that_begin_at_once_compile_once(tmp_path):
    """And one without a cache compiles anew; with a compiler that copies a library which is there."""
    schools()
    tools = Toolchain.find()
    library = private_folder("stan") / digest_of(Translation.of(SCHOOLS, tools).source, tools) / "program.so"
    compiler, log, data = tmp_path / "compiler", tmp_path / "log", tmp_path / "data.json"
    compiler.write_text(COPYING.format(log=log, library=shutil.copy(library, tmp_path / "copy.so")))
    compiler.chmod(0o700)
    data.write_text(json.dumps({k: np.asarray(v).tolist() for k, v in DATA.items()}))
    environment = {**os.environ, "CXX": str(compiler), "ACCORD_COMPILATION_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", EVALUATE, str(SCHOOLS), str(data)]
    begun = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in begun] == ["10", "10"]
    assert log.read_text() == "compiled\n"
    assert len([*(tmp_path / "cache" / "stan").glob("*/*")]) == 1
    without = {**environment, "ACCORD_COMPILATION_CACHE": "off"}
    assert subprocess.check_output(command, env=without, text=True).strip() == "10"
    assert log.read_text() == "compiled\n" * 2
