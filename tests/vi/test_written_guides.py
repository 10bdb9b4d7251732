"""Hold guides that are written as models to what is known: closed forms, and the promises of every fit.

Comparisons with noise are within 6 standard errors: a false alarm in 2e-9 of each.
"""

import copy
import pickle
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core import precision
from accord.core.errors import InitializationError, ModelError, OptionError, SiteError, StorageError
from accord.distributions import constraints
from accord.language.part import part_of
from accord.vi.each import sharing
from accord.vi.evaluate import num_judged
from accord.vi.fit import traced
from accord.vi.objectives import ELBO, IWAE, Renyi
from accord.vi.written.paired import written_for

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
EVIDENCE = -1.515512123  # of one observation, 1, with unit noise and a standard normal prior

ROWS, SIZE, RANK = 12, 3, 1
DATA = np.random.default_rng(0).normal(size=(ROWS, RANK)) @ np.array([[1.0, -2.0, 0.5]])
DATA = 1.0 + DATA + 0.5 * np.random.default_rng(1).normal(size=(ROWS, SIZE))


@ac.model
def one_seen() -> None:
    x = ac.sample("x", dist.Normal(0, 1))
    ac.sample("seen", dist.Normal(x, 1), obs=1.0)


@ac.model
def normal(loc: float = 0.0, scale: float = 1.0) -> None:
    ac.sample(
        "x", dist.Normal(ac.param("loc", loc), ac.param("scale", scale, constraint=constraints.positive))
    )


@ac.model
def components(x: Any, num: int, size: int | None = None) -> None:
    """Probabilistic principal components: of each row, a latent number."""
    loadings = ac.param("loadings", np.array([[0.5], [-0.5], [0.5]]))
    loc = ac.param("centre", np.zeros(SIZE))
    scale = ac.param("noise", 1.0, constraint=constraints.positive)
    with ac.plate("row", num, subsample_size=size):
        z = ac.sample("z", dist.Normal(np.zeros(RANK), 1).to_event(1))
        seen = None if x is None else ac.subsample(x, 1)
        ac.sample("x", dist.Normal(loc + z @ loadings.T, scale).to_event(1), obs=seen)


@ac.model
def encoder(x: Any, size: int | None = None) -> None:
    slope, start = ac.param("slope", np.zeros((RANK, SIZE))), ac.param("start", np.zeros(RANK))
    spread = ac.param("spread", np.ones(RANK), constraint=constraints.positive)
    with ac.plate("row", len(x), subsample_size=size):
        own = ac.subsample(x, 1)
        ac.sample("z", dist.Normal(own @ slope.T + start, spread).to_event(1))


@ac.model
def each_row(num: int, size: int | None = None) -> None:
    """A guide whose parameters have an entry for each row."""
    loc = ac.param("loc", np.zeros((num, RANK)))
    spread = ac.param("spread", np.ones((num, RANK)), constraint=constraints.positive)
    with ac.plate("row", num, subsample_size=size):
        ac.sample("z", dist.Normal(ac.subsample(loc, 1), ac.subsample(spread, 1)).to_event(1))


def most_likely() -> tuple[float, float]:
    """Greatest log likelihood of the components and its noise variance, by eigenvalues (Tipping & Bishop, 1999)."""
    values = np.linalg.eigvalsh(np.cov(DATA.T, bias=True))
    noise = values[: SIZE - RANK].mean()
    log_det = np.log(values[SIZE - RANK :]).sum() + (SIZE - RANK) * np.log(noise)
    return -0.5 * ROWS * (SIZE * np.log(2 * np.pi) + log_det + SIZE), noise


def test_a_guide_that_holds_the_posterior_reaches_the_evidence_and_then_has_no_noise() -> None:
    fit = infer.fit(one_seen(), normal(), **QUIET)
    assert fit.converged and not fit.notices
    assert np.isclose(fit.log_evidence_bound, EVIDENCE, atol=1e-8)
    assert fit.log_evidence_bound_error < 1e-8
    assert np.isclose(fit.params["loc"], 0.5, atol=1e-6)
    assert np.isclose(fit.params["scale"], np.sqrt(0.5), atol=1e-6)
    narrow = infer.fit(one_seen(), **QUIET)
    assert np.isclose(narrow.log_evidence_bound, fit.log_evidence_bound, atol=1e-8)
    assert "normal by ELBO" in repr(fit)
    assert abs(fit.draw(10_000)["x"].mean() - 0.5) < 6 * np.sqrt(0.5) / 100


