"""Draw blocks by formulas: known answers, formulas that are wrong, the same bits however run, and errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from ctrl_c import pressed_once
from paced import paced
from test_gibbs import equal, evaluations
from test_whole_numbers import MODEL as LABELLED
from test_whole_numbers import SIGNS, Y, exact_labels

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam
from accord.core.errors import AccordError, OptionError, StorageError
from accord.mcmc.draws import Draws
from accord.programs.compiler import PROGRAMS

OPTIONS: dict[str, Any] = dict(draws=300, warmup=100, chains=3, seed=4, progress=False, quiet=True)
LONG: dict[str, Any] = OPTIONS | dict(draws=4000, warmup=200, chains=4)
ALONE: dict[str, Any] = OPTIONS | dict(chains=[2])
VALUES = np.array([2.1, 1.4, 3.3, 2.7, 0.2])


@ac.model
def normal(y: Any) -> None:
    mu = ac.sample("mu", dist.Normal(0, 10))
    sigma = ac.sample("sigma", dist.HalfNormal(2))
    ac.deterministic("shifted", mu + 1)
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mu, sigma), obs=y)


def normal_mean(values: Any, scale: float = 1.0) -> Any:
    precision = 0.01 + len(values["y"]) / values["sigma"] ** 2
    return dist.Normal(values["y"].sum() / values["sigma"] ** 2 / precision, scale * precision**-0.5)


def exact_normal() -> dict[str, Any]:
    """Means and second moments, by a sum over a grid."""
    mu, sigma = np.meshgrid(np.linspace(-12, 16, 2801), np.linspace(5e-3, 14, 2800), indexing="ij")
    log_density = -0.5 * (mu / 10) ** 2 - 0.5 * (sigma / 2) ** 2 - len(VALUES) * np.log(sigma)
    log_density -= 0.5 * sum((y - mu) ** 2 for y in VALUES) / sigma**2
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    return {"mu": (weight * mu).sum(), "sigma": (weight * sigma).sum(), "mu2": (weight * mu**2).sum()}


def labels(values: Any) -> Any:
    logits = jnp.log(jnp.array([0.3, 0.3, 0.4])) - 0.5 * (values["y"][:, None] - values["mu"] * SIGNS) ** 2
    return dist.Categorical(logits=logits)


def label_mean(values: Any) -> Any:
    sign = jnp.asarray(SIGNS)[values["z"]]
    precision = 1 + (sign**2).sum()
    return dist.Normal((1 + (sign * Y).sum()) / precision, precision**-0.5)


@ac.model
def bounded() -> None:
    """A number whose largest value is another one, and two that are independent given those."""
    top = ac.sample("top", dist.Gamma(3.0, 1.0))
    x = ac.sample("x", dist.Uniform(0.0, top))
    ac.sample("p", dist.Dirichlet(1 + x * jnp.ones(3)))
    ac.sample("k", dist.Poisson(1.0 + x))


def inside(values: Any) -> Any:
    return {"p": dist.Dirichlet(1 + values["x"] * jnp.ones(3)), "k": dist.Poisson(1.0 + values["x"])}


def exact_bounded() -> dict[str, Any]:
    return {"top": 3.0, "x": 1.5, "p": np.full(3, 1 / 3), "k": 2.5}


@ac.model
def counts(n: Any) -> None:
    rate = ac.sample("rate", dist.Gamma(2.0, 0.5))
    with ac.plate("row", len(n)):
        ac.sample("n", dist.Poisson(rate), obs=n)


@ac.model
def summed_out(y: Any) -> None:
    mu = ac.sample("mu", dist.Normal(0, 2))
    z = ac.sample("z", dist.Bernoulli(0.3))
    which = ac.deterministic("which", 2.0 * z)
    ac.sample("y", dist.Normal(mu + which, 1.0), obs=y)


def without_switch(values: Any) -> Any:
    """Two normal distributions, by whether there is a shift of 2, in proportion to how well they predict `y`."""
    shift = jnp.array([0.0, 2.0])
    logits = jnp.log(jnp.array([0.7, 0.3])) - 0.1 * (values["y"] - shift) ** 2
    return dist.MixtureSameFamily(
        dist.Categorical(logits=logits), dist.Normal(0.8 * (values["y"] - shift), jnp.full(2, 0.8**0.5))
    )


def exact_without_switch() -> dict[str, Any]:
    weight = np.array([0.7, 0.3]) * np.exp(-0.1 * np.array([1.0, 1.0]))
    return {"mu": 0.8 * (weight * [1.0, -1.0]).sum() / weight.sum()}


SEEN = np.array([3, 5, 2])
CONDITIONAL = infer.Conditional(normal_mean)
BLOCKS = infer.Gibbs({"mu": CONDITIONAL, ...: infer.NUTS()})
MODEL = normal(VALUES)
Z, MU = infer.Conditional(labels), infer.Conditional(label_mean)

KNOWN: dict[str, tuple[Any, Any, Callable[[], dict[str, Any]]]] = {
    "a mean beside NUTS": (MODEL, BLOCKS, exact_normal),
    "labels beside NUTS": (LABELLED, infer.Gibbs({"z": Z, ...: infer.NUTS()}), exact_labels),
    "formulas alone": (LABELLED, infer.Gibbs({"mu": MU, "z": Z}), exact_labels),
    "with sweeps by values": (LABELLED, infer.Gibbs({"z": infer.DiscreteGibbs(), "mu": MU}), exact_labels),
    "repeated and mixed": (
        LABELLED,
        infer.Gibbs({"z": infer.Repeat(Z, 2), "mu": infer.Mixture({MU: 0.5, infer.RandomWalk(): 0.5})}),
        exact_labels,
    ),
    "blocks in a block": (
        LABELLED,
        infer.Gibbs({("z", "mu"): infer.Gibbs({"mu": MU, "z": infer.Gibbs({"z": Z})})}),
        exact_labels,
    ),
    "supports that move": (
        bounded(),
        infer.Gibbs({
            "top": infer.NUTS(),
            "x": infer.Slice(),
            ("p", "k"): infer.Conditional(inside),
        }),
        exact_bounded,
    ),
    "what is left of a sum": (
        summed_out(1.0), infer.Gibbs({"mu": infer.Conditional(without_switch)}), exact_without_switch
    ),
    "all unknowns": (
        counts(SEEN),
        infer.Conditional(lambda values: dist.Gamma(2.0 + values["n"].sum(), 0.5 + len(values["n"]))),
        lambda: {"rate": 12 / 3.5},
    ),
}  # fmt: skip

_SLOW = (
    "formulas alone",
    "with sweeps by values",
    "repeated and mixed",
    "blocks in a block",
    "supports that move",
)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in _SLOW)) for n in KNOWN])
def test_draws_are_those_of_the_posterior(name: str) -> None:
    """Means within six of their errors: 36 of them, a false alarm of 2e-9 each."""
    model, sampler, exact = KNOWN[name]
    draws = infer.sample(model, sampler, **LONG)
    for site, mean in exact().items():
        values = draws["mu"] ** 2 if site == "mu2" else draws[site]
        size = np.min(draws.summary(site.removesuffix("2"))["ess_bulk"])
        error = values.std((0, 1)) / np.sqrt(size)
        assert size > 400
        assert np.all(np.abs(values.mean((0, 1)) - mean) < 6 * error), site


def test_draws_of_all_unknowns_are_independent() -> None:
    """16,000 effective draws, estimated within a few percent."""
    model, sampler, _ = KNOWN["all unknowns"]
    draws = infer.sample(model, sampler, **LONG)
    assert draws.summary("rate")["ess_bulk"][0] > 13_000
    assert np.all(draws.stats["acceptance_rate"] == 1)


def test_a_sweep_takes_no_evaluation_that_it_does_not_need(tmp_path: Path) -> None:
    """One for the draw, and one where NUTS has moved without seeing the gradient by all numbers, before and after."""
    store = infer.RunFolder(tmp_path / "run")
    options: dict[str, Any] = OPTIONS | dict(draws=100, warmup=50, chains=1)
    draws = infer.sample(MODEL, BLOCKS, store=store, executor=infer.Serial(), **options)
    assert evaluations(store) == int(draws.stats["rest.n_steps"].sum()) + 100 * 3
    store = infer.RunFolder(tmp_path / "other")
    infer.sample(LABELLED, KNOWN["formulas alone"][1], store=store, executor=infer.Serial(), **options)
    assert evaluations(store) == 100 * 3


# Formulas that are not the model's


def _half(values: Any) -> Any:
    return dist.Uniform(0.0, values["top"] / 2)


def _beyond(values: Any) -> Any:
    return dist.Uniform(0.0, values["top"] * 2)


def _mu(function: Callable[[Any], Any]) -> Callable[[], Any]:
    blocks = infer.Gibbs({"mu": infer.Conditional(function), ...: infer.NUTS()})
    return lambda: infer.sample(MODEL, blocks, **OPTIONS)


def _x(function: Callable[[Any], Any]) -> Callable[[], Any]:
    blocks = infer.Gibbs({"x": infer.Conditional(function), "k": infer.DiscreteGibbs(), ...: infer.NUTS()})
    return lambda: infer.sample(bounded(), blocks, **OPTIONS)


def _z(function: Callable[[Any], Any], model: Any = LABELLED) -> Callable[[], Any]:
    blocks = infer.Gibbs({"z": infer.Conditional(function), ...: infer.NUTS()})
    return lambda: infer.sample(model, blocks, **OPTIONS)


CENTRED = handlers.reparam(normal(VALUES), {"mu": reparam.LocScale()})
FREE = ac.LogDensity.from_function(lambda x: -0.5 * (x * x).sum(), np.zeros(1))

ERRORS: dict[str, tuple[Callable[[], Any], str]] = {
    "too wide by a percent": (_mu(lambda v: normal_mean(v, 1.01)), r"'mu' .* From mu = .* changes by .*log_prob"),
    "too narrow by 1e-5": (_mu(lambda v: normal_mean(v, 1 - 1e-5)), "another distribution than the model's"),
    "without the prior": (
        _mu(lambda v: dist.Normal(v["y"].mean(), v["sigma"] / 5**0.5)), "Look for a prior or a likelihood"
    ),
    "the prior alone": (_mu(lambda v: dist.Normal(0, 10)), "another distribution"),
    "half of the support": (_x(_half), "log_prob is -inf at x = .*on the whole support"),
    "beyond the support": (_x(_beyond), "log density of the model is .* there.*on the support of the site"),
    "labels without a prior": (
        _z(lambda v: dist.Categorical(logits=-0.5 * (v["y"][:, None] - v["mu"] * SIGNS) ** 2)),
        r"From z = \[.*\] to z = \[",
    ),
    "labels that go on": (_z(lambda v: dist.Poisson(jnp.ones(4))), "on the support of the site"),
    "its own value": (_mu(lambda v: dist.Normal(v["mu"], 1)), "'mu' is a site of the block"),
    "what depends on it": (_mu(lambda v: dist.Normal(v["shifted"], 1)), "value of 'shifted' depends on 'mu'"),
    "a support that depends on it": (
        lambda: infer.sample(
            bounded(),
            infer.Gibbs({
                "top": infer.Conditional(lambda v: dist.Gamma(3.0 + v["x"], 1.0)), "k": infer.DiscreteGibbs(),
                ...: infer.NUTS(),
            }),
            **OPTIONS,
        ),
        "value of 'x' depends on 'top'",
    ),
    "no such site": (_mu(lambda v: dist.Normal(v["sigm"], 1)), "no site 'sigm'.*'sigma'"),
    "no distribution": (_mu(lambda v: v["sigma"]), "must return a distribution for 'mu'"),
    "another shape": (_mu(lambda v: dist.Normal(jnp.zeros(2), 1)), r"shape \(2,\).*'mu'.*shape \(\)"),
    "whole numbers": (_mu(lambda v: dist.Poisson(3.0)), "discrete values.*real values"),
    "a site of another block": (_mu(lambda v: {"sigma": dist.Normal(0, 1)}), "for 'sigma', and the block has 'mu'"),
    "one of two sites": (
        lambda: infer.sample(
            MODEL, infer.Gibbs({("mu", "sigma"): infer.Conditional(lambda v: {"mu": dist.Normal(0, 1)})}), **OPTIONS
        ),
        "no distribution for 'sigma'",
    ),
    "one for two sites": (
        lambda: infer.sample(MODEL, infer.Gibbs({...: infer.Conditional(lambda v: dist.Normal(0, 1))}), **OPTIONS),
        "'mu', 'sigma', so that the function must return a mapping",
    ),
    "no function": (lambda: infer.Conditional(dist.Normal(0, 1)), "function must be a function"),  # pyright: ignore[reportArgumentType]
    "a function for a model": (
        lambda: infer.sample(FREE, infer.Conditional(lambda v: dist.Normal(0, 1)), **OPTIONS), "Write it as a model"
    ),
    "a reparameterised site": (
        lambda: infer.sample(
            CENTRED,
            infer.Gibbs({"mu": infer.Conditional(lambda v: {"mu": dist.Normal(0, 1)}), ...: infer.NUTS()}),
            **OPTIONS,
        ),
        "'mu' is reparameterised, and chains move",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_a_formula_that_is_not_the_models_is_refused_before_the_run(name: str) -> None:
    call, words = ERRORS[name]
    with pytest.raises(OptionError, match=words):
        call()


@pytest.mark.slow
def test_a_right_formula_passes_in_single_precision_and_with_many_rows() -> None:
    """Rounding of a sum of 20,000 terms is no error, and a standard deviation that is off by a thousandth is one."""
    y = np.random.default_rng(1).normal(100.0, 3.0, 20_000)
    short: dict[str, Any] = OPTIONS | dict(draws=2, warmup=2, chains=1)
    infer.sample(normal(y), BLOCKS, **short)
    infer.sample(MODEL, BLOCKS, precision="float32", **short)
    off = infer.Gibbs({"mu": infer.Conditional(lambda v: normal_mean(v, 1.001)), ...: infer.NUTS()})
    with pytest.raises(OptionError, match="another distribution"):
        infer.sample(normal(y), off, **short)


def test_what_is_summed_out_is_not_given() -> None:
    for name, words in {"z": "'z' is integrated out", "which": "'which' depends on 'z'"}.items():
        blocks = infer.Gibbs({"mu": infer.Conditional(lambda v, name=name: dist.Normal(v[name], 1.0))})
        with pytest.raises(OptionError, match=words):
            infer.sample(summed_out(1.0), blocks, **OPTIONS)


@ac.model
def chunked(y: Any) -> None:
    mu = ac.sample("mu", dist.Normal(0, 2))
    with ac.plate("row", len(y), chunk=2):
        ac.sample("y", dist.Normal(mu, 1.0), obs=y)


def test_blocks_of_rows_are_refused() -> None:
    with pytest.raises(OptionError, match="`chunk=`"):
        infer.sample(chunked(VALUES[:4]), infer.Conditional(lambda v: dist.Normal(0, 1)), **OPTIONS)


# The same bits however run, and programs that are compiled once


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(MODEL, BLOCKS, executor=infer.Serial(), **OPTIONS)


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(drawn: Draws, executor: Any) -> None:
    equal(infer.sample(MODEL, BLOCKS, executor=executor, **OPTIONS), drawn)


@pytest.mark.slow
def test_lanes_draw_from_the_same_posterior_each_by_itself() -> None:
    wide = infer.sample(MODEL, BLOCKS, lanes=2, **OPTIONS)
    alone = infer.sample(MODEL, BLOCKS, lanes=2, **ALONE)
    for name in wide:
        np.testing.assert_array_equal(wide[name][2], alone[name][0])


@pytest.mark.parametrize("phase", ["warmup", pytest.param("sample", marks=pytest.mark.slow)])
def test_a_run_that_is_interrupted_goes_on_with_its_function(
    drawn: Draws, tmp_path: Path, phase: str
) -> None:
    path = tmp_path / "run"
    often = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    with pressed_once(lambda made: made.phase == phase):
        part = infer.sample(MODEL, BLOCKS, executor=often, store=infer.RunFolder(path), **OPTIONS)
    assert not part.complete
    with pytest.raises(StorageError, match=r"'Conditional'.*sampler="):
        infer.resume(path, MODEL, quiet=True)

    def normal_mean(values: Any) -> Any:
        return dist.Normal(0, 1)

    with pytest.raises(AccordError, match="started differently"):
        infer.resume(path, MODEL, sampler=infer.Gibbs({"mu": Z, ...: infer.NUTS()}), quiet=True)
    normal_mean.__qualname__ = "normal_mean"
    other = infer.Gibbs({"mu": infer.Conditional(normal_mean), ...: infer.NUTS()})
    with pytest.raises(OptionError, match="another distribution than the model's"):
        infer.resume(path, MODEL, sampler=other, quiet=True)
    equal(infer.resume(path, MODEL, sampler=BLOCKS, quiet=True), drawn)


def test_steps_are_the_draws_of_a_run(drawn: Draws) -> None:
    steps = infer.steps(MODEL, BLOCKS, warmup=100, seed=4, chain=1)
    for number, step in zip(range(103), steps, strict=False):
        if number >= 100:
            np.testing.assert_array_equal(step["mu"], drawn["mu"][1, number - 100])


def test_other_data_and_arrays_from_outside_compile_nothing(monkeypatch: Any) -> None:
    """The function is another object each time, and draws are those of its numbers."""

    def sampler(y: np.ndarray) -> infer.Gibbs:
        def mean(values: Any) -> Any:
            precision = 0.01 + len(y) / values["sigma"] ** 2
            return dist.Normal(jnp.sum(y) / values["sigma"] ** 2 / precision, precision**-0.5)

        return infer.Gibbs({"mu": infer.Conditional(mean), ...: infer.NUTS()})

    options: dict[str, Any] = OPTIONS | dict(draws=50, warmup=50)
    first = infer.sample(MODEL, sampler(VALUES), **options)
    built: list[Any] = []
    get = PROGRAMS.get
    monkeypatch.setattr(PROGRAMS, "get", lambda key, build: get(key, lambda: built.append(key) or build()))
    again = infer.sample(MODEL, sampler(VALUES), **options)
    moved = infer.sample(normal(VALUES + 5), sampler(VALUES + 5), **options)
    assert not built
    equal(again, first)
    assert abs(moved["mu"].mean() - first["mu"].mean() - 5) < 1
