"""Exchangeable components: matched where the model cannot tell them apart, and refused where it can."""

import copy
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, ModelError, OptionError, SiteError
from accord.core.series import InMemory
from accord.density import LogDensity

QUIET = dict(progress=False, quiet=True)
FAR = np.array([-10.0, 0.0, 12.0])
SHARES = np.array([0.2, 0.3, 0.5])


def data(num: int = 300) -> np.ndarray:
    rng = np.random.default_rng(5)
    return FAR[rng.choice(3, size=num, p=SHARES)] + rng.normal(size=num)


@ac.model
def mixture(y, spread=10.0, is_ordered=False):
    """Three normals; the weights have an axis without a name, and what is computed depends on labels."""
    weights = ac.sample("weights", dist.Dirichlet(jnp.ones(3)))
    if is_ordered:
        mu = ac.sample("mu", dist.ordered(dist.Normal(0, spread).expand((3,)).to_event(1)))
    else:
        with ac.plate("component", 3):
            mu = ac.sample("mu", dist.Normal(0, spread))
    with ac.plate("component", 3):
        sigma = ac.sample("sigma", dist.HalfNormal(2))
    ac.deterministic("first", weights[0] * mu[0])
    with ac.plate("row", len(y)):
        components = dist.Normal(mu, sigma)
        ac.sample("y", dist.MixtureSameFamily(dist.Categorical(probs=weights), components), obs=y)


@pytest.fixture(scope="module")
def run():
    """Chains begin, and stay, with their components in orders of their own."""
    return infer.sample(
        mixture(data()), seed=1, draws=300, init=[{"mu": FAR[list(order)]} for order in ORDERS], **QUIET
    )


ORDERS = [(0, 1, 2), (2, 0, 1), (1, 0, 2), (2, 1, 0)]


def codes(draws) -> set[str]:
    return {notice.code for notice in draws.notices}


def serious(draws) -> set[str]:
    """Notices of more than chance, by which one R-hat in a few hundred is a little above 1.01."""
    return {notice.code for notice in draws.notices if notice.severity != "info"}


def test_components_agree_once_they_are_matched(run) -> None:
    assert {"r_hat", "chains_apart"} <= codes(run)
    same = infer.relabel(run, "component", quiet=True)
    assert not serious(same)
    means = same["mu"].mean((0, 1))
    np.testing.assert_allclose(means, FAR, atol=0.5)  # in increasing order
    np.testing.assert_allclose(same["weights"].mean((0, 1)), SHARES, atol=0.1)
    assert same["sigma"].std() < 0.2


def test_all_sites_of_a_draw_move_together_and_the_run_stays_as_it_was(run) -> None:
    before = {name: np.array(run[name]) for name in run}
    same = infer.relabel(run, "component", quiet=True)
    order = np.argsort(run["mu"], axis=-1)
    other = np.argsort(same["mu"], axis=-1)
    for name in ("mu", "weights", "sigma"):
        np.testing.assert_array_equal(run[name], before[name])
        np.testing.assert_array_equal(
            np.take_along_axis(same[name], other, -1), np.take_along_axis(run[name], order, -1)
        )
    np.testing.assert_allclose(same["first"], same["weights"][..., 0] * same["mu"][..., 0], rtol=1e-6)
    np.testing.assert_array_equal(same.stats["lp"], run.stats["lp"])


def test_a_notice_says_what_was_done(run) -> None:
    (notice,) = [
        each for each in infer.relabel(run, "component", quiet=True).notices if each.code == "relabelled"
    ]
    assert notice.severity == "info"
    assert notice.message == (
        "components along 'component' changed places in 75% of the draws, to be the same ones in all."
    )


def test_the_notice_of_a_run_names_the_line_and_the_line_works(run) -> None:
    lines = {
        notice.remedy.split("`")[1] for notice in run.notices if notice.code in ("r_hat", "chains_apart")
    }
    assert lines == {"infer.relabel(draws, 'component')"}
    same = eval(lines.pop(), {"infer": infer, "draws": run})
    assert not serious(same)


def test_axes_may_be_given_by_site(run) -> None:
    by_name = infer.relabel(run, "component", quiet=True)
    by_site = infer.relabel(run, {"mu": 0, "weights": -1, "sigma": (0,)}, quiet=True)
    for name in run:
        np.testing.assert_array_equal(by_site[name], by_name[name])


def test_one_site_may_tell_components_apart(run) -> None:
    same = infer.relabel(run, "component", by="mu", quiet=True)
    assert same["mu"].std((0, 1)).max() < 0.5


def test_a_longer_run_is_relabelled_as_well(run) -> None:
    longer = infer.relabel(run, "component", quiet=True).extend(50)
    whole = infer.relabel(run.extend(50), "component", quiet=True)
    for name in run:
        np.testing.assert_array_equal(longer[name], whole[name])
    assert "relabelled" in codes(longer)


