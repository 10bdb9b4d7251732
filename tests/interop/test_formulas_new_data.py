"""Predict by models of formulas for new rows and new groups, and read data of other libraries."""

import numpy as np
import pandas as pd
import pytest

import accord as ac
from accord import infer
from accord.core.errors import DataError

pytest.importorskip("formulae")

from interop.formula_tables import table

TABLE = table()
EFFECTS = "1 + x|g"


FORMS = [pytest.param(True, id="centred", marks=pytest.mark.slow), pytest.param(False, id="non-centred")]


@pytest.fixture(scope="module", params=FORMS)
def fitted(request):
    model = ac.glm("y ~ x + (x | g)", TABLE, centred=request.param)
    return model, infer.sample(model, draws=40, warmup=60, chains=2, seed=1, quiet=True, progress=False)


def predicted(fitted, groups, new_groups="population"):
    model, draws = fitted
    new = pd.DataFrame({"x": np.linspace(1, 4, len(groups)), "g": groups})
    return infer.predict(draws, model.with_data(new, new_groups=new_groups), seed=5, quiet=True)


def effects_of(found, group):
    return found[EFFECTS][:, :, list(found.coords["g"]).index(group)]


def test_a_new_group_does_not_depend_on_other_rows(fitted):
    one, other = predicted(fitted, ["q", "a", "z"]), predicted(fitted, ["z", "z", "b", "e", "q"])
    for group in ("q", "z"):
        assert np.array_equal(effects_of(one, group), effects_of(other, group))
    assert not np.any(effects_of(one, "q") == effects_of(one, "z"))
    _, draws = fitted
    place = list(draws.coords["g"]).index("b")
    assert np.allclose(effects_of(other, "b"), draws[EFFECTS][:, :, place], rtol=1e-12, atol=1e-12)


def test_new_groups_are_drawn_from_their_population(fitted):
    """The standardised effects of 400 new groups have the mean squares of a chi-squared variable with 2 * 400 degrees.

    They are dependent within a draw only by the covariance that is divided out. A z-score beyond 6 has a false-alarm
    rate of 2e-9.
    """
    labels = [f"new{place}" for place in range(400)]
    found = predicted(fitted, labels)
    _, draws = fitted
    scale = draws[f"{EFFECTS}_sd"][..., :, None] * draws[f"{EFFECTS}_corr"]
    effects = np.stack([effects_of(found, label) for label in labels], -1)
    standard = np.linalg.solve(scale, effects)
    total, count = float((standard**2).sum()), standard.size
    assert abs(total - count) < 6 * np.sqrt(2 * count)
    assert abs(float(standard.sum())) < 6 * np.sqrt(count)


def test_the_average_group_has_no_effects(fitted):
    _, draws = fitted
    found = predicted(fitted, ["q", "a"], "average")
    noise = found["y"][..., 0] - draws["Intercept"] - draws["x"] * 1.0
    assert abs(float((noise / draws["sigma"]).mean())) < 6 / np.sqrt(noise.size)
    known = predicted(fitted, ["c", "a"], "average")
    assert np.array_equal(known["y"][..., 1], found["y"][..., 1])


@pytest.mark.slow
def test_effects_of_categories_are_drawn_for_new_groups():
    model = ac.glm("h ~ (1 | g)", TABLE, "categorical")
    draws = infer.sample(model, draws=20, warmup=40, chains=1, seed=1, quiet=True, progress=False)
    new = pd.DataFrame({"g": ["q", "b", "q"]})
    found = infer.predict(draws, model.with_data(new, new_groups="population"), quiet=True)
    assert found["1|g"].shape == (1, 20, 7, 2) and found["h"].shape == (1, 20, 3)
    assert np.allclose(found["1|g"][:, :, 1], draws["1|g"][:, :, 1])
    assert len(np.unique(found["1|g"][:, :, 6])) == 40
    average = infer.predict(draws, model.with_data(new, new_groups="average"), quiet=True)
    assert np.array_equal(average["h"][..., 1], found["h"][..., 1])


