"""Hold promise P7: a run compiles two programs, and what may change without them compiles nothing."""

import subprocess
import sys
import textwrap
from contextlib import contextmanager

import jax
import numpy as np
from models import SCHOOLS_SIGMA, SCHOOLS_Y, eight_schools, line, regression

from accord import infer
from accord.adaptation.metric import METRICS

RUN = dict(draws=30, warmup=30, chains=2, progress=False, quiet=True)
EVENT = "/jax/core/compile/backend_compile_duration"


@contextmanager
def counting():
    """Count backend compilations of any kind, in any thread."""
    names = []

    def listen(name, seconds, **details):
        if name == EVENT:
            names.append(details.get("fun_name", ""))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def fresh_model(center):
    """A model that no other test has compiled."""
    import accord as ac
    import accord.distributions as dist

    @ac.model
    def model(y):
        m = ac.sample("m", dist.Normal(center, 3.25))
        with ac.plate("row", y.shape[0]):
            ac.sample("y", dist.StudentT(4.5, m, 1.75), obs=y)

    return model


def test_a_call_compiles_two_programs_and_nothing_else():
    model = fresh_model(0.125)
    with counting() as compiled:
        infer.sample(model(np.arange(5.0)), **RUN)
    assert len(compiled) == 2, compiled


def test_chains_that_learn_together_compile_two_programs_once():
    model, run = fresh_model(0.375), RUN | dict(chains=8)
    with counting() as compiled:
        infer.sample(model(np.arange(5.0)), infer.ChEES(), **run)
    assert len(compiled) == 2, compiled
    with counting() as compiled:
        infer.sample(
            model(np.arange(5.0) + 1),
            infer.ChEES(target_accept=0.7, trajectory_length=2.0, superchains=4, metric="diagonal"),
            **(run | dict(seed=9, draws=70, warmup=45)),
        )
    assert not compiled, compiled


def test_what_may_change_compiles_nothing():
    infer.sample(regression(), **RUN)
    changes = (
        dict(seed=9),
        dict(draws=70),
        dict(warmup=45),
        dict(chains=3),
        dict(thinning=3),
        dict(executor=infer.Serial()),
        dict(sampler=infer.NUTS(target_accept=0.9)),
        *(dict(sampler=infer.NUTS(metric=form)) for form in METRICS[1:]),
    )
    x = np.linspace(-1, 1, 50)
    with counting() as compiled:
        for change in changes:
            infer.sample(regression(), **{**RUN, **change})
        infer.sample(line(x, y=3 * x), **RUN)
    assert compiled == []


def test_other_labels_compile_nothing():
    import accord as ac
    import accord.distributions as dist

    @ac.model
    def model(names):
        m = ac.sample("m", dist.Normal(0.625, 3.25))
        with ac.plate("region", len(names), coords=names):
            ac.sample("effect", dist.Normal(m, 1.0))

    known = infer.prior_predictive(model(["a", "b"]), draws=5, quiet=True)
    with counting() as compiled:
        for names in (["b", "new"], ["newer", "a"], ["a", "newest"]):
            infer.predict(known, model(names), redraw=["effect"], quiet=True)
    assert len(compiled) == 1, compiled
    with counting() as compiled:
        for names in (["b", "a"], ["a", "b"]):
            infer.log_prior(known, model(names))
    assert len(compiled) == 1, compiled


def test_predictions_compile_one_program_and_new_data_none():
    model, rng = fresh_model(0.625), np.random.default_rng(0)
    with counting() as compiled:
        draws = {"m": rng.normal(size=(2, 20))}
        infer.log_likelihood(draws, model(np.arange(5.0)))
    assert len(compiled) == 1, compiled
    with counting() as compiled:
        infer.log_likelihood({"m": rng.normal(size=(3, 50))}, model(np.arange(5.0) + 1))
    assert not compiled, compiled
    with counting() as compiled:
        infer.predict(draws, model(np.arange(5.0)), seed=1)
        infer.predict(draws, model(np.arange(5.0) + 1), seed=2)
    assert len(compiled) == 1, compiled


def test_new_observations_by_condition_compile_nothing():
    model = eight_schools(SCHOOLS_SIGMA)
    infer.sample(model.condition({"y": SCHOOLS_Y}), **RUN)
    with counting() as compiled:
        infer.sample(model.condition({"y": SCHOOLS_Y[::-1].copy()}), **RUN)
    assert compiled == []


def test_new_codes_of_the_same_levels_compile_nothing():
    import accord as ac
    import accord.distributions as dist

    @ac.model
    def groups(group, y):
        with ac.plate("group", group.num_levels, coords=group.levels):
            mean = ac.sample("mean", dist.Normal(0, 4.125))
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(mean[group.codes], 1), obs=y)

    draws, levels = {"mean": np.zeros((1, 5, 2))}, ("a", "b")
    with counting() as compiled:
        infer.log_likelihood(draws, groups(ac.levels(["a", "b", "a"]), np.arange(3.0)))
    assert len(compiled) == 1, compiled
    with counting() as compiled:
        infer.log_likelihood(draws, groups(ac.levels(["b", "b", "b"], levels=levels), np.ones(3)))
    assert not compiled, compiled


def test_models_that_differ_only_in_names_share_a_program():
    import accord as ac
    import accord.distributions as dist

    @ac.model
    def one(y, scale):
        m = ac.sample("m", dist.Normal(0, 2.5))
        ac.sample("y", dist.Normal(m, scale), obs=y)

    @ac.model
    def other(height, error):
        m = ac.sample("m", dist.Normal(0, 2.5))
        ac.sample("height", dist.Normal(m, error), obs=height)

    y, scale = np.array([1.0, 2.0]), np.array([0.5, 0.7])
    first = infer.sample(one(y, scale), **RUN)
    second = infer.sample(other(height=y, error=scale), **RUN)
    np.testing.assert_array_equal(first["m"], second["m"])


def test_a_changed_global_is_seen():
    """A cache by the function's name or identity would go on with the old value."""
    import accord as ac
    import accord.distributions as dist

    where = {"center": 0.0}

    @ac.model
    def model(y):
        m = ac.sample("m", dist.Normal(where["center"], 0.01))
        with ac.plate("row", y.shape[0]):
            ac.sample("y", dist.Normal(m, 10.0), obs=y)

    before = infer.sample(model(np.zeros(3)), **RUN)["m"].mean()
    where["center"] = 5.0
    after = infer.sample(model(np.zeros(3)), **RUN)["m"].mean()
    assert abs(before) < 0.1
    assert abs(after - 5) < 0.1


def test_a_second_process_finds_the_programs_on_disk(tmp_path):
    script = textwrap.dedent(
        """
        import jax, numpy as np
        hits = []
        jax.monitoring.register_event_listener(lambda name, **_: hits.append(name) if "cache_hit" in name else None)
        import accord as ac, accord.distributions as dist
        from accord import infer

        @ac.model
        def model(y):
            m = ac.sample("m", dist.Normal(0, 3))
            with ac.plate("row", y.shape[0]):
                ac.sample("y", dist.Normal(m, 2), obs=y)

        infer.sample(model(np.arange(4.0)), draws=20, warmup=20, chains=1, progress=False, quiet=True)
        print(len(hits))
        """
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "/usr/bin:/bin", "ACCORD_COMPILATION_CACHE": str(tmp_path), "HOME": str(tmp_path)},
        )
        for _ in range(2)
    ]
    assert [int(run.stdout) for run in runs] == [0, 2]
