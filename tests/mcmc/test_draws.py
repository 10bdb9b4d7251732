"""Check what a run returns: which sites, in which order, with which names and dims."""

import numpy as np
import pandas as pd

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.metric import METRICS


@ac.model
def model(x, y):
    slope = ac.sample("slope", dist.Normal(0, 1))
    ac.factor("penalty", -(slope**2))
    base = ac.sample("base", dist.Normal(0, 1))
    with ac.plate("row", 3, coords=["a", "b", "c"]):
        mean = ac.deterministic("mean", base + slope * x)
        ac.sample("y", dist.Normal(mean, 1.0), obs=y)


X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 1.5])
RUN = dict(draws=20, warmup=20, chains=[4, 7], quiet=True)


def test_draws_hold_latent_and_deterministic_sites_in_the_models_order():
    draws = infer.sample(model(X, Y), **RUN)
    assert list(draws) == ["slope", "base", "mean"]
    assert {name: array.shape for name, array in draws.items()} == {
        "slope": (2, 20),
        "base": (2, 20),
        "mean": (2, 20, 3),
    }
    np.testing.assert_allclose(draws["mean"], draws["base"][..., None] + draws["slope"][..., None] * X)


def test_an_intervened_site_is_not_among_the_draws():
    assert list(infer.sample(model(X, Y).do({"slope": 2.0}), **RUN)) == ["base", "mean"]


def test_arviz_gets_dims_and_coords_from_the_plates():
    tree = infer.sample(model(X, Y), **RUN).to_arviz()
    posterior = tree["posterior"]
    assert posterior["mean"].dims == ("chain", "draw", "row")
    assert list(posterior["row"].values) == ["a", "b", "c"]
    assert list(posterior["chain"].values) == [4, 7]
    assert tree["observed_data"]["y"].dims == ("row",)
    assert list(tree["constant_data"].data_vars) == ["x"]


def test_dates_that_label_a_plate_stay_dates(tmp_path):
    days = pd.date_range("2020-01-01", periods=3)

    @ac.model
    def dated(x, y):
        slope = ac.sample("slope", dist.Normal(0, 1))
        ac.factor("penalty", -(slope**2))
        base = ac.sample("base", dist.Normal(0, 1))
        with ac.plate("row", 3, coords=days):
            mean = ac.deterministic("mean", base + slope * x)
            ac.sample("y", dist.Normal(mean, 1.0), obs=y)

    draws = infer.sample(dated(X, Y), store=infer.RunFolder(tmp_path / "run"), **RUN)
    for each in (draws, infer.load(tmp_path / "run")):
        assert each.coords["row"].dtype.kind == "M"
        np.testing.assert_array_equal(each.coords["row"], days.to_numpy())
        assert "mean[2020-01-02]" in str(each.summary())
        labels = each.to_arviz()["posterior"]["row"]
        assert labels.dtype.kind == "M"
        np.testing.assert_array_equal(labels.values, days.to_numpy())


def test_work_counts_every_gradient():
    draws = infer.sample(model(X, Y), **RUN)
    assert draws.work["sample"] == draws.stats["n_steps"].sum()
    assert draws.work["warmup"] > draws.warmup["n_steps"].sum()  # starting points and probes come on top


def test_tuning_says_which_metric_was_learnt_and_why(tmp_path):
    run = {**RUN, "warmup": 60, "store": infer.RunFolder(tmp_path / "run")}
    draws = infer.sample(model(X, Y), **run)
    assert set(draws.tuning["metric"]) <= set(METRICS[1:])
    assert all("held out" in reason and "diagonal" in reason for reason in draws.tuning["metric_reason"])
    resumed = infer.resume(tmp_path / "run", model(X, Y), quiet=True)
    for again in (infer.load(tmp_path / "run"), resumed, resumed.extend(5)):
        for name in ("metric", "metric_reason"):
            np.testing.assert_array_equal(again.tuning[name], draws.tuning[name])


def test_a_metric_that_is_asked_for_is_recorded_and_reported():
    for form in METRICS[1:]:
        draws = infer.sample(model(X, Y), infer.NUTS(metric=form), **{**RUN, "warmup": 40})
        assert draws.manifest["sampler"]["metric"] == form
        assert list(draws.tuning["metric"]) == [form] * 2
        assert list(draws.tuning["metric_reason"]) == [f"metric={form!r} was asked for"] * 2


def test_a_warm_up_too_short_to_learn_a_metric_says_so():
    draws = infer.sample(model(X, Y), **{**RUN, "warmup": 5})
    assert list(draws.tuning["metric"]) == ["initial"] * 2
    assert all("too short" in reason for reason in draws.tuning["metric_reason"])


def test_a_summary_is_worked_out_once_and_again_for_more_draws():
    draws = infer.sample(model(X, Y), **RUN)
    table = draws.summary()
    assert draws.summary() is table and draws.summary(prob=0.9, kind="all") is table
    assert draws.summary(["slope", "base", "mean"]) is table
    assert draws.summary("m*").labels == ("mean[a]", "mean[b]", "mean[c]")
    assert draws.summary(prob=0.5) is not table
    longer = draws.extend(20)
    assert longer.summary()["mean"][0] == np.mean(longer["slope"])
    assert draws.summary() is table


def test_draws_become_a_wide_data_frame():
    draws = infer.sample(model(X, Y), **RUN)
    frame = draws.to_dataframe("mean", stats=True)
    assert list(frame)[:3] == ["mean[a]", "mean[b]", "mean[c]"] and "lp" in frame
    assert frame.loc[(7, 3), "mean[b]"] == draws["mean"][1, 3, 1]
    assert frame.index.tolist()[20] == (7, 0) and len(frame) == 40
