"""Hold models of formulas to their code, their densities, and the errors that they raise before anything is run."""

import math
import pickle

import jax
import numpy as np
import pandas as pd
import pytest
from laws import compiled, each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import DataError, OptionError

pytest.importorskip("formulae")

from interop.formula_tables import table

TABLE = table()
FORMULAS = {
    "gaussian": ("y ~ x + h", "gaussian"),
    "t": ("y ~ x*h", "t"),
    "no intercept": ("y ~ 0 + h + z", "gaussian"),
    "intercept alone": ("y ~ 1", "gaussian"),
    "computed": ("log(positive) ~ scale(x) + np.sqrt(z)", "gaussian"),
    "correlated": ("y ~ x + (x | g)", "gaussian"),
    "independent": ("y ~ x + (x + z || g)", "gaussian"),
    "nested": ("count ~ x + (1 | g/w)", "poisson"),
    "levels by group": ("y ~ 1 + (0 + h | g)", "gaussian"),
    "spline": ("count ~ bs(x, df=4) + offset(log(z))", "negativebinomial"),
    "bernoulli": ("yes ~ x", "bernoulli"),
    "level": ("w['v'] ~ x", "bernoulli"),
    "binomial": ("prop(hits, trials) ~ x + (1 | g)", "binomial"),
    "fixed trials": ("prop(hits, 9) ~ x", "binomial"),
    "gamma": ("positive ~ x", "gamma"),
    "beta": ("share ~ x", "beta"),
    "lognormal": ("positive ~ x", "lognormal"),
    "categorical": ("h ~ x + w", "categorical"),
    "categorical groups": ("h ~ x + (x | g) + (0 + x || w)", "categorical"),
    "cumulative": ("grade ~ x + (1 | g)", "cumulative"),
    "zero-inflated poisson": ("count ~ x", "zero_inflated_poisson"),
    "zero-inflated negative binomial": ("count ~ x", "zero_inflated_negativebinomial"),
    "zero-inflated binomial": ("prop(hits, trials) ~ x", "zero_inflated_binomial"),
    "hurdle poisson": ("count ~ x", "hurdle_poisson"),
    "hurdle negative binomial": ("count ~ x", "hurdle_negativebinomial"),
    "hurdle gamma": ("often_zero ~ x", "hurdle_gamma"),
    "hurdle lognormal": ("often_zero ~ x", "hurdle_lognormal"),
}


COMPILED = FORMULAS.keys() - {"correlated", "spline", "categorical", "cumulative"}
DRAWN = FORMULAS.keys() - {"independent", "binomial"}
"""What is left to the slow tests, since each takes seconds."""


def pasted(model: ac.Model) -> ac.Model:
    """The model that a user gets who pastes the printed code into a file."""
    namespace: dict = {}
    exec(str(model.source), namespace)
    return namespace["glm"](**model.arguments)


def at_a_point(model: ac.Model) -> float:
    density = model.log_density()
    return float(compiled(density)(np.random.default_rng(0).uniform(-1, 1, density.dim)))


@each(FORMULAS, slow=COMPILED)
def test_the_printed_code_is_the_same_model(formula):
    model = ac.glm(formula[0], TABLE, formula[1])
    assert np.isfinite(at_a_point(model))
    assert at_a_point(model) == at_a_point(pasted(model))
    assert str(model.sites()) == str(pasted(model).sites())
    assert max(map(len, str(model.source).splitlines())) <= 120


@each(FORMULAS, slow=DRAWN)
def test_new_data_have_the_parameters_of_the_fit(formula):
    model = ac.glm(formula[0], TABLE, formula[1])
    new = model.with_data(TABLE.drop(columns=["y", "count", "hits", "positive", "grade"]).head(7))
    traces = [handlers.trace(handlers.seed(each, 0)).get_trace() for each in (model, new)]
    own, other = ({name: np.shape(site.value) for name, site in trace.items()} for trace in traces)
    (outcome,) = (name for name in own if own[name] != other[name])
    assert (own.pop(outcome), other.pop(outcome)) == ((60,), (7,))
    assert own == other


