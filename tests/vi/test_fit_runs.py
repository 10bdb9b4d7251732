"""Hold fits to what is promised of every run: the same bits however they are made, stored, cut off and resumed."""

import shutil
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import InitializationError, OptionError, SiteError, StorageError

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
SIGMA = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
EFFECT = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ np.array([0.5, -1.0]) + np.random.default_rng(1).normal(size=40)


@ac.model
def schools(sigma: Any, y: Any = None) -> None:
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", 8):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def regression(x: Any, y: Any, size: int | None = None) -> None:
    slope = ac.sample("slope", dist.Normal(np.zeros(2), 1.0).to_event(1))
    with ac.plate("row", len(x), subsample_size=size):
        ac.sample("y", dist.Normal(ac.subsample(x, 1) @ slope, 1.0), obs=ac.subsample(y))


MODEL = schools(SIGMA, EFFECT)
WAYS: dict[str, Any] = {
    "a climb": lambda: dict(guide=infer.guides.MeanField(), restarts=2),
    "two stages": lambda: dict(
        guide=infer.guides.FullRank(), restarts=2, steps=600, until=infer.ELBOPlateau(window=100)
    ),
    "a product": lambda: dict(
        guide=infer.guides.Product({"tau": infer.guides.Delta(), ...: infer.guides.MeanField()}),
        restarts=2,
        steps=600,
        until=None,
    ),
    "plates": lambda: dict(guide=infer.guides.Structured(), restarts=2, steps=600, until=None),
    "paths": lambda: dict(guide=infer.guides.DAIS(steps=2), restarts=2, steps=600, until=None),
    "a peak": lambda: dict(guide=infer.guides.Laplace(), restarts=2),
    "particles": lambda: dict(
        guide=infer.guides.Particles(num_particles=20), restarts=2, steps=600, until=None
    ),
    "scores": lambda: dict(
        guide=infer.guides.FullRank(),
        objective=infer.FisherDivergence(draws=8),
        restarts=2,
        steps=600,
        until=None,
    ),
    "an optimiser of one's own": lambda: dict(
        guide=infer.guides.LowRank(), restarts=2, steps=600, until=None, optimizer=optax.sgd(1e-3)
    ),
}


def fitted(**options: Any) -> infer.fit:  # pyright: ignore[reportInvalidTypeForm]
    return infer.fit(MODEL, **options, **QUIET)


def same(one: Any, other: Any) -> bool:
    """Whether two fits are equal bit for bit."""
    pairs = zip(jax.tree.leaves(one.params), jax.tree.leaves(other.params), strict=True)
    losses = zip(one.losses.values(), other.losses.values(), strict=True)
    return (
        all(np.array_equal(a, b) for a, b in (*pairs, *losses))
        and np.array_equal([*one.bounds.values()], [*other.bounds.values()], equal_nan=True)
        and np.array_equal(one.discrepancy, other.discrepancy, equal_nan=True)
        and np.array_equal(one.fitted.frame.scale, other.fitted.frame.scale)
    )


@each(WAYS)
def test_a_fit_is_the_same_wherever_it_is_made_stored_and_read(case: Any, tmp_path: Path) -> None:
    one = fitted(**case)
    assert one.complete and len(one.losses) == 2
    store = infer.RunFolder(tmp_path / "run")
    assert same(one, fitted(**case, executor=infer.Serial(), store=store))
    read = infer.load(tmp_path / "run")
    assert same(one, read) and read.notices == one.notices
    assert np.array_equal(read.pareto_k, one.pareto_k, equal_nan=True)
    with pytest.raises(OptionError, match="without its model"):
        read.draw()
    own = {"optimizer": case["optimizer"]} if "optimizer" in case else {}
    again = infer.resume(tmp_path / "run", MODEL, **own, **QUIET)
    assert same(one, again) and np.array_equal(again.draw(5)["mu"], one.draw(5)["mu"])


@each(WAYS)
def test_a_fit_that_was_cut_off_goes_on_to_the_same_end(case: Any, tmp_path: Path) -> None:
    whole = fitted(**case, store=infer.RunFolder(tmp_path / "run"))
    _cut_off(tmp_path / "run", tmp_path / "cut", keep=1)
    own = {"optimizer": case["optimizer"]} if "optimizer" in case else {}
    cut = infer.load(tmp_path / "cut")
    assert len(cut.losses[0]) <= len(whole.losses[0])
    assert same(whole, infer.resume(tmp_path / "cut", MODEL, **own, **QUIET))