def test_the_order_says_where_it_comes_from(run, tmp_path) -> None:
    same = infer.relabel(run, "component", quiet=True)
    assert same.manifest["relabelled"] == {"mu": [0], "weights": [0], "sigma": [0]}
    assert "relabelled" not in run.manifest
    same.report(tmp_path / "run.md")
    assert "changed places" in (tmp_path / "run.md").read_text()
    assert same.to_arviz().posterior["mu"].shape == (4, 300, 3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (mixture(data(), np.array([10.0, 10.0, 11.0])), "log density changes by 0."),
        (mixture(data(), is_ordered=True), "log density changes by"),
    ],
    ids=["prior", "order"],
)
def test_components_that_the_model_tells_apart_keep_their_places(model, words) -> None:
    draws = infer.sample(model, seed=1, draws=20, warmup=50, **QUIET)
    with pytest.raises(ModelError, match=words):
        infer.relabel(draws, "component")


def test_a_site_that_is_missing_is_asked_for(run) -> None:
    with pytest.raises(ModelError, match=r"along \{'mu': 0\}.* a site is missing that belongs to them"):
        infer.relabel(run, {"mu": 0})


@pytest.mark.parametrize(
    ("components", "options", "error", "words"),
    [
        ("componet", {}, OptionError, "no unknown has a dimension 'componet'. Did you mean 'component'"),
        ({"first": 0}, {}, SiteError, "'first' is no unknown of these draws"),
        ({"mu": 1}, {}, SiteError, "site 'mu' has 1 axes, and was given 1. Give an axis from 0 to 0"),
        ({"mu": ()}, {}, SiteError, "site 'mu' has 1 axes"),
        ({"weights": ()}, {}, OptionError, "no site in .* has an axis of components"),
        ("component", {"by": 3}, OptionError, "by must be the name of a site"),
        ({}, {}, OptionError, "must be the name of a dimension"),
        ("component", {"by": "first"}, SiteError, "by has 'first', which has no axis of these components"),
        ("component", {"by": []}, OptionError, "no site tells the components apart"),
    ],
)
def test_what_cannot_be_is_refused(run, components, options, error, words) -> None:
    with pytest.raises(error, match=words):
        infer.relabel(run, components, **options)


def test_draws_without_their_model_cannot_be_checked(run) -> None:
    with pytest.raises(OptionError, match=r"no model.*infer.resume"):
        infer.relabel(copy.deepcopy(run).__class__(**{**_fields(run), "density": None}), "component")


def _fields(draws) -> dict:
    return {name: value for name, value in vars(draws).items() if name != "kept"}


@ac.model
def two(y):
    """The weight of the second of two components is what the first one leaves."""
    share = ac.sample("share", dist.Beta(2, 2))
    other = ac.sample("other", dist.Uniform(0, 1))
    mu = ac.sample("mu", dist.Normal(0, 10).expand((2,)).to_event(1))
    weights = dist.Categorical(probs=jnp.stack([share, 1 - share]))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, 1 + other)), obs=y)


def test_the_share_of_the_first_of_two_becomes_that_of_the_second() -> None:
    y = np.r_[np.linspace(-11, -9, 20), np.linspace(9, 11, 60)]
    starts = [{"mu": np.array([10.0, -10.0]) * sign} for sign in (1, -1, -1, 1)]
    draws = infer.sample(two(y), seed=1, draws=200, init=starts, **QUIET)
    (line,) = {each.remedy.split("`")[1] for each in draws.notices if each.code in ("r_hat", "chains_apart")}
    assert line == "infer.relabel(draws, 'mu_dim_0')"
    same = infer.relabel(draws, "mu_dim_0", quiet=True)
    assert same.manifest["relabelled"] == {"mu": [0], "share": []}
    assert not any(each.severity == "error" for each in same.notices)
    sign = np.sign(same["mu"][..., :1])
    np.testing.assert_allclose(
        np.where(sign > 0, same["share"][..., None], 1 - same["share"][..., None]).mean(), 0.75, atol=0.05
    )
    np.testing.assert_array_equal(same["other"], draws["other"])