@each(FORMULAS)
def test_the_same_rows_have_the_same_columns_as_new_data(formula):
    model = ac.glm(formula[0], TABLE, formula[1])
    for name, value in model.with_data(TABLE).arguments.items():
        own = model.arguments[name]
        for one, other in zip(jax.tree.leaves(value), jax.tree.leaves(own), strict=True):
            assert np.array_equal(one, other), name


def log_joint(model: ac.Model, values: dict) -> float:
    given = {name: np.asarray(value, float)[None, None] for name, value in values.items()}
    return float(np.squeeze(infer.log_joint(given, model)))


def test_a_correlated_block_has_its_density():
    model = ac.glm("y ~ x + (x | g)", TABLE, centred=True)
    rng = np.random.default_rng(1)
    sd, rho, effects = np.array([0.8, 0.3]), 0.4, rng.normal(0, 0.5, (6, 2))
    corr = np.array([[1, 0], [rho, math.sqrt(1 - rho**2)]])
    values = {"x": 0.4, "Intercept_centred": 2.4, "sigma": 0.6, "1 + x|g_sd": sd, "1 + x|g_corr": corr}
    found = log_joint(model, {**values, "1 + x|g": effects})

    x, y, place = TABLE["x"], TABLE["y"], TABLE["g"].map("abcdef".index)
    slope = 2.5 * y.std(ddof=0) / x.std(ddof=0)
    level = math.hypot(2.5 * y.std(ddof=0), slope * x.mean())
    covariance = np.outer(sd, sd) * np.array([[1, rho], [rho, 1]])
    mean = 2.4 + 0.4 * (x - x.mean()) + effects[place, 0] + effects[place, 1] * x
    expected = (
        stats.norm(0, slope).logpdf(0.4)
        + stats.norm(y.mean(), level).logpdf(2.4)
        + stats.halfnorm(scale=[level, slope]).logpdf(sd).sum()
        + math.log(
            0.5
        )  # of the correlation, uniform between -1 and 1: the entry of the factor below the diagonal
        + stats.multivariate_normal(np.zeros(2), covariance).logpdf(effects).sum()
        + math.log(2)
        + stats.t(4, scale=y.std(ddof=0)).logpdf(0.6)
        + stats.norm(mean, 0.6).logpdf(y).sum()
    )
    assert math.isclose(found, expected, abs_tol=1e-4)  # six digits of the priors' widths


def test_non_centred_and_centred_blocks_are_the_same_distribution():
    rng = np.random.default_rng(2)
    standard, sd, corr = rng.normal(size=(6, 2)), np.array([0.8, 0.3]), np.array([[1, 0], [0.6, 0.8]])
    values = {"x": 0.4, "Intercept_centred": 2.4, "sigma": 0.6, "1 + x|g_sd": sd, "1 + x|g_corr": corr}
    one, other = (ac.glm("y ~ x + (x | g)", TABLE, centred=each) for each in (False, True))
    effects = standard @ (sd[:, None] * corr).T
    jacobian = 6 * math.log(0.8 * 0.3 * 0.8)
    found = log_joint(one, {**values, "1 + x|g_base": standard})
    assert math.isclose(found, log_joint(other, {**values, "1 + x|g": effects}) + jacobian, abs_tol=1e-9)


