"""Hold guides whose draws do not move smoothly with their parameters to sums over all values, and to quadrature.

Comparisons with noise are within 6 standard errors: a false alarm in 2e-9 of each.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.core.errors import InitializationError, OptionError, SiteError
from accord.distributions import constraints
from accord.vi.objectives import ELBO
from accord.vi.written.by_site import loss_by_site
from accord.vi.written.paired import written_for

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
X = np.arange(4.0)
BOUND, SLOPE = -9.043922105, -1.011051874  # of a shared probability 0.6, by sums over all values
EVIDENCE = -7.067713649


@ac.model
def sides(x: Any, size: int | None = None) -> None:
    with ac.plate("row", len(x), subsample_size=size):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("x", dist.Normal(2.0 * z, 1), obs=ac.subsample(x))


@ac.model
def shared(rows: int, size: int | None = None) -> None:
    p = ac.param("p", 0.6, constraint=constraints.unit_interval)
    with ac.plate("row", rows, subsample_size=size):
        ac.sample("z", dist.Bernoulli(p))


@ac.model
def each_row(rows: int, start: float = 0.6, size: int | None = None) -> None:
    p = ac.param("p", np.full(rows, start), constraint=constraints.unit_interval)
    with ac.plate("row", rows, subsample_size=size):
        ac.sample("z", dist.Bernoulli(ac.subsample(p)))


@ac.model
def added(x: Any) -> None:
    """Of a plate whose entries depend on each other."""
    with ac.plate("row", len(x)):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("x", dist.Normal(jnp.cumsum(z), 1), obs=x)


@ac.model
def together(x: Any) -> None:
    c = ac.sample("c", dist.Bernoulli(0.3))
    with ac.plate("row", len(x)):
        z = ac.sample("z", dist.Bernoulli(0.2 + 0.6 * c))
        ac.sample("x", dist.Normal(2.0 * z, 1), obs=x)


@ac.model
def by_side(rows: int) -> None:
    """Of a plate that depends on a site outside."""
    c = ac.sample("c", dist.Bernoulli(ac.param("chance", 0.4, constraint=constraints.unit_interval)))
    p = ac.param("p", np.array([0.3, 0.7]), constraint=constraints.unit_interval)
    with ac.plate("row", rows):
        ac.sample("z", dist.Bernoulli(p[c]))


@ac.model
def counted(rows: int) -> None:
    """Of a site outside of a plate, which depends on all of its entries."""
    p = ac.param("p", 0.6, constraint=constraints.unit_interval)
    with ac.plate("row", rows):
        z = ac.sample("z", dist.Bernoulli(p))
    slope = ac.param("slope", 0.3)
    ac.sample("c", dist.Bernoulli(logits=slope * (z.sum() - 1)))


@ac.model
def switching(x: Any) -> None:
    def step(before: Any, seen: Any) -> Any:
        z = ac.sample("z", dist.Bernoulli(0.2 + 0.6 * before))
        ac.sample("x", dist.Normal(2.0 * z, 1), obs=seen)
        return z, None

    ac.scan(step, 0, x)


@ac.model
def by_step(rows: int) -> None:
    p, stay = ac.param("p", 0.4, constraint=constraints.unit_interval), ac.param("stay", 0.3)

    def step(before: Any, _: Any) -> Any:
        z = ac.sample("z", dist.Bernoulli(p * (1 - 0.5 * before) + 0.1 * stay * before))
        return z, None

    ac.scan(step, 0, jnp.zeros(rows))


EXACT: dict[str, tuple[Any, Any, dict[str, dict[str, int]]]] = {
    "a plate": (sides(X[:3]), shared(3), {"z": {"row": -1}}),
    "entries that depend on each other": (added(X[:3]), shared(3), {"z": {}}),
    "a site outside": (together(X[:3]), by_side(3), {"c": {}, "z": {"row": -1}}),
    "a site after the plate": (together(X[:3]), counted(3), {"c": {}, "z": {}}),
    "steps": (switching(X[:3]), by_step(3), {}),
    "a site that is summed out": (together(X[:3]), shared(3), {"z": {"row": -1}}),
}


def words_of(num: int, seed: int = 1) -> Any:
    return jnp.asarray(np.random.default_rng(seed).integers(0, 2**32, (num, 2)), jnp.uint32)


def pairs_of_all_values(guide: Any, params: Any, weight: float = 1.0) -> tuple[Any, np.ndarray]:
    """Noise of two draws with any values of the sites, and how probable each of the pairs is.

    `weight` of the log density in the guide: a part of the entries counts there for all.
    """
    words = words_of(3000)
    values, log_q = jax.jit(jax.vmap(lambda each: guide.draw(params, each)))(words)
    rows = np.concatenate([np.reshape(values[name], (3000, -1)) for name in sorted(values)], axis=1)
    _, first = np.unique(rows, axis=0, return_index=True)
    probable = np.exp(weight * np.asarray(log_q)[first])
    assert np.isclose(probable.sum(), 1)
    pairs = np.array(list(itertools.product(first, first)))
    return words[pairs], np.outer(probable, probable).ravel()


@pytest.mark.parametrize("case", EXACT)
@pytest.mark.parametrize("sticks", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_gradient_is_right_on_average_over_all_values(case: str, sticks: bool) -> None:
    model, by, apart = EXACT[case]
    objective = ELBO(draws=2, sticks_the_landing=sticks)
    with precision.scope("float64"):
        density, _, guide = written_for(model, by, "float64")
        assert guide.known.apart == apart
        params: Any = dict(guide.known.start)
        noise, probable = pairs_of_all_values(guide, params)
        values, _ = jax.jit(jax.vmap(lambda words: guide.draw(params, words)))(
            noise[:: int(len(noise) ** 0.5), 0]
        )

        def bound(params: Any) -> Any:
            def of(values: Any) -> Any:
                log_q = guide.log_prob(params, values)
                return jnp.exp(log_q) * (guide.log_joint(density, params, values) - log_q)

            return jnp.sum(jax.vmap(of)(values))

        def loss(params: Any, noise: Any) -> Any:
            return loss_by_site(objective, guide, density, params, noise, True)

        found, slopes = jax.jit(jax.vmap(jax.value_and_grad(loss), in_axes=(None, 0)))(params, noise)
        wanted, exact = jax.jit(jax.value_and_grad(bound))(params)
    assert np.isclose(-probable @ found, wanted, rtol=1e-12)
    for name, slope in exact.items():
        assert np.allclose(-np.tensordot(probable, slopes[name], 1), slope, rtol=1e-10, atol=1e-12), name


@pytest.mark.parametrize("size", [None, 2])
def test_the_scale_of_a_part_weighs_costs_and_no_scores(size: int | None) -> None:
    """The mean over all values, and over both parts of an epoch, is that of all rows."""
    with precision.scope("float64"):
        density, minibatch, guide = written_for(sides(X, size), shared(4, size), "float64")
        params: Any = dict(guide.known.start)
        steps: list[tuple[Any, Any]] = [(density, guide)]
        if minibatch is not None:
            three = [jnp.asarray([5, 6, step]) for step in range(2)]
            steps = [
                (minibatch.density.with_data({**density.data, minibatch.words: each}), guide.at_part(each))
                for each in three
            ]
        found = []
        for density, guide in steps:
            noise, probable = pairs_of_all_values(guide, params, weight=1 if size is None else 0.5)

            def loss(params: Any, noise: Any, density: Any = density, guide: Any = guide) -> Any:
                return loss_by_site(ELBO(draws=2), guide, density, params, noise, True)

            value, slope = jax.jit(jax.vmap(jax.value_and_grad(loss), in_axes=(None, 0)))(params, noise)
            found.append((-probable @ value, -probable @ slope["p"] / (0.6 * 0.4)))
    assert np.allclose(np.mean(found, axis=0), [BOUND, SLOPE], atol=1e-8)


def test_at_the_posterior_there_is_no_noise_and_costs_by_entry_have_less() -> None:
    exact = 1 / (1 + np.exp(-(np.log(0.3 / 0.7) + 2 * X - 2)))
    with precision.scope("float64"):
        density, _, guide = written_for(sides(X), each_row(4), "float64")
        as_one = replace(guide, pair=replace(guide.known, apart={}))

        def slopes(guide: Any, logits: Any) -> np.ndarray:
            def loss(params: Any, noise: Any) -> Any:
                return loss_by_site(ELBO(draws=4), guide, density, params, noise, True)

            noise = words_of(4 * 500).reshape(500, 4, 2)
            found = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0)))({"p": jnp.asarray(logits)}, noise)
            return np.asarray(found["p"])

        at = np.log(exact / (1 - exact))
        assert np.abs(slopes(guide, at)).max() < 1e-12
        one, other = (slopes(each, at + 0.5).var(axis=0) for each in (guide, as_one))
    # Of four entries, three are noise for the fourth: here a half to nine tenths of the variance.
    assert np.all(one < 0.7 * other)


@ac.model
def mixed() -> None:
    w = ac.sample("w", dist.Normal(0, 1))
    z = ac.sample("z", dist.Bernoulli(0.3))
    b = ac.sample("b", dist.Normal(w + z, 1))
    ac.sample("y", dist.Normal(b, 1), obs=2.0)


@ac.model
def by_mixed() -> None:
    """Of a site that moves, one that does not and depends on it, and one that moves and depends on that."""
    w = ac.sample("w", dist.Normal(ac.param("m", 0.3), ac.param("s", 0.8, constraint=constraints.positive)))
    z = ac.sample("z", dist.Bernoulli(logits=ac.param("k", 0.7) * w - 0.2))
    ac.sample(
        "b", dist.Normal(ac.param("c", 0.5) * z + 0.4, ac.param("t", 0.9, constraint=constraints.positive))
    )


def bound_of_mixed(p: Any) -> Any:
    s, t = jnp.exp(p["s"]), jnp.exp(p["t"])
    u = jnp.linspace(-8, 8, 801)
    w, weight = p["m"] + s * u, jnp.exp(-0.5 * u**2) / jnp.sqrt(2 * jnp.pi) * (u[1] - u[0])
    logit = p["k"] * w - 0.2
    total = jnp.zeros(())
    for z in (0, 1):
        log_q = jax.nn.log_sigmoid(logit) if z else jax.nn.log_sigmoid(-logit)
        mean = p["c"] * z + 0.4
        cost = -0.5 * w**2 + 0.5 * u**2 + jnp.log(s) + jnp.log(0.3 if z else 0.7) - log_q
        cost = cost - 0.5 * ((mean - w - z) ** 2 + t**2) - 0.5 * ((2 - mean) ** 2 + t**2)
        cost = cost - jnp.log(2 * jnp.pi) + 0.5 * jnp.log(2 * jnp.pi) + 0.5 + jnp.log(t)
        total = total + jnp.sum(weight * jnp.exp(log_q) * cost)
    return total


@ac.model
def uneven() -> None:
    a = ac.sample("a", dist.Gamma(3, 1))
    b = ac.sample("b", dist.Normal(a, 1))
    ac.sample("y", dist.Normal(b, 1), obs=2.0)


@ac.model
def by_uneven() -> None:
    """Of a continuous site whose draws do not move smoothly."""
    loc, conc = (ac.param(name, 2.0, constraint=constraints.positive) for name in ("loc", "conc"))
    a = ac.sample("a", dist.InverseGaussian(loc, conc))
    ac.sample(
        "b", dist.Normal(ac.param("c", 0.6) * a + 0.5, ac.param("t", 0.9, constraint=constraints.positive))
    )


def bound_of_uneven(p: Any) -> Any:
    loc, conc, t = (jnp.exp(p[name]) for name in ("loc", "conc", "t"))
    a = jnp.exp(jnp.linspace(-9, 6, 6001))
    log_q = 0.5 * jnp.log(conc / (2 * jnp.pi * a**3)) - conc * (a - loc) ** 2 / (2 * loc**2 * a)
    weight = jnp.exp(log_q) * a * 15 / 6000
    mean = p["c"] * a + 0.5
    cost = 2 * jnp.log(a) - a - jnp.log(2.0) - log_q
    cost = cost - 0.5 * ((mean - a) ** 2 + t**2) - 0.5 * ((2 - mean) ** 2 + t**2)
    return jnp.sum(weight * (cost - jnp.log(2 * jnp.pi) + 0.5 * jnp.log(2 * jnp.pi) + 0.5 + jnp.log(t)))


BY_QUADRATURE: dict[str, tuple[Any, Any, Callable[[Any], Any], tuple[str, ...]]] = {
    "discrete": (mixed(), by_mixed(), bound_of_mixed, ("z",)),
    "continuous": (uneven(), by_uneven(), bound_of_uneven, ("a",)),
}


@pytest.mark.parametrize("case", BY_QUADRATURE)
@pytest.mark.parametrize("sticks", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_gradient_is_that_of_quadrature_on_average(case: str, sticks: bool) -> None:
    model, by, bound, scored = BY_QUADRATURE[case]
    num = 20_000
    with precision.scope("float64"):
        density, _, guide = written_for(model, by, "float64")
        assert guide.scored == scored
        params: Any = {name: jnp.asarray(value) for name, value in guide.known.start.items()}
        wanted, slopes = jax.jit(jax.value_and_grad(bound))(params)

        def loss(params: Any, noise: Any) -> Any:
            objective = ELBO(draws=2, sticks_the_landing=sticks)
            return loss_by_site(objective, guide, density, params, noise, True)

        noise = words_of(2 * num).reshape(num, 2, 2)
        found = jax.jit(jax.vmap(jax.value_and_grad(loss), in_axes=(None, 0)))(params, noise)
    pairs = [(found[0], wanted), *((found[1][name], slopes[name]) for name in slopes)]
    for estimates, exact in pairs:
        spread = np.std(estimates) / np.sqrt(num)
        assert abs(-np.mean(estimates) - exact) < 6 * spread


def test_a_discrete_guide_reaches_the_evidence() -> None:
    fit = infer.fit(sides(X), each_row(4), **QUIET)
    assert EVIDENCE - 0.01 < fit.log_evidence_bound < EVIDENCE + max(6 * fit.log_evidence_bound_error, 1e-9)
    assert np.allclose(fit.params["p"], 1 / (1 + np.exp(-(np.log(0.3 / 0.7) + 2 * X - 2))), atol=0.05)
    drawn = fit.draw(2000)
    assert drawn["z"].shape == (1, 2000, 4) and drawn["z"].dtype.kind == "i" and drawn.num_draws == 2000
    sd = np.sqrt(fit.params["p"] * (1 - fit.params["p"]) / 2000)
    assert np.all(np.abs(drawn["z"][0].mean(axis=0) - fit.params["p"]) < 6 * sd)
    assert fit.summary().labels == ("z[0]", "z[1]", "z[2]", "z[3]")
    assert fit.guide.described()["scored"] == ["z"]


@pytest.mark.slow
def test_chains_begin_at_draws_of_a_discrete_guide() -> None:
    fit = infer.fit(sides(X), each_row(4), steps=100, until=None, **QUIET)
    chains = infer.sample(sides(X), infer.DiscreteGibbs(), init=fit, draws=20, chains=1, **QUIET)
    assert chains["z"].shape == (1, 20, 4)


@pytest.mark.slow
def test_counts_without_an_end_are_drawn_by_a_guide() -> None:
    @ac.model
    def few() -> None:
        count = ac.sample("count", dist.Poisson(3.0))
        ac.sample("y", dist.Normal(count, 1.0), obs=5.0)

    @ac.model
    def by_rate() -> None:
        ac.sample("count", dist.Poisson(ac.param("rate", 2.0, constraint=constraints.positive)))

    k = np.arange(60)
    log_factorial = np.cumsum(np.log(np.maximum(k, 1)))
    log_joint = k * np.log(3) - 3 - log_factorial - 0.5 * (5 - k) ** 2 - 0.5 * np.log(2 * np.pi)

    def bound(rate: float) -> float:
        log_q = k * np.log(rate) - rate - log_factorial
        return float(np.exp(log_q) @ (log_joint - log_q))

    best = max(bound(rate) for rate in np.linspace(2, 7, 501))
    fit = infer.fit(few(), by_rate(), **QUIET)
    assert best - 0.02 < bound(float(fit.params["rate"])) <= best + 1e-9
    assert abs(fit.log_evidence_bound - best) < 6 * fit.log_evidence_bound_error + 0.02


def test_a_fit_is_the_same_wherever_it_is_made_stored_and_taken_up(tmp_path: Path) -> None:
    options: dict[str, Any] = dict(steps=700, until=None, restarts=2, optimizer=optax.adam(3e-2), **QUIET)
    model, guide = sides(X, 2), shared(4, 2)

    def same(one: Any, other: Any) -> bool:
        return one.bounds == other.bounds and np.array_equal(one.params["p"], other.params["p"])

    store = infer.RunFolder(tmp_path / "run")
    kept = infer.fit(model, guide, store=store, executor=infer.Serial(), **options)
    assert same(kept, infer.fit(model, guide, executor=infer.Threads(2), **options))
    read: Any = infer.load(tmp_path / "run")
    assert same(kept, read) and read.guide.scored == ("z",)
    for record in ("judged", "notices", "timings"):
        (tmp_path / "run" / f"record-{record}.json").unlink()
    for folder in (tmp_path / "run").glob("chain-*"):
        for segment in sorted(folder.glob("segment-*"))[1:]:
            segment.unlink()
    again: Any = infer.resume(tmp_path / "run", model, guide=guide, optimizer=optax.adam(3e-2), **QUIET)
    assert same(kept, again) and np.array_equal(again.draw(5)["z"], kept.draw(5)["z"])


def guide_of(make: Callable[[], Any], name: str) -> Any:
    @ac.model
    def guide() -> None:
        ac.param("p", 0.0)
        ac.sample(name, make())

    return guide()


@ac.model
def between() -> None:
    ac.sample("a", dist.Uniform(0, 3))
    ac.sample("y", dist.Normal(0, 1), obs=1.0)


@ac.model
def one_side() -> None:
    z = ac.sample("z", dist.Bernoulli(0.3))
    ac.sample("y", dist.Normal(z, 1), obs=1.0)


REFUSED = {
    "ends that move": (
        between(),
        guide_of(lambda: dist.Uniform(0, ac.param("end", 2.0, constraint=constraints.positive)), "a"),
        "the support of Uniform depends",
    ),
    "a real number for a whole one": (
        one_side(),
        guide_of(lambda: dist.Beta(1, 1), "z"),
        "has whole numbers",
    ),
    "a whole number for a real one": (
        between(),
        guide_of(lambda: dist.Poisson(1.0), "a"),
        "draws whole numbers",
    ),
    "a point": (one_side(), guide_of(lambda: dist.Delta(ac.param("at", 0.5)), "z"), "draws real numbers"),
    "values that it does not have": (one_side(), guide_of(lambda: dist.Poisson(1.0), "z"), "must be 0 or 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_guide_that_cannot_be_fitted_is_refused(case: str) -> None:
    model, guide, words = REFUSED[case]
    with pytest.raises(SiteError) as raised:
        infer.fit(model, guide, **QUIET)
    assert words in str(raised.value)


def test_a_guide_of_whole_numbers_without_a_bound_is_explained() -> None:
    @ac.model
    def many() -> None:
        count = ac.sample("count", dist.Poisson(2.0))
        ac.factor("high", jnp.log(count - 1000.0))

    guide = guide_of(lambda: dist.Poisson(ac.param("rate", 2.0, constraint=constraints.positive)), "count")
    with pytest.raises(InitializationError, match="by site: 'high' nan"):
        infer.fit(many(), guide, steps=20, **QUIET)


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (infer.IWAE(), "move smoothly"),
        (infer.Renyi(alpha=0.5), "move smoothly"),
        (infer.ELBO(draws=1), "ELBO\\(draws=2\\)"),
    ],
)
def test_an_objective_that_takes_other_draws_is_refused(objective: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        infer.fit(sides(X), shared(4), objective=objective, **QUIET)