def test_principal_components_are_fitted_as_by_eigenvalues() -> None:
    highest, noise = most_likely()
    fit = infer.fit(components(DATA, ROWS), encoder(DATA), optimizer=optax.adam(3e-2), steps=4000, **QUIET)
    assert highest - 0.02 < fit.log_evidence_bound < highest + 6 * fit.log_evidence_bound_error
    assert np.isclose(fit.params["noise"] ** 2, noise, rtol=0.02)
    # The posterior of each row at these parameters, by algebra.
    loadings, scale = fit.params["loadings"], fit.params["noise"]
    precise = loadings.T @ loadings / scale**2 + np.eye(RANK)
    means = (DATA - fit.params["centre"]) @ loadings / scale**2 / precise
    assert np.allclose(DATA @ fit.params["slope"].T + fit.params["start"], means, atol=0.02)
    assert np.allclose(fit.params["spread"] ** 2, 1 / precise, rtol=0.02)
    drawn = fit.draw(200)
    assert drawn["z"].shape == (1, 200, ROWS, RANK) and drawn["loadings"].shape == (1, 200, SIZE, RANK)
    assert infer.predict(fit, components(None, ROWS), quiet=True)["x"].shape == (1, 1000, ROWS, SIZE)


@pytest.mark.parametrize(
    "guide",
    [pytest.param(encoder(DATA, 3), marks=pytest.mark.slow), each_row(ROWS, 3)],
    ids=["amortised", "each row"],
)
def test_parts_of_rows_give_the_gradient_of_all_on_average(guide: Any) -> None:
    """One noise for each row in every part: the mean over all parts of three is that of all rows, exactly."""
    whole = encoder(DATA) if guide.name == "encoder" else each_row(ROWS)
    with precision.scope("float64"):
        every, _, full = written_for(components(DATA, ROWS), whole, "float64")
        density, minibatch, parted = written_for(components(DATA, ROWS, 3), guide, "float64")
        assert minibatch is not None
        params = {
            name: value + 0.1 * np.random.default_rng(4).normal(size=value.shape)
            for name, value in full.known.start.items()
        }
        z = np.random.default_rng(3).normal(size=(ROWS, RANK))

        def all_rows(params: Any) -> Any:
            return full.log_joint(every, params, {"z": z}) - full.log_prob(params, {"z": z})

        def of_part(params: Any, three: Any) -> Any:
            part = minibatch.density.with_data({**density.data, minibatch.words: three})
            own = parted.at_part(three)
            key = three[:2].astype(jnp.uint32)
            rows = parts_taken(key, three[2])
            at = {"z": jnp.asarray(z)[rows]}
            return own.log_joint(part, params, at) - own.log_prob(params, at)

        wanted, slopes = jax.value_and_grad(all_rows)(params)
        # Parts of an epoch hold each row once.
        taken = jax.jit(jax.value_and_grad(of_part))
        found = [taken(params, jnp.asarray([5, 6, step])) for step in range(ROWS // 3)]
    assert np.isclose(np.mean([value for value, _ in found]), wanted, rtol=1e-12)
    for name, slope in slopes.items():
        assert np.allclose(np.mean([each[name] for _, each in found], axis=0), slope, rtol=1e-9, atol=1e-9), (
            name
        )


def parts_taken(words: Any, step: Any) -> Any:
    """Rows of a part, as the plate takes them."""
    from accord.language.handlers.seed import key_of_site

    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    return part_of(key_of_site(key, "row"), ROWS, 3, step.astype(jnp.int32))


@pytest.mark.slow
def test_a_fit_by_parts_comes_to_the_fit_of_all() -> None:
    highest, noise = most_likely()
    fit = infer.fit(components(DATA, ROWS, 4), encoder(DATA, 4), steps=8000, **QUIET)
    assert highest - 0.1 < fit.log_evidence_bound < highest + 6 * fit.log_evidence_bound_error
    assert np.isclose(fit.params["noise"] ** 2, noise, rtol=0.1)
    assert fit.draw(10)["z"].shape == (1, 10, ROWS, RANK)


def test_many_entries_of_a_plate_are_judged_by_fewer_draws() -> None:
    def num(rows: int, size: int | None) -> int:
        x = np.tile(DATA, (-(-rows // ROWS), 1))[:rows]
        _, _, guide = traced(components(x, rows, size), encoder(x, size), "float64")
        return num_judged(guide, rows * RANK)

    assert num(ROWS, 4) == 1000
    assert num(2000, 4) == 500  # a million numbers
    assert num(20_000, 4) == 100
    assert (
        num(20_000, None) == 1000
    )  # all rows are in each step: it is not known that their weights are apart


@pytest.mark.parametrize("alpha", [0.0, pytest.param(0.5, marks=pytest.mark.slow)])
def test_gradients_by_parameters_of_the_model_are_those_of_the_bound(alpha: float) -> None:
    """Of two draws, with the noise held, against the derivative of the bound itself."""

    @ac.model
    def shifted() -> None:
        x = ac.sample("x", dist.Normal(ac.param("prior", 0.3), 1))
        ac.sample("seen", dist.Normal(x, 1), obs=1.0)

    objective = IWAE(draws=2) if alpha == 0 else Renyi(alpha, draws=2)
    with precision.scope("float64"):
        density, _, guide = written_for(shifted(), normal(0.1, 0.8), "float64")
        params = guide.start(np.zeros(2, np.uint32), 0, np.dtype(float))
        noise = jnp.asarray([[1, 2], [3, 4]], jnp.uint32)

        def loss(params: Any) -> Any:
            at = lambda values: guide.log_joint(density, params, values)  # noqa: E731
            return objective.loss(guide, params, noise, sharing(at, True))

        def bound(prior: Any) -> Any:
            own = {**params, "prior": prior}

            def log_weight(words: Any) -> Any:
                values, log_q = guide.draw(own, words)
                return guide.log_joint(density, own, values) - log_q

            scaled = (1 - alpha) * jax.vmap(log_weight)(noise)
            return (jax.nn.logsumexp(scaled) - jnp.log(2)) / (1 - alpha)

        found = jax.grad(loss)(params)["prior"]
        assert np.isclose(-found, jax.grad(bound)(jnp.asarray(params["prior"])), rtol=1e-12)
        assert np.isclose(-loss(params), bound(params["prior"]), rtol=1e-12)


def test_a_fit_is_the_same_wherever_it_is_made_stored_and_taken_up(tmp_path: Path) -> None:
    options: dict[str, Any] = dict(steps=700, until=None, restarts=2, optimizer=optax.adam(1e-2), **QUIET)
    model, guide = components(DATA, ROWS, 4), encoder(DATA, 4)

    def same(one: Any, other: Any) -> bool:
        return one.bounds == other.bounds and all(
            np.array_equal(one.params[name], other.params[name]) for name in one.params
        )

    kept = infer.fit(
        model, guide, store=infer.RunFolder(tmp_path / "run"), executor=infer.Serial(), **options
    )
    assert same(kept, infer.fit(model, guide, **options))
    read = infer.load(tmp_path / "run")
    assert same(kept, read) and "encoder by ELBO" in repr(read)
    with pytest.raises(OptionError, match="without its model"):
        read.draw()
    again = infer.resume(tmp_path / "run", model, guide=guide, optimizer=optax.adam(1e-2), **QUIET)
    assert same(kept, again)
    assert np.array_equal(again.draw(5)["z"], kept.draw(5)["z"])
    assert np.array_equal(kept.draw(70)["z"][:, :5], kept.draw(5)["z"])
    # Cut off after the first segment of each restart, it goes on to the same end.
    for record in ("judged", "notices", "timings"):
        (tmp_path / "run" / f"record-{record}.json").unlink()
    for folder in (tmp_path / "run").glob("chain-*"):
        for segment in sorted(folder.glob("segment-*"))[1:]:
            segment.unlink()
    assert len(infer.load(tmp_path / "run").losses[0]) < 700
    assert same(kept, infer.resume(tmp_path / "run", model, guide=guide, optimizer=optax.adam(1e-2), **QUIET))
    with pytest.raises(OptionError, match="written as a model"):
        infer.resume(tmp_path / "run", model, optimizer=optax.adam(1e-2), **QUIET)
    with pytest.raises(StorageError, match="guide_data"):
        infer.resume(tmp_path / "run", model, guide=encoder(DATA + 1, 4), optimizer=optax.adam(1e-2), **QUIET)
    assert repr(kept.guide) == "<Guide 'encoder', written as a model>"
    assert same(copy.deepcopy(kept), kept) and same(pickle.loads(pickle.dumps(kept)), kept)


@pytest.mark.slow
def test_discrete_sites_of_the_model_are_summed_out() -> None:
    @ac.model
    def mixture(x: Any) -> None:
        gap = ac.sample("gap", dist.LogNormal(0, 1))
        with ac.plate("row", len(x)):
            side = ac.sample("side", dist.Bernoulli(0.5))
            ac.sample("x", dist.Normal(gap * side, 1), obs=x)

    @ac.model
    def positive() -> None:
        shape = ac.param("shape", 2.0, constraint=constraints.positive)
        ac.sample("gap", dist.Gamma(shape, ac.param("rate", 1.0, constraint=constraints.positive)))

    x = np.array([-0.3, 3.2, 2.4, 0.4, 3.9, -0.8])
    fit = infer.fit(mixture(x), positive(), **QUIET)
    # The evidence by quadrature over the gap.
    gap = np.exp(np.linspace(-8, 6, 20_001))
    terms = np.logaddexp(-0.5 * x[:, None] ** 2, -0.5 * (x[:, None] - gap) ** 2) - np.log(
        2 * np.sqrt(2 * np.pi)
    )
    log_prior = -0.5 * np.log(gap) ** 2 - 0.5 * np.log(2 * np.pi)  # by log gap
    evidence = np.log(np.trapezoid(np.exp(terms.sum(axis=0) + log_prior), np.log(gap)))
    assert evidence - 0.1 < fit.log_evidence_bound < evidence + 6 * fit.log_evidence_bound_error
    assert fit.draw(10)["side"].shape == (1, 10, 6)


@ac.model
def schools() -> None:
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(5))
    with ac.plate("school", 4):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, 5.0), obs=np.array([28.0, 8, -3, 7]))


@ac.model
def of_both() -> None:
    ac.sample("mu", dist.Normal(ac.param("m", 0.0), ac.param("s", 1.0, constraint=constraints.positive)))
    scale, shape = (ac.param(name, 2.0, constraint=constraints.positive) for name in ("scale", "shape"))
    ac.sample("tau", dist.Weibull(scale, shape))


@pytest.mark.slow
def test_normal_sites_of_the_model_are_integrated_out() -> None:
    model = handlers.collapse(schools(), ["theta"])
    fit = infer.fit(model, of_both(), **QUIET)
    full = infer.fit(model, infer.guides.FullRank(), **QUIET)
    assert fit.log_evidence_bound > full.log_evidence_bound - 0.1 and fit.pareto_k < 0.7
    assert fit.draw(10)["theta"].shape == (1, 10, 4)


def test_a_guide_of_a_random_walk_has_its_steps() -> None:
    y = np.array([0.2, 0.5, 1.0, 0.7])

    @ac.model
    def walk() -> None:
        def step(carry: Any, seen: Any) -> Any:
            x = ac.sample("x", dist.Normal(carry, 0.5))
            ac.sample("y", dist.Normal(x, 1), obs=seen)
            return x, None

        ac.scan(step, 0.0, y)

    @ac.model
    def joint() -> None:
        spread = ac.param("spread", np.eye(4), constraint=constraints.lower_cholesky)
        x = dist.MultivariateNormal(ac.param("loc", np.zeros(4)), scale_tril=spread)
        ac.sample("x", x)

    # y is normal: a walk of steps 0.5, and noise.
    spread = 0.25 * np.minimum.outer(np.arange(1, 5), np.arange(1, 5)) + np.eye(4)
    evidence = -0.5 * (y @ np.linalg.solve(spread, y) + np.linalg.slogdet(2 * np.pi * spread)[1])
    fit = infer.fit(walk(), joint(), **QUIET)
    assert np.isclose(fit.log_evidence_bound, evidence, atol=1e-4)


def test_a_fitted_guide_draws_for_new_data_and_gives_its_module(tmp_path: Path) -> None:
    network = eqx.nn.MLP(SIZE, 2, 4, 1, key=jax.random.key(0))

    @ac.model
    def by_network(x: Any) -> None:
        net = ac.module("net", network)
        with ac.plate("row", len(x)):
            found = jax.vmap(net)(x)
            ac.sample("z", dist.Normal(found[:, :1], jnp.exp(found[:, 1:])).to_event(1))

    store = infer.RunFolder(tmp_path / "run")
    fit = infer.fit(components(DATA, ROWS), by_network(DATA), steps=300, until=None, store=store, **QUIET)
    new = np.concatenate([DATA[:2], np.zeros((1, SIZE))])
    drawn = fit.draw_for(components(new, 3), by_network(new), 2000)
    assert drawn["z"].shape == (1, 2000, 3, RANK) and list(drawn.coords["row"]) == [0, 1, 2]
    fitted = fit.module("net", network)
    assert np.array_equal(fitted.layers[0].weight, fit.params["net.layers[0].weight"])
    with precision.scope("float64"):
        loc, log_scale = np.asarray(jax.vmap(fitted)(jnp.asarray(new))).T
    assert np.all(np.abs(drawn["z"][0, ..., 0].mean(axis=0) - loc) < 6 * np.exp(log_scale) / np.sqrt(2000))
    # A fit that is read from its folder knows the same.
    read = infer.load(tmp_path / "run")
    assert np.array_equal(read.draw_for(components(new, 3), by_network(new), 5)["z"], drawn["z"][:, :5])
    with pytest.raises(OptionError, match="none of that name"):
        fit.draw_for(components(new, 3), each_row(3))
    with pytest.raises(OptionError, match="no value of other"):
        fit.module("other", network)
    with pytest.raises(OptionError, match="one data set alone"):
        infer.fit(one_seen(), **QUIET).draw_for(one_seen(), normal())


def test_what_a_delta_holds_at_a_point_is_told_and_its_bound_is_none_of_the_evidence(tmp_path: Path) -> None:
    @ac.model
    def held(both: bool) -> None:
        p = ac.param("p", np.ones(2), constraint=constraints.positive)
        ac.sample("a", dist.Delta(p[0]))
        with ac.plate("row", 3):
            at = jnp.zeros(3) + ac.param("q", 0.0)
            ac.sample("b", dist.Delta(at) if both else dist.Normal(at, p[1]))

    fit = infer.fit(plain(), held(False), store=infer.RunFolder(tmp_path / "run"), **QUIET)
    assert "at its point" in repr(fit) and [n.sites for n in fit.notices if n.code == "point_only"] == [
        ("a",)
    ]
    assert repr(infer.load(tmp_path / "run")) == repr(fit)
    point = infer.fit(plain(), held(True), **QUIET)
    assert np.isnan(point.pareto_k) and np.isnan(point.effective_draws)
    # Without spread, the bound is the log density itself.
    a, b = point.params["p"][0], point.params["q"]
    rows = dist.Normal(0, a).log_prob(b) + dist.Normal(0, 1).log_prob(b)
    height = dist.Gamma(2, 1).log_prob(a) + jnp.sum(rows)
    assert np.isclose(point.log_evidence_bound, height, atol=1e-5)


def test_a_bound_that_is_never_finite_is_explained() -> None:
    @ac.model
    def below() -> None:
        x = ac.sample("x", dist.Normal(0, 1))
        ac.factor("low", jnp.log(x - 100))

    with pytest.raises(InitializationError, match="log of -"):
        infer.fit(below(), normal(), **QUIET)


def test_elbo_without_sticking_has_the_same_mean() -> None:
    with precision.scope("float64"):
        density, _, guide = written_for(one_seen(), normal(), "float64")
        params = guide.start(np.zeros(2, np.uint32), 0, np.dtype(float))
        words = jnp.asarray(np.random.default_rng(2).integers(0, 2**32, (4000, 1, 2)), jnp.uint32)

        def slope(sticks: bool) -> np.ndarray:
            def loss(params: Any, noise: Any) -> Any:
                at = lambda values: guide.log_joint(density, params, values)  # noqa: E731
                return ELBO(draws=1, sticks_the_landing=sticks).loss(guide, params, noise, sharing(at, True))

            found = jax.vmap(jax.grad(loss), in_axes=(None, 0))(params, words)
            return np.asarray(found["loc"] - 0)

        apart = slope(True) - slope(False)
    assert abs(apart.mean()) < 6 * apart.std() / np.sqrt(len(apart))


@ac.model
def plain(rows: int = 3) -> None:
    a = ac.sample("a", dist.Gamma(2, 1))
    with ac.plate("row", rows):
        b = ac.sample("b", dist.Normal(0, a))
        ac.sample("y", dist.Normal(b, 1), obs=np.zeros(rows))


def guide_of(**sites: Any) -> Any:
    """A guide with these distributions by site, made inside of the model."""

    @ac.model
    def guide() -> None:
        ac.param("p", 0.0)
        for name, make in sites.items():
            ac.sample(name, make())

    return guide()


def rightly() -> dict[str, Any]:
    return dict(a=lambda: dist.Gamma(2, 1), b=lambda: dist.Normal(np.zeros(3), 1))


@ac.model
def observing() -> None:
    ac.sample("a", dist.Gamma(2, 1), obs=1.0)


@ac.model
def weighted() -> None:
    ac.factor("extra", 0.0)


@ac.model
def settled() -> None:
    ac.sample("a", dist.Gamma(ac.param("p", 2.0), 1))
    ac.deterministic("b", jnp.zeros(3))


@ac.model
def without_parameters() -> None:
    ac.sample("x", dist.Normal(0, 1))


REFUSED = {
    "a site is missing": (plain(), lambda: guide_of(a=lambda: dist.Gamma(2, 1)), "does not draw 'b'"),
    "a site too many": (
        plain(),
        lambda: guide_of(**rightly(), c=lambda: dist.Normal(0, 1)),
        "no unknown of the model",
    ),
    "an observed site": (
        plain(),
        lambda: guide_of(**rightly(), y=lambda: dist.Normal(np.zeros(3), 1)),
        "it is observed",
    ),
    "another shape": (
        plain(),
        lambda: guide_of(**{**rightly(), "b": lambda: dist.Normal(np.zeros(4), 1)}),
        "shape (4,) in the guide",
    ),
    "another support": (
        plain(),
        lambda: guide_of(**{**rightly(), "a": lambda: dist.Normal(0, 1)}),
        "must be above 0",
    ),
    "a site that follows": (plain(), settled, "does not draw 'b'"),
    "a scaled site": (
        plain(),
        lambda: handlers.scale(guide_of(**rightly()), scale=0.5),
        "Leave `handlers.scale` out",
    ),
    "a masked site": (
        plain(),
        lambda: handlers.mask(guide_of(**rightly()), mask=False),
        "Leave `handlers.mask`",
    ),
    "data in the guide": (plain(), observing, "is observed in the guide"),
    "a factor in the guide": (plain(), weighted, "is a factor in the guide"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_guide_that_does_not_fit_is_refused_before_any_step(case: str) -> None:
    model, guide, words = REFUSED[case]
    with pytest.raises(SiteError) as raised:
        infer.fit(model, guide(), **QUIET)
    assert words in str(raised.value)


def test_what_else_is_refused() -> None:
    with pytest.raises(ModelError, match="nothing to fit"):
        infer.fit(one_seen(), without_parameters(), **QUIET)
    with pytest.raises(OptionError, match="was not called"):
        infer.fit(one_seen(), normal, **QUIET)
    with pytest.raises(OptionError, match="init"):
        infer.fit(one_seen(), normal(), init={"x": 0.0}, **QUIET)
    with pytest.raises(OptionError, match="FixedDraws is for guides"):
        infer.fit(one_seen(), normal(), objective=infer.FixedDraws(), **QUIET)
    with pytest.raises(OptionError, match="the model itself"):
        infer.fit(ac.LogDensity.from_model(one_seen()), normal(), **QUIET)
    with pytest.raises(SiteError, match="same plate"):
        infer.fit(components(DATA, ROWS, 4), encoder(DATA, 6), **QUIET)
    with pytest.raises(SiteError, match="init is not inside"):
        infer.fit(one_seen(), normal(0.0, 0.0), **QUIET)

    @ac.model
    def inside(num: int) -> None:
        with ac.plate("row", num, subsample_size=4):
            loc = ac.param("loc", np.zeros(1).reshape(()))
            ac.sample("z", dist.Normal(loc[..., None], 1).to_event(1))

    with pytest.raises(SiteError, match="subsample"):
        infer.fit(components(DATA, ROWS, 4), inside(ROWS), **QUIET)

    @ac.model
    def taken() -> None:
        ac.sample("x", dist.Normal(ac.param("seen", 0.0), 1))

    with pytest.raises(SiteError, match="Rename"):
        infer.fit(one_seen(), taken(), **QUIET)