@pytest.mark.parametrize("centred", [False, True])
def test_effects_of_categories_have_their_density(centred):
    """Those of a category are correlated among themselves, and independent of the other categories'."""
    model = ac.glm("h ~ 1 + (x | g)", TABLE, "categorical", centred=centred)
    rng = np.random.default_rng(4)
    sd, rho, standard = np.array([[0.8, 0.5], [0.3, 0.6]]), np.array([0.4, -0.7]), rng.normal(size=(6, 2, 2))
    corr = np.array([[[1, 0], [each, math.sqrt(1 - each**2)]] for each in rho])
    factor = sd.T[:, :, None] * corr  # by category
    effects = np.stack([standard[:, k] @ factor[k].T for k in range(2)], 1)
    values = {"Intercept": [0.2, -0.4], "1 + x|g_sd": sd, "1 + x|g_corr": corr}
    values |= {"1 + x|g": effects} if centred else {"1 + x|g_base": standard}
    found = log_joint(model, values)

    x, place = TABLE["x"].to_numpy(), TABLE["g"].map("abcdef".index).to_numpy()
    eta = np.array([0.2, -0.4]) + effects[place, :, 0] + x[:, None] * effects[place, :, 1]
    logits = np.concatenate([np.zeros((60, 1)), eta], 1)
    codes = TABLE["h"].map(["blue", "green", "red"].index).to_numpy()
    of_effects = stats.norm().logpdf(standard).sum()
    if centred:
        of_effects = sum(
            stats.multivariate_normal(np.zeros(2), factor[k] @ factor[k].T).logpdf(effects[:, k]).sum()
            for k in range(2)
        )
    expected = (
        stats.norm(0, 2.5).logpdf([0.2, -0.4]).sum()
        + stats.halfnorm(scale=np.array([[2.5], [2.5 / x.std()]])).logpdf(sd).sum()
        + 2 * math.log(0.5)  # correlations are uniform
        + of_effects
        + (logits[np.arange(60), codes] - np.log(np.exp(logits).sum(1))).sum()
    )
    assert math.isclose(found, expected, abs_tol=1e-4)  # six digits of the priors' widths


def test_thresholds_are_given_back_for_predictors_at_zero():
    model = ac.glm("grade ~ x", TABLE, "cumulative")
    values = {"x": 0.7, "threshold_centred": np.array([-0.5, 0.9])}
    found = log_joint(model, values)
    x = TABLE["x"]
    slope = 2.5 / x.std(ddof=0)
    cut = values["threshold_centred"] + 0.7 * x.mean()
    below = stats.logistic.cdf(cut[None] - 0.7 * x.to_numpy()[:, None])
    table_of = np.diff(np.concatenate([np.zeros((60, 1)), below, np.ones((60, 1))], 1))
    codes = TABLE["grade"].cat.codes.to_numpy()
    expected = (
        stats.norm(0, slope).logpdf(0.7)
        + stats.norm(0, 2.5).logpdf([-0.5, 0.9]).sum()
        + math.log(2)  # orders of two thresholds
        + np.log(table_of[np.arange(60), codes]).sum()
    )
    assert math.isclose(found, expected, abs_tol=1e-4)


@pytest.mark.parametrize("family", ["lognormal", "hurdle_lognormal"])
def test_priors_of_logarithms_are_scaled_by_logarithms(family):
    y = TABLE["positive" if family == "lognormal" else "often_zero"]
    model = ac.glm(f"{y.name} ~ 1", TABLE, family)
    values = {"Intercept": 0.3, "sigma": 0.8} | ({"psi": 0.6} if family != "lognormal" else {})
    logs = np.log(y[y > 0])
    expected = (
        stats.norm(logs.mean(), 2.5 * logs.std(ddof=0)).logpdf(0.3)
        + stats.t(4, scale=logs.std(ddof=0)).logpdf(0.8)
        + math.log(2)
        + (stats.norm(0.3, 0.8).logpdf(logs) - logs).sum()
    )
    if family != "lognormal":
        num_zero = int((y == 0).sum())
        expected += stats.beta(2, 2).logpdf(0.6) + num_zero * math.log(0.4) + len(logs) * math.log(0.6)
    assert math.isclose(log_joint(model, values), expected, abs_tol=1e-4)


def test_the_intercept_is_given_back_for_predictors_at_zero():
    model = ac.glm("y ~ x + h", TABLE)
    values = {"x": [[0.5]], "Intercept_centred": [[2.0]], "h": [[[0.1, -0.3]]], "sigma": [[1.0]]}
    found = infer.predict({name: np.array(each) for name, each in values.items()}, model, quiet=True)
    share = [(TABLE["h"] == level).mean() for level in ("green", "red")]
    expected = 2.0 - 0.5 * TABLE["x"].mean() - 0.1 * share[0] + 0.3 * share[1]
    assert math.isclose(float(np.squeeze(found["Intercept"])), expected, abs_tol=1e-5)