def test_both_axes_of_transitions_move_and_labels_are_drawn_again() -> None:
    rng = np.random.default_rng(2)
    path = np.cumsum(rng.uniform(size=60) < 0.2) % 2
    y = np.where(path, 8.0, -8.0) + rng.normal(size=60)

    @ac.model
    def started(y):
        """The first state is drawn, so that no label is special."""
        with ac.plate("state", 2):
            move = ac.sample("move", dist.Dirichlet(jnp.ones(2)))
            mu = ac.sample("mu", dist.Normal(0, 10))
        log_emission = dist.Normal(mu, 1.0).log_prob(y[:, None])

        def forward(log_weights, now):
            return jax.nn.logsumexp(log_weights[:, None] + jnp.log(move), axis=0) + now, None

        last, _ = jax.lax.scan(forward, log_emission[0], log_emission[1:])
        ac.factor("path", jax.nn.logsumexp(last))

    starts = [{"mu": np.array([8.0, -8.0]) * sign} for sign in (1, -1, 1, -1)]
    draws = infer.sample(started(y), seed=1, draws=200, init=starts, **QUIET)
    same = infer.relabel(draws, "state", quiet=True)
    assert same.manifest["relabelled"] == {"mu": [0], "move": [0, 1]}
    moved = np.sign(same["mu"][..., 0]) != np.sign(draws["mu"][..., 0])
    assert 0 < moved.mean() < 1
    np.testing.assert_array_equal(same["move"][moved], draws["move"][moved][:, ::-1, ::-1])