def test_a_fit_that_ends_where_steps_become_smaller_has_the_average_of_the_larger_ones(
    tmp_path: Path,
) -> None:
    options: dict[str, Any] = dict(guide=infer.guides.FullRank(), until=infer.ELBOPlateau(window=100))
    fitted(**options, store=infer.RunFolder(tmp_path / "run"))
    run = infer.RunFolder(tmp_path / "run").load()
    ends = [segment.end_state for segment in run.segments(0) if "state.level" in segment.end_state]
    (first, *_) = [end for end in ends if int(end["state.level"]) == 1]
    assert int(first["state.count"]) == int(first["state.level_began"])
    # The next level goes on from the last step.
    assert not np.array_equal(first["params.loc"], first["state.stepper.params.loc"])


def _cut_off(run: Path, cut: Path, keep: int) -> None:
    """Copy a run with the first segments of each restart alone."""
    shutil.copytree(run, cut)
    for record in cut.glob("record-*.json"):
        if record.stem.removeprefix("record-") in ("judged", "notices", "timings"):
            record.unlink()
    for folder in cut.glob("chain-*"):
        for segment in sorted(folder.glob("segment-*"))[keep:]:
            segment.unlink()


@pytest.mark.slow
@each(WAYS)
def test_a_fit_is_the_same_in_processes(case: Any) -> None:
    assert same(fitted(**case), fitted(**case, executor=infer.Processes(workers=2)))


def test_a_restart_is_the_same_alone_and_among_others() -> None:
    alone = fitted(restarts=1)
    among = fitted(restarts=3)
    assert np.array_equal(alone.losses[0], among.losses[0]) and alone.bounds[0] == among.bounds[0]
    assert among.log_evidence_bound == max(among.bounds.values())


def test_a_fit_in_float32_is_near() -> None:
    one, other = fitted(), fitted(precision="float32")
    assert other.draw(3)["theta"].dtype == np.float32
    assert abs(one.log_evidence_bound - other.log_evidence_bound) < 0.2


def test_chains_start_at_draws_from_a_fit_and_predictions_are_made_from_it(tmp_path: Path) -> None:
    fit = fitted()
    options = dict(draws=50, warmup=50, chains=2, **QUIET)
    run = infer.sample(MODEL, init=fit, store=infer.RunFolder(tmp_path / "run"), **options)
    assert run.manifest["settings"]["init"]["kind"] == "from_fit"
    assert np.array_equal(infer.resume(tmp_path / "run", MODEL, **QUIET)["mu"], run["mu"])
    assert infer.predict(fit, schools(SIGMA), quiet=True)["y"].shape == (1, 1000, 8)
    drawn = fit.draw(30)
    assert drawn.to_arviz(infer.log_likelihood(drawn))["posterior"]["theta"].shape == (1, 30, 8)
    assert list(drawn.to_dataframe("mu").columns) == ["mu"] and len(drawn.summary()) == 18


def test_discrete_unknowns_are_summed_out_and_drawn_back() -> None:
    @ac.model
    def mixture(y: Any) -> None:
        means = ac.sample("means", dist.Normal(np.array([-2.0, 2.0]), 0.5))
        with ac.plate("row", len(y)):
            label = ac.sample("label", dist.Categorical(np.array([0.5, 0.5])))
            ac.sample("y", dist.Normal(means[label], 1.0), obs=y)

    drawn = infer.fit(mixture(np.array([-2.1, 2.2, 1.9])), **QUIET).draw(400)
    assert set(np.unique(drawn["label"])) <= {0, 1} and drawn["label"][0, :, 0].mean() < 0.1