@pytest.mark.slow
def test_other_functions_take_the_model(fitted):
    model, draws = fitted
    assert infer.loo(draws).elpd < 0
    assert infer.log_likelihood(draws, model.with_data(TABLE.head(5)))["y"].shape == (2, 40, 5)
    assert infer.check(model).ok
    assert model.prior(draws=3, quiet=True)["y"].shape == (1, 3, 60)


@pytest.mark.slow
def test_a_stored_run_is_resumed_by_the_same_formula(tmp_path):
    options = {"chains": 1, "seed": 2, "quiet": True, "progress": False, "warmup": 20}
    whole = infer.sample(ac.glm("y ~ x", TABLE), draws=30, **options)
    infer.sample(ac.glm("y ~ x", TABLE), draws=10, store=infer.RunFolder(tmp_path / "run"), **options)
    assert infer.load(tmp_path / "run").num_draws == 10
    found = infer.resume(tmp_path / "run", ac.glm("y ~ x", TABLE), quiet=True, progress=False)
    assert np.array_equal(found["x"], whole["x"][:, :10])
    ahead = infer.predict(
        infer.load(tmp_path / "run"), ac.glm("y ~ x", TABLE).with_data({"x": [1.0, 2.0]}), quiet=True
    )
    assert ahead["y"].shape == (1, 10, 2)


def test_missing_rows_are_dropped_and_counted(capsys):
    holes = TABLE.assign(x=TABLE["x"].where(TABLE["x"] > 2), z=np.nan)  # z is not in the formula
    model = ac.glm("y ~ x", holes, missing="drop")
    num_dropped = int((TABLE["x"] <= 2).sum())
    assert num_dropped > 0 and len(model.arguments["x"]) == 60 - num_dropped
    assert f"{num_dropped} of 60 rows" in capsys.readouterr().err
    ac.glm("y ~ x", holes, missing="drop", quiet=True)
    assert not capsys.readouterr().err
    with pytest.raises(DataError, match=f"{num_dropped} in 'x'"):
        model.with_data(holes)


def test_outcomes_are_used_where_new_data_have_them():
    model = ac.glm("log(positive) ~ x", TABLE)
    assert model.with_data(TABLE.head(3)).arguments["log_positive"].shape == (3,)
    assert model.with_data(TABLE[["x"]].head(3)).arguments["log_positive"] is None


SOURCES = {
    "dictionary": lambda frame: frame.to_dict("list"),
    "arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "polars": lambda frame: pytest.importorskip("polars").DataFrame(frame.to_dict("list")),
    "arrow": lambda frame: pytest.importorskip("pyarrow").table(frame.to_dict("list")),
    "dataset": lambda frame: pytest.importorskip("xarray").Dataset.from_dataframe(frame),
    "levels": lambda frame: {name: ac.levels(frame[name]) if name in "hg" else frame[name] for name in frame},
    "other index": lambda frame: frame.set_index(np.arange(60)[::-1]),
}


@pytest.mark.parametrize("source", SOURCES)
def test_data_of_other_libraries_make_the_same_model(source):
    frame = TABLE[["y", "x", "h", "g"]]
    model, other = (ac.glm("y ~ x + h + (1 | g)", data) for data in (frame, SOURCES[source](frame)))
    assert str(model.source) == str(other.source)
    for name, value in model.arguments.items():
        if name == "g":
            assert value.levels == other.arguments[name].levels
            value, found = value.codes, other.arguments[name].codes
        else:
            found = other.arguments[name]
        assert np.array_equal(value, found), name


def test_categories_keep_their_order_and_lose_those_without_rows():
    ordered = pd.Categorical(TABLE["h"], categories=["red", "none", "green", "blue"])
    model = ac.glm("y ~ h", TABLE.assign(h=ordered))
    assert 'coords=["green", "blue"]' in str(model.source)  # beside "red", the first
    assert np.array_equal(model.arguments["h"][:, 0], TABLE["h"] == "green")


def test_groups_within_groups_are_those_that_are_there():
    frame = TABLE[~((TABLE["g"] == "a") & (TABLE["w"] == "u"))]
    levels = ac.glm("y ~ (1 | g/w)", frame).arguments["g_w"].levels
    assert levels[0] == "a:v" and "a:u" not in levels and len(levels) == 11
