"""Test what draws show of a user's function: values by `constrain`, and names and labels of their axes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
from accord import LogDensity, infer
from accord.core.errors import DataError, OptionError
from accord.density.given import position_with
from accord.density.shown import Shown

RUN = dict(draws=20, warmup=20, chains=2, quiet=True)
SCHOOLS = ["Eton", "Harrow", "Rugby"]
EXAMPLE = {"mu": 0.0, "tau": 0.0, "z": np.zeros(3)}


def schools(t):
    return -0.5 * (t["mu"] ** 2 + t["tau"] ** 2 + (t["z"] ** 2).sum())


def constrained(t):
    tau = jnp.exp(t["tau"])
    return {"mu": t["mu"], "tau": tau, "z": t["z"], "theta": t["mu"] + tau * t["z"]}


def unconstrained(values):
    return {**values, "tau": jnp.log(values["tau"])}


def shown(**changes):
    options = dict(
        constrain=constrained,
        unconstrain=unconstrained,
        dims={"z": "school", "theta": ("school",)},
        coords={"school": SCHOOLS},
    )
    return LogDensity.from_function(schools, EXAMPLE, **{**options, **changes})


def test_draws_show_what_constrain_returns_with_its_dims_and_labels():
    draws = infer.sample(shown(), **RUN)
    assert list(draws) == ["mu", "tau", "z", "theta"] and (draws["tau"] > 0).all()
    np.testing.assert_allclose(draws["theta"], draws["mu"][..., None] + draws["tau"][..., None] * draws["z"])
    tree = draws.to_arviz()
    assert tree["posterior"]["theta"].dims == ("chain", "draw", "school")
    assert list(tree["posterior"]["school"].values) == SCHOOLS


def test_a_value_and_its_position_are_inverses_of_each_other():
    density = shown()
    q = np.array([0.5, -1.0, 0.1, 0.2, 0.3])
    values = density.constrain(q)
    np.testing.assert_allclose(values["tau"], np.exp(-1.0), rtol=1e-15)
    latents = {entry.name: values[entry.name] for entry in density.layout.entries}
    np.testing.assert_allclose(density.unconstrain(latents), q, rtol=1e-15)


def test_a_chain_begins_at_values_in_the_space_of_constrain():
    given = {"tau": jnp.array(3.0), "mu": jnp.array(0.25)}
    position, is_inside = position_with(shown(), given, jnp.ones(5))
    np.testing.assert_allclose(position, [0.25, np.log(3.0), 1.0, 1.0, 1.0])
    assert all(is_inside.values())
    infer.sample(shown(), init=infer.from_values(given), **RUN)
    # Below zero there is no position.
    assert not position_with(shown(), {"tau": jnp.array(-1.0)}, jnp.ones(5))[1]["tau"]


def test_leaves_that_constrain_does_not_name_are_not_shown():
    density = LogDensity.from_function(
        lambda x: -0.5 * (x**2).sum(),
        np.zeros(2),
        constrain=lambda x: {"mu": x[0], "tau": jnp.exp(x[1])},
    )
    draws = infer.sample(density, **RUN)
    assert list(draws) == ["mu", "tau"] == list(draws.to_arviz()["posterior"].data_vars)
    np.testing.assert_allclose(density.unconstrain({"x": [1.0, 2.0]}), [1.0, 2.0])
    with pytest.raises(OptionError, match=r"constrain=.*'x'.*infer\.from_values"):
        infer.sample(density, init=draws, **RUN)
    assert list(infer.fit(density, quiet=True).draw(10)) == ["mu", "tau"]


def test_whole_numbers_and_truth_values_are_shown_too():
    density = LogDensity.from_function(
        lambda x: -0.5 * x**2, 0.0, constrain=lambda x: {"n": jnp.int32(x), "is_up": x > 0}
    )
    draws = infer.sample(density, **RUN)
    assert draws["n"].dtype == np.int32 and draws["is_up"].dtype == bool


def test_a_resumed_run_shows_the_same(tmp_path):
    whole = infer.sample(shown(), **{**RUN, "draws": 30})
    infer.sample(shown(), store=infer.RunFolder(tmp_path / "run"), **RUN)
    longer = infer.resume(tmp_path / "run", shown(), quiet=True).extend(10)
    np.testing.assert_equal(dict(longer), dict(whole))


def test_data_that_a_function_holds_are_shown_and_cannot_change():
    y, held = np.arange(3.0), np.ones(2)
    density = LogDensity.of_function(
        lambda t: -0.5 * ((t - y) ** 2).sum(),
        0.0,
        "float64",
        Shown(
            dims={"y": "row", "held": "column"},
            coords={"row": SCHOOLS},
            observed={"y": y},
            constant={"held": held},
        ),
    )
    tree = infer.sample(density, **RUN).to_arviz()
    assert tree["observed_data"]["y"].dims == ("row",) and tree["constant_data"]["held"].dims == ("column",)
    assert density.with_data({"y": y}).data.keys() == {"y", "held"}
    with pytest.raises(DataError, match=r"'y' is a part of the function.*anew"):
        density.with_data({"y": y + 1})


ERRORS = {
    "no names": (dict(constrain=lambda t: t["mu"]), "values by name"),
    "names that are none": (dict(constrain=lambda t: {1: t["mu"]}), "by strings; one is named 1"),
    "no numbers": (dict(constrain=lambda t: {"mu": 1j * t["mu"]}), "'mu' of `constrain`.*real numbers"),
    "dims of nothing": (
        dict(dims={"tetha": "school"}),
        "'tetha', which draws do not show. Did you mean 'theta'",
    ),
    "too many dims": (
        dict(dims={"mu": "school"}),
        r"dims names 1 axis of 'mu' \('school'\), and its shape is \(\)",
    ),
    "a dim that is a number": (dict(dims={"z": [3]}), "of 'z' it gives 3"),
    "one dim of two sizes": (
        dict(constrain=lambda t: {"a": t["z"], "b": t["z"][:2]}, dims={"a": "k", "b": "k"}, coords={}),
        "'k' has size 3 in 'a' and 2 in 'b'",
    ),
    "labels of nothing": (
        dict(coords={"scool": SCHOOLS}),
        "'scool', which no value has. Did you mean 'school'",
    ),
    "too few labels": (
        dict(coords={"school": SCHOOLS[:2]}),
        "2 labels for the dim 'school', whose size is 3",
    ),
}


@each(ERRORS)
def test_what_does_not_fit_is_refused_before_any_work(error):
    change, words = error
    with pytest.raises(DataError, match=words):
        shown(**change)


def test_labels_that_come_twice_are_refused():
    with pytest.raises(OptionError, match="entries 0 and 1"):
        shown(coords={"school": ["a", "a", "b"]})


def test_a_value_without_its_inverse_has_no_position():
    with pytest.raises(DataError, match=r"no `unconstrain=`.*'mu', 'tau', 'z'"):
        shown(unconstrain=None).unconstrain({"mu": 0.0, "tau": 1.0, "z": np.zeros(3)})
    with pytest.raises(DataError, match="`unconstrain` returned the tree"):
        shown(unconstrain=lambda v: {"mu": v["mu"]}).unconstrain({"mu": 0.0, "tau": 1.0, "z": np.zeros(3)})


def test_an_error_in_constrain_is_the_users_own():
    def wrong(t):
        return {"tau": t["sigma"]}

    with pytest.raises(KeyError, match="sigma"):
        shown(constrain=wrong)


def test_an_unknown_option_is_named():
    with pytest.raises(OptionError, match="no_such_option"):
        ac.LogDensity.from_function(schools, EXAMPLE, no_such_option=1)


def test_derivatives_are_those_of_the_function_alone():
    density, plain = shown(), LogDensity.from_function(schools, EXAMPLE)
    q = np.linspace(-1, 1, 5)
    for one, other in zip(density.value_and_grad(q), plain.value_and_grad(q), strict=True):
        np.testing.assert_array_equal(one, other)
    assert jax.jit(density)(q) == plain(q)