@each(
    {
        "a guide that is no guide": (dict(guide="mean_field"), OptionError, "guide must be something like"),
        "a class": (dict(guide=infer.guides.FullRank), OptionError, "Build it first"),
        "fixed draws of another guide": (
            dict(guide=infer.guides.FullRank(), objective=infer.FixedDraws()),
            OptionError,
            "has no maximum",
        ),
        "fixed draws and an optimiser": (
            dict(objective=infer.FixedDraws(), optimizer=optax.adam(1e-2)),
            OptionError,
            "without step sizes",
        ),
        "a peak by a bound": (
            dict(guide=infer.guides.Laplace(), objective=infer.ELBO()),
            OptionError,
            "Laplace raises no bound",
        ),
        "a peak by an optimiser": (
            dict(guide=infer.guides.Laplace(), optimizer=optax.adam(1e-2)),
            OptionError,
            "takes no steps of an optimiser",
        ),
        "scores of a mean field": (
            dict(objective=infer.FisherDivergence()),
            OptionError,
            "scores of a MeanField cannot be matched",
        ),
        "scores and an optimiser": (
            dict(
                guide=infer.guides.FullRank(), objective=infer.FisherDivergence(), optimizer=optax.adam(1e-2)
            ),
            OptionError,
            "steps of its own",
        ),
        "weights without a density": (
            dict(guide=infer.guides.DAIS(), objective=infer.IWAE()),
            OptionError,
            "that of a DAIS is not known",
        ),
        "a bound of particles": (
            dict(guide=infer.guides.Particles(), objective=infer.ELBO()),
            OptionError,
            "Particles are points",
        ),
        "particles of a normal": (
            dict(guide=infer.guides.FullRank(), objective=infer.SteinMoments()),
            OptionError,
            "FullRank is a distribution",
        ),
        "a site that is not there": (
            dict(guide=infer.guides.Product({"theta": infer.guides.Delta(), ...: infer.guides.MeanField()})),
            OptionError,
            "no latent site 'theta'",
        ),
        "no optimiser": (dict(optimizer="adam"), OptionError, "one of optax"),
        "no steps": (dict(steps=0), OptionError, "steps must be"),
        "no restarts": (dict(restarts=0), OptionError, "restarts must be"),
        "a rule for chains": (dict(until=infer.ESS(100)), OptionError, "until must be something like"),
        "an executor over devices": (
            dict(executor=infer.Devices(shard={"sigma": 0})),
            OptionError,
            "is for chains",
        ),
        "a typo": (dict(step=10), OptionError, "fit has no option 'step'"),
        "a seed below zero": (dict(seed=-1), OptionError, "seed must be"),
    }
)
def test_bad_options_are_refused_before_anything_is_compiled(case: Any) -> None:
    options, error, words = case
    with pytest.raises(error, match=words):
        fitted(**options)


def test_bad_options_of_objectives_and_rules_are_refused() -> None:
    for make, words in (
        (lambda: infer.FixedDraws(draws=3), "half of draws"),
        (lambda: infer.ELBO(draws=0), "ELBO: draws"),
        (lambda: infer.ELBO(sticks_the_landing=1), "True or False"),  # pyright: ignore[reportArgumentType]
        (lambda: infer.FisherDivergence(draws=1), "FisherDivergence: draws"),
        (lambda: infer.SteinDiscrepancy(width=0.0), "SteinDiscrepancy: width"),
        (lambda: infer.IWAE(draws=0), "IWAE: draws"),
        (lambda: infer.Renyi(0.5, draws=0), "Renyi: draws"),
        (lambda: infer.Renyi(1.0), "below 1"),
        (lambda: infer.ELBOPlateau(window=2), "window"),
        (lambda: infer.ELBOPlateau(gain=-1.0), "gain"),
    ):
        with pytest.raises(OptionError, match=words):
            make()


def test_a_bound_of_several_draws_with_one_is_the_plain_one_and_says_so() -> None:
    options: dict[str, Any] = dict(steps=20, until=None)
    plain = fitted(objective=infer.ELBO(draws=1, sticks_the_landing=True), **options)
    for objective in (infer.IWAE(draws=1), infer.Renyi(-0.5, draws=1)):
        fit = fitted(objective=objective, **options)
        np.testing.assert_allclose(fit.losses[0], plain.losses[0], rtol=1e-9)
        (notice,) = [each for each in fit.notices if each.code == "one_particle"]
        assert type(objective).__name__ in notice.message and "infer.ELBO()" in notice.remedy
    several = fitted(objective=infer.IWAE(draws=2), **options)
    assert "one_particle" not in [each.code for each in (*several.notices, *plain.notices)]


def test_fixed_draws_refuse_parts_of_the_data_and_so_do_unknowns_within_them() -> None:
    with pytest.raises(OptionError, match="needs all data at each step"):
        infer.fit(regression(X, Y, 10), objective=infer.FixedDraws(), **QUIET)
    with pytest.raises(OptionError, match="would bias the covariance"):
        infer.fit(regression(X, Y, 10), infer.guides.FullRank(), objective=infer.FisherDivergence(), **QUIET)
    with pytest.raises(OptionError, match="follow the gradient of all data"):
        infer.fit(regression(X, Y, 10), infer.guides.DAIS(), **QUIET)
    with pytest.raises(OptionError, match="needs all data for its second derivatives"):
        infer.fit(regression(X, Y, 10), infer.guides.Laplace(), **QUIET)

    @ac.model
    def local(y: Any) -> None:
        with ac.plate("row", len(y), subsample_size=3):
            own = ac.sample("own", dist.Normal(0, 1))
            ac.sample("y", dist.Normal(own, 1.0), obs=ac.subsample(y))

    with pytest.raises(SiteError, match="has an unknown for each entry"):
        infer.fit(local(np.arange(9.0)), **QUIET)