@ac.model
def labelled(y):
    with ac.plate("component", 2):
        mu = ac.sample("mu", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        label = ac.sample("label", dist.Categorical(probs=jnp.array([0.5, 0.5])))
        ac.sample("y", dist.Normal(mu[label], 1.0), obs=y)


def test_drawn_labels_are_drawn_again_by_the_new_order() -> None:
    y = np.r_[np.full(10, -8.0), np.full(10, 8.0)]
    starts = [{"mu": np.array([8.0, -8.0]) * sign} for sign in (1, -1, 1, -1)]
    draws = infer.sample(labelled(y), seed=1, draws=100, init=starts, **QUIET)
    same = infer.relabel(draws, "component", quiet=True)
    nearest = np.argmin(np.abs(same["mu"][..., None, :] - y[:, None]), axis=-1)
    np.testing.assert_array_equal(same["label"], nearest)


def test_a_density_of_a_users_own_is_checked_as_well() -> None:
    def pair(x):
        return sum(jax.nn.logsumexp(-0.5 * (x - at) ** 2) for at in (-8.0, 8.0)) - 0.001 * jnp.sum(x**2)

    starts = [{"x": np.array([8.0, -8.0]) * sign} for sign in (1, -1, 1, -1)]
    draws = infer.sample(LogDensity.from_function(pair, np.zeros(2)), seed=1, draws=100, init=starts, **QUIET)
    same = infer.relabel(draws, {"x": 0}, quiet=True)
    assert len(np.unique(np.sign(same["x"][..., 0]))) == 1


def test_components_that_overlap_are_said_to() -> None:
    y = np.random.default_rng(0).normal(size=40)
    draws = infer.sample(mixture(y), seed=1, draws=200, **QUIET)
    (notice,) = [
        each for each in infer.relabel(draws, "component", quiet=True).notices if each.code == "relabelled"
    ]
    assert notice.severity == "warning"
    assert "but some overlap" in notice.message


def test_notices_are_printed_unless_they_are_not_wanted(run, capsys) -> None:
    infer.relabel(run, "component", quiet=True)
    assert not capsys.readouterr().err
    infer.relabel(run, "component")
    assert "changed places in 75% of the draws" in capsys.readouterr().err


def test_the_orders_of_this_file_are_all_different() -> None:
    assert all(one != other for one, other in itertools.combinations(ORDERS, 2))


def test_what_need_not_move_is_left_alone() -> None:
    """Another mixture of as many components, of which all chains have the same order."""

    @ac.model
    def two_mixtures(y, z):
        with ac.plate("component", 2):
            mu = ac.sample("mu", dist.Normal(0, 10))
        nu = ac.sample("nu", dist.Normal(0, 10).expand((2,)).to_event(1))
        halves = dist.Categorical(probs=jnp.array([0.5, 0.5]))
        with ac.plate("row", len(y)):
            ac.sample("y", dist.MixtureSameFamily(halves, dist.Normal(mu, 1)), obs=y)
            ac.sample("z", dist.MixtureSameFamily(halves, dist.Normal(nu, 1)), obs=z)

    y = np.r_[np.full(10, -8.0), np.full(10, 8.0)]
    nu = np.array([8.0, -8.0])
    starts = [{"mu": nu * sign, "nu": nu} for sign in (1, -1, 1, -1)]
    draws = infer.sample(two_mixtures(y, y), seed=1, draws=100, init=starts, **QUIET)
    same = infer.relabel(draws, "component", quiet=True)
    assert same.manifest["relabelled"] == {"mu": [0]}
    assert "chains_apart" not in codes(same)
    both = infer.relabel(same, "nu_dim_0", quiet=True)
    assert both.manifest["relabelled"] == {"mu": [0], "nu": [0]}
    assert [each.sites for each in both.notices if each.code == "relabelled"] == [("nu",), ("mu",)]
    again = infer.relabel(both, "component", quiet=True)
    assert len([each for each in again.notices if each.code == "relabelled"]) == 2


def test_many_observations_hide_no_difference_between_priors() -> None:
    """In single precision the log density of so many is rounded by more than the difference."""

    @ac.model
    def pair(y):
        with ac.plate("component", 2):
            mu = ac.sample("mu", dist.Normal(jnp.array([-0.1, 0.1]), 1.0))
        halves = dist.Categorical(probs=jnp.array([0.5, 0.5]))
        with ac.plate("row", len(y)):
            ac.sample("y", dist.MixtureSameFamily(halves, dist.Normal(mu, 1)), obs=y)

    y = np.random.default_rng(1).normal(size=20_000) + np.tile([-2.0, 2.0], 10_000)
    draws = infer.sample(pair(y), seed=1, draws=10, warmup=30, precision="float32", **QUIET)
    with pytest.raises(ModelError, match="tells the components along 'component' apart"):
        infer.relabel(draws, "component")


def test_single_precision_is_relabelled_as_well() -> None:
    draws = infer.sample(
        mixture(data()),
        seed=1,
        draws=100,
        precision="float32",
        init=[{"mu": FAR[list(order)]} for order in ORDERS],
        **QUIET,
    )
    same = infer.relabel(draws, "component", quiet=True)
    assert same["mu"].dtype == np.float32
    assert same["mu"].std((0, 1)).max() < 0.5


def test_a_share_next_to_nothing_may_change_places() -> None:
    @ac.model
    def rare():
        share = ac.sample("share", dist.Beta(0.05, 0.05))
        with ac.plate("component", 2):
            mu = ac.sample("mu", dist.Normal(0, 1))
        ac.factor("pull", 0.1 * (share * mu[0] + (1 - share) * mu[1]))

    draws = infer.sample(rare(), seed=1, draws=200, **QUIET)
    same = infer.relabel(draws, "component", quiet=True)
    assert same.manifest["relabelled"] == {"mu": [0], "share": []}
    assert np.all((same["share"] > 0) & (same["share"] < 1))


def test_a_share_of_each_group_moves_with_the_components() -> None:
    @ac.model
    def grouped(y):
        with ac.plate("component", 2):
            mu = ac.sample("mu", dist.Normal(0, 10))
        with ac.plate("group", 3):
            share = ac.sample("share", dist.Beta(2, 2))
        weights = jnp.stack([share, 1 - share], axis=-1)[:, None]
        with ac.plate("group", 3, dim=-2), ac.plate("row", y.shape[1], dim=-1):
            ac.sample("y", dist.MixtureSameFamily(dist.Categorical(probs=weights), dist.Normal(mu, 1)), obs=y)

    y = np.tile(np.array([-8.0, -8.0, -8.0, 8.0]), (3, 5))
    starts = [{"mu": np.array([8.0, -8.0]) * sign} for sign in (1, -1, 1, -1)]
    draws = infer.sample(grouped(y), seed=1, draws=200, init=starts, **QUIET)
    same = infer.relabel(draws, "component", quiet=True)
    assert same.manifest["relabelled"] == {"mu": [0], "share": []}
    assert np.all(same["share"].mean(1) > 0.6)  # of the lower one, in every chain


def test_draws_that_are_not_finite_are_not_matched(run) -> None:
    mu = np.array(run["mu"])
    mu[0, 3, 1] = np.inf
    bad = type(run)(**{**_fields(run), "sites": InMemory({**{name: run[name] for name in run}, "mu": mu})})
    with pytest.raises(DataError, match="1 draws of site 'mu' are not finite"):
        infer.relabel(bad, "component")


def test_labels_that_are_sampled_are_asked_to_be_summed_out() -> None:
    y = np.r_[np.full(5, -8.0), np.full(5, 8.0)]
    sampler = infer.Gibbs({"label": infer.DiscreteGibbs(), ...: infer.NUTS()})
    starts = [
        {"mu": np.array([8.0, -8.0]) * sign, "label": np.repeat([0, 1], 5)[::-sign]}
        for sign in (1, -1, 1, -1)
    ]
    draws = infer.sample(labelled(y), sampler, seed=1, draws=100, init=starts, **QUIET)
    assert not any("infer.relabel" in notice.remedy for notice in draws.notices)
    with pytest.raises(ModelError, match="as perhaps 'label', cannot be matched: have them summed out"):
        infer.relabel(draws, "component")


@pytest.mark.parametrize("other", [{"mu": np.zeros((4, 10, 2))}, None])
def test_what_are_no_draws_of_a_run_is_said(other) -> None:
    with pytest.raises(OptionError, match=r"infer\.relabel takes the draws of infer\.sample; got"):
        infer.relabel(other, "component")