def test_effects_are_centred_where_groups_have_twenty_rows():
    long = pd.concat([TABLE, TABLE])
    assert "1|g_base" in [site.name for site in ac.glm("y ~ x + (1|g)", TABLE).sites()]
    assert "1|g_base" not in [site.name for site in ac.glm("y ~ x + (1|g)", long).sites()]
    both = ac.glm("y ~ x + (1|g) + (1|w)", long, centred={"1|g": False, "1|w": True}).sites()
    assert {"1|g_base", "1|w"} <= {site.name for site in both if site.kind == "latent"}


def test_priors_of_the_user_are_in_the_code():
    priors = {"x": dist.Normal(0, 1), "1|g_sd": dist.Exponential(2.0), "sigma": dist.HalfNormal(0.5)}
    priors["h"] = dist.StudentT(3, 0, np.array([1.0, 2.0]))
    source = str(ac.glm("y ~ x + h + (1|g)", TABLE, priors=priors).source)
    for code in ("dist.Normal(loc=0, scale=1)", "dist.Exponential(rate=2.0)", "scale=jnp.array([1.0, 2.0])"):
        assert code in source
    numbers = {"x": dist.TruncatedNormal(np.float64(0), np.float32(0.5), low=-np.inf, high=np.array(np.inf))}
    assert "loc=0.0, scale=0.5, low=-jnp.inf, high=jnp.inf" in str(
        ac.glm("y ~ x", TABLE, priors=numbers).source
    )
    truncated = dist.Normal(0, 1).truncate(low=0)
    model = ac.glm("y ~ x", TABLE, priors={"x": truncated, "Intercept": dist.Normal(2, 1)})
    assert model.sites().rows[0].distribution == "TruncatedNormal"


def test_priors_have_an_entry_for_each_number_or_are_one_for_all():
    cases = (
        ("y ~ h", "gaussian", {"h": dist.Normal(np.zeros(2), 1)}),
        (
            "y ~ (x|g)",
            "gaussian",
            {"1 + x|g_sd": dist.HalfNormal(np.array([1.0, 2.0])), "1 + x|g_corr": dist.LKJCholesky(2, 3)},
        ),
        (
            "h ~ x",
            "categorical",
            {"x": dist.Normal(np.array([0.0, 1.0]), 1), "Intercept": dist.Normal(np.array([0.0, 1.0]), 1)},
        ),
        (
            "h ~ (x|g)",
            "categorical",
            {"1 + x|g_sd": dist.HalfNormal(np.array([1.0, 2.0])), "1 + x|g_corr": dist.LKJCholesky(2, 3)},
        ),
        ("h ~ (1|g)", "categorical", {"1|g_sd": dist.HalfNormal(np.array([1.0, 2.0]))}),
        ("h ~ h2", "categorical", {"h2": dist.Normal(np.zeros(2), 1), "Intercept": dist.Normal(0, 1)}),
    )
    table = TABLE.assign(h2=TABLE["h"].to_numpy()[::-1])
    for formula, family, priors in cases:
        found = ac.glm(formula, table, family, priors=priors).log_density()
        assert np.isfinite(found(np.zeros(found.dim))), formula


def test_the_code_does_not_depend_on_rounding_in_the_data():
    noisy = TABLE.assign(x=TABLE["x"] * (1 + 1e-15), y=TABLE["y"] * (1 - 1e-15))
    assert str(ac.glm("y ~ scale(x) + x", noisy).source) == str(ac.glm("y ~ scale(x) + x", TABLE).source)
    far = TABLE.assign(x=1e6 + TABLE["x"])  # the mean keeps the digits that its standard deviation needs
    mean = float(str(ac.glm("y ~ x", far).source).split("mean_x = ")[1].split("\n")[0])
    assert abs(mean - far["x"].mean()) < 1e-6


def test_a_column_may_have_the_name_of_a_parameter_of_another_family():
    frame = TABLE.assign(alpha=TABLE["x"], threshold=TABLE["z"])
    sites = {site.name for site in ac.glm("y ~ alpha + threshold", frame).sites()}
    assert {"alpha", "threshold", "sigma"} <= sites