def test_a_model_without_a_start_is_an_error_that_explains() -> None:
    @ac.model
    def nowhere() -> None:
        x = ac.sample("x", dist.Normal(0, 1))
        ac.factor("impossible", jnp.where(x > 100, 0.0, -jnp.inf))

    with pytest.raises(InitializationError, match="restart 0"):
        infer.fit(nowhere(), **QUIET)


def test_another_model_does_not_go_on_with_a_fit(tmp_path: Path) -> None:
    fitted(store=infer.RunFolder(tmp_path / "run"))
    with pytest.raises(StorageError, match="cannot be resumed"):
        infer.resume(tmp_path / "run", schools(SIGMA, EFFECT + 1), **QUIET)
    with pytest.raises(OptionError, match="sampler"):
        infer.resume(tmp_path / "run", MODEL, sampler=infer.NUTS(), **QUIET)
    with pytest.raises(OptionError, match="started with the default"):
        infer.resume(tmp_path / "run", MODEL, optimizer=optax.adam(1e-2), **QUIET)


def test_too_few_steps_and_restarts_that_differ_are_told() -> None:
    short = fitted(guide=infer.guides.FullRank(), steps=50)
    assert "not_converged" in [notice.code for notice in short.notices] and not short.converged

    @ac.model
    def two_modes() -> None:
        x = ac.sample("x", dist.Normal(0, 10))
        left, right = dist.Normal(-15, 0.5).log_prob(x), dist.Normal(15, 0.5).log_prob(x)
        ac.factor("likelihood", jnp.logaddexp(jnp.log(0.15) + left, jnp.log(0.85) + right))

    apart = infer.fit(two_modes(), restarts=6, init=infer.from_uniform(20), **QUIET)
    assert "restarts_disagree" in [notice.code for notice in apart.notices]
    assert apart.draw(10)["x"].mean() > 10


def test_what_was_said_of_an_earlier_end_is_not_said_of_a_later_one(tmp_path: Path) -> None:
    options: dict[str, Any] = dict(guide=infer.guides.FullRank(), until=infer.ELBOPlateau(window=100))
    whole = fitted(**options, store=infer.RunFolder(tmp_path / "run"))
    cut = tmp_path / "cut"
    shutil.copytree(tmp_path / "run", cut)
    (cut / "record-notices.json").unlink()  # as a run that was taken up, and killed before it was judged
    read = infer.load(cut)
    assert not read.bounds and [notice.code for notice in read.notices] == ["not_judged"]
    assert same(whole, infer.resume(cut, MODEL, **QUIET))


def test_a_store_that_takes_nothing_more_loses_no_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accord.storage.run_folder import RunFolderRun

    record = RunFolderRun.record

    def refuse(self: Any, name: str, value: object) -> None:
        if name in ("judged", "notices", "timings"):
            raise StorageError("the disk is full")
        record(self, name, value)

    monkeypatch.setattr(RunFolderRun, "record", refuse)
    fit = fitted(store=infer.RunFolder(tmp_path / "run"))
    assert fit.pareto_k < 0.7 and fit.draw(3)["mu"].shape == (1, 3)
    assert "not_stored" in [notice.code for notice in fit.notices]


def test_a_restart_that_fails_is_left_out_and_the_others_keep_their_numbers() -> None:
    @ac.model
    def bounded() -> None:
        x = ac.sample("x", dist.Normal(0, 1))
        ac.factor("possible", jnp.where(x > 10, -jnp.inf, 0.0))

    fit = infer.fit(bounded(), restarts=2, init=[{"x": 50.0}, {"x": 0.1}], **QUIET)
    assert (
        fit.best == 1 and set(fit.losses) == {1} and "restart_failed" in [each.code for each in fit.notices]
    )


def test_an_optimiser_that_needs_more_than_a_gradient_is_refused() -> None:
    with pytest.raises(OptionError, match="cannot take a step along a gradient"):
        fitted(optimizer=optax.lbfgs())


def test_losses_of_a_point_are_minus_its_log_density() -> None:
    point = fitted(guide=infer.guides.Delta())
    assert np.isclose(-point.losses[0].min(), point.log_evidence_bound, rtol=1e-9)