def test_equal_formulas_share_their_function_and_models_travel():
    model, again = (ac.glm("y ~ x + (x | g)", TABLE) for _ in range(2))
    assert model.source == again.source and model.source.function is again.source.function
    back = pickle.loads(pickle.dumps(model))
    assert back.source == model.source and str(back.source) == str(model.source)
    with pytest.raises(OptionError, match="code alone"):
        back.with_data(TABLE)


class OfOnesOwn(dist.Normal):
    """A distribution that is not among accord's."""


ERRORS = {
    "unknown column": (lambda: ac.glm("y ~ xx", TABLE), DataError, ("'xx'", "'x'")),
    "unknown group": (lambda: ac.glm("y ~ (1|gg)", TABLE), DataError, ("'gg'", "'g'")),
    "unknown function": (
        lambda: ac.glm("y ~ logg(x)", TABLE),
        OptionError,
        ("'logg'", "'log'", "functions="),
    ),
    "no tilde": (lambda: ac.glm("y + x", TABLE), OptionError, ("outcome ~ terms",)),
    "no parentheses": (lambda: ac.glm("y ~ x | g", TABLE), OptionError, ("in parentheses",)),
    "open bracket": (lambda: ac.glm("y ~ (x", TABLE), OptionError, ("lacks a ')'",)),
    "not a formula": (lambda: ac.glm("y ~ x +* z", TABLE), OptionError, ("not those of a formula",)),
    "group computed": (lambda: ac.glm("y ~ (1|C(g))", TABLE), OptionError, ("Make it a column",)),
    "twice": (lambda: ac.glm("y ~ (1|g) + (1|g)", TABLE), OptionError, ("'1|g' twice",)),
    "family": (lambda: ac.glm("y ~ x", TABLE, "poison"), OptionError, ("'poison'", "'poisson'", "gaussian")),
    "link": (lambda: ac.glm("y ~ x", TABLE, link="logit"), OptionError, ("'logit'", "identity")),
    "prior": (
        lambda: ac.glm("y ~ x", TABLE, priors={"X": dist.Normal(0, 1)}),
        OptionError,
        ("'X'", "'x'", "sigma"),
    ),
    "prior kind": (
        lambda: ac.glm("y ~ x", TABLE, priors={"x": 3}),
        OptionError,
        ("'x'", "dist.Normal(0, 1)"),
    ),
    "priors that are no mapping": (
        lambda: ac.glm("y ~ x", TABLE, priors=dist.Normal(0, 1)),
        OptionError,
        ("priors must map names", "Normal", '{"x": dist.Normal(0, 1)}'),
    ),
    "priors in a list": (
        lambda: ac.glm("y ~ x", TABLE, priors=[("x", dist.Normal(0, 1))]),
        OptionError,
        ("priors must map names", "'x'"),
    ),
    "a prior without a name": (
        lambda: ac.glm("y ~ x", TABLE, priors={0: dist.Normal(0, 1)}),
        OptionError,
        ("the key 0", "have names"),
    ),
    "prior of several for one number": (
        lambda: ac.glm("y ~ x", TABLE, priors={"x": dist.Normal(np.zeros(3), 1)}),
        OptionError,
        ("'x'", "shape (3,)", "one number", "dist.Normal(0, 1)"),
    ),
    "prior of a vector for one number": (
        lambda: ac.glm("y ~ x", TABLE, priors={"sigma": dist.Dirichlet(np.ones(2))}),
        OptionError,
        ("'sigma'", "event of shape (2,)", "one number"),
    ),
    "prior of too few for a term": (
        lambda: ac.glm("y ~ h", TABLE, priors={"h": dist.Normal(np.zeros(3), 1)}),
        OptionError,
        ("'h'", "shape (3,)", "2 numbers", "the shape (2,)"),
    ),
    "prior of several for an intercept": (
        lambda: ac.glm("y ~ x", TABLE, priors={"Intercept": dist.Normal(0, np.ones(60))}),
        OptionError,
        ("'Intercept'", "shape (60,)", "one number"),
    ),
    "prior of several for one standard deviation": (
        lambda: ac.glm("y ~ (1|g)", TABLE, priors={"1|g_sd": dist.HalfNormal(np.ones(2))}),
        OptionError,
        ("'1|g_sd'", "shape (2,)", "one number"),
    ),
    "prior of too many standard deviations": (
        lambda: ac.glm("y ~ (x|g)", TABLE, priors={"1 + x|g_sd": dist.HalfNormal(np.ones(3))}),
        OptionError,
        ("'1 + x|g_sd'", "shape (3,)", "2 numbers ('1', 'x')"),
    ),
    "prior of correlations of another size": (
        lambda: ac.glm("y ~ (x|g)", TABLE, priors={"1 + x|g_corr": dist.LKJCholesky(3, 1)}),
        OptionError,
        ("'1 + x|g_corr'", "(3, 3)", "(2, 2)", "dist.LKJCholesky(2, 1)"),
    ),
    "prior of correlations and not of their factor": (
        lambda: ac.glm("y ~ (x|g)", TABLE, priors={"1 + x|g_corr": dist.LKJ(2, 1)}),
        OptionError,
        ("'1 + x|g_corr'", "Cholesky factor", "dist.LKJCholesky(2, 1)"),
    ),
    "prior of each threshold": (
        lambda: ac.glm("hits ~ x", TABLE, "cumulative", priors={"threshold": dist.Normal(np.arange(3.0), 1)}),
        OptionError,
        ("'threshold'", "shape (3,)", "have one prior"),
    ),
    "prior of categories that there are not": (
        lambda: ac.glm("h ~ x", TABLE, "categorical", priors={"x": dist.Normal(np.zeros(3), 1)}),
        OptionError,
        ("'x'", "shape (3,)", "2 numbers"),
    ),
    "prior of one's own": (
        lambda: ac.glm("y ~ x", TABLE, priors={"x": OfOnesOwn(0, 1)}),
        OptionError,
        ("'x'", "cannot be written as code"),
    ),
    "centred": (lambda: ac.glm("y ~ (1|g)", TABLE, centred={"g": True}), OptionError, ("'g'", "'1|g'")),
    "words": (lambda: ac.glm("h ~ x", TABLE), DataError, ("'h'", "finite number", "words")),
    "words for a level": (lambda: ac.glm("w ~ x", TABLE, "bernoulli"), DataError, ("w['v']",)),
    "unknown level": (lambda: ac.glm("w['z'] ~ x", TABLE, "bernoulli"), DataError, ("u, v",)),
    "negative count": (
        lambda: ac.glm("y ~ x", TABLE.assign(y=np.r_[[2.0, -1.0], np.ones(58)]), "poisson"),
        DataError,
        ("row 1, counted from 0, has -1", "count"),
    ),
    "too many successes": (
        lambda: ac.glm("prop(hits, 3) ~ x", TABLE, "binomial"),
        DataError,
        ("no more successes than trials",),
    ),
    "no trials": (lambda: ac.glm("hits ~ x", TABLE, "binomial"), OptionError, ("prop(successes, trials)",)),
    "trials": (lambda: ac.glm("prop(hits, trials) ~ x", TABLE), OptionError, ("without trials",)),
    "no order": (lambda: ac.glm("h ~ x", TABLE, "cumulative"), DataError, ("without an order",)),
    "ordered without intercept": (
        lambda: ac.glm("grade ~ 0 + x", TABLE, "cumulative"),
        OptionError,
        ("thresholds",),
    ),
    "categorical offset": (
        lambda: ac.glm("h ~ offset(x)", TABLE, "categorical"),
        OptionError,
        ("'categorical'", "no offsets"),
    ),
    "prior of another number of categories": (
        lambda: ac.glm("h ~ (1|g)", TABLE, "categorical", priors={"1|g_sd": dist.HalfNormal(np.ones(3))}),
        OptionError,
        ("'1|g_sd'", "shape (3,)", "2 numbers ('green', 'red')"),
    ),
    "a caret": (lambda: ac.glm("y ~ (x + z)^2", TABLE), OptionError, ("'^'", "`**`", "I(x**2)")),
    "all columns": (lambda: ac.glm("y ~ .", TABLE), OptionError, ("Name the columns",)),
    "a factor of R": (lambda: ac.glm("y ~ factor(h)", TABLE), OptionError, ("'factor'", "C(h)")),
    "counts of R": (
        lambda: ac.glm("cbind(hits, trials) ~ x", TABLE, "gaussian"),
        OptionError,
        ("'cbind'", "prop(successes, trials)"),
    ),
    "constant": (lambda: ac.glm("y ~ one", TABLE.assign(one=1.0)), DataError, ("'one'", "same in all rows")),
    "constant outcome": (lambda: ac.glm("one ~ x", TABLE.assign(one=1.0)), DataError, ("'one'", "explain")),
    "constant but for rounding": (
        lambda: ac.glm("y ~ one", TABLE.head(6).assign(one=0.1)),  # np.std is 1e-17
        DataError,
        ("'one'", "same in all rows"),
    ),
    "constant outcome but for rounding": (
        lambda: ac.glm("one ~ x", TABLE.head(6).assign(one=0.1)),
        DataError,
        ("'one'", "explain"),
    ),
    "not finite": (lambda: ac.glm("y ~ log(x - 4)", TABLE), DataError, ("log(x - 4)", "not finite")),
    "name of a parameter": (
        lambda: ac.glm("y ~ sigma", TABLE.assign(sigma=TABLE["x"])),
        OptionError,
        ("Rename",),
    ),
    "outcome with the name of a parameter": (
        lambda: ac.glm("sigma ~ x", TABLE.assign(sigma=TABLE["y"])),
        OptionError,
        ("'sigma'", "Rename"),
    ),
    "group with the name of a parameter": (
        lambda: ac.glm("y ~ (1|sigma)", TABLE.assign(sigma=TABLE["g"])),
        OptionError,
        ("'sigma'", "Rename"),
    ),
    "group with the name of the plate": (
        lambda: ac.glm("y ~ (1|obs)", TABLE.assign(obs=TABLE["g"])),
        OptionError,
        ("'obs'", "Rename"),
    ),
    "trials with the name of a parameter": (
        lambda: ac.glm("prop(hits, psi) ~ x", TABLE.assign(psi=TABLE["trials"]), "zero_inflated_binomial"),
        OptionError,
        ("'psi'", "Rename"),
    ),
    "outcome as a term": (lambda: ac.glm("y ~ x + y", TABLE), OptionError, ("'y'", "Leave it out")),
    "missing": (
        lambda: ac.glm(
            "y ~ x + h",
            TABLE.assign(x=TABLE["x"].where(TABLE["x"] > 2), h=TABLE["h"].where(TABLE["w"] == "u")),
        ),
        DataError,
        ("in 'x'", "in 'h'", 'missing="drop"'),
    ),
    "lengths": (lambda: ac.glm("y ~ x", {"y": [1.0, 2.0], "x": [1.0]}), DataError, ("same number of rows",)),
    "dates": (
        lambda: ac.glm("y ~ d", TABLE.assign(d=pd.date_range("2024-01-01", periods=60))),
        DataError,
        ("'d'", "dates"),
    ),
    "new level": (
        lambda: ac.glm("y ~ h", TABLE).with_data({"h": ["red", "pink"]}),
        DataError,
        ("'pink'", "'h'"),
    ),
    "new group": (
        lambda: ac.glm("y ~ (1|g)", TABLE).with_data({"g": ["a", "q"]}),
        DataError,
        ("'q'", '"population"', '"average"'),
    ),
    "new column": (lambda: ac.glm("y ~ x", TABLE).with_data({"X": [1.0]}), DataError, ("'x'",)),
}


@each(ERRORS)
@pytest.mark.filterwarnings("ignore:invalid value encountered in log")
def test_errors_say_what_to_do(case):
    call, error, words = case
    with pytest.raises(error) as found:
        call()
    for word in words:
        assert word in str(found.value), str(found.value)
