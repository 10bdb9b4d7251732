"""Run models that a look beforehand finds fault with: the run says it at its end, and loses nothing."""

import threading

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.cli import main

RUN = dict(draws=20, warmup=20, chains=1, progress=False, quiet=True)
X = np.arange(4.0)


@ac.model
def line(x, y, z):
    slope = ac.sample("slope", dist.Normal(0, 10))
    with ac.plate("row", len(x)), handlers.mask(mask=np.isfinite(y)):
        ac.sample("y", dist.Normal(slope * x, 1), obs=y)


@ac.model
def random_scale(y):
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, np.random.uniform(1, 2)), obs=y)


@ac.model
def fails_beside_a_run(y):
    if threading.current_thread().name.startswith("accord"):
        raise FileNotFoundError("no such table")
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, 1), obs=y)


CASES = {
    "unused data": (line(X, X, X), "warning", "unused_data", "'z'"),
    "all masked": (line(X, np.full(4, np.nan), X), "warning", "all_masked", "0 of 4"),
    "random numbers": (random_scale(X), "error", "not_repeatable", "'y'"),
    "an exception": (fails_beside_a_run(X), "warning", "not_repeatable", "FileNotFoundError: no such table"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_seen_while_programs_compile_is_said_with_the_draws(name, tmp_path):
    model, severity, code, words = CASES[name]
    draws = infer.sample(model, store=infer.RunFolder(tmp_path / "run"), **RUN)
    assert draws.complete
    found = {notice.code: notice for notice in draws.notices}
    assert found[code].severity == severity and words in found[code].message
    assert code in {notice.code for notice in infer.load(tmp_path / "run").notices}


def test_of_a_model_without_fault_nothing_is_said():
    @ac.model
    def plain(x, y):
        slope = ac.sample("slope", dist.Normal(0, 10))
        with ac.plate("row", len(x)):
            ac.sample("y", dist.Normal(slope * x, 1), obs=y)

    codes = {notice.code for notice in infer.sample(plain(X, X), **RUN).notices}
    assert codes <= {"too_few_draws", "single_chain", "short_warmup"}


def test_it_is_looked_at_too_where_nothing_is_left_to_compile():
    @ac.model
    def known(x, y, z):
        slope = ac.sample("slope", dist.Normal(0, 10))
        with ac.plate("row", len(x)):
            ac.sample("y", dist.Normal(slope * x, 1), obs=y)

    for _ in range(2):
        draws = infer.sample(known(X, X, X), **RUN)
        assert "unused_data" in {notice.code for notice in draws.notices}


FUNNEL = """
import accord as ac
import accord.distributions as dist


@ac.model
def funnel(z):
    v = ac.sample("v", dist.Normal(0, 3))
    ac.sample("theta", dist.Normal(0, 2.0**v))
"""
SHORT = dict(draws=60, warmup=20, chains=1, quiet=True)


def _sampled(model, folder):
    return infer.sample(model, store=infer.RunFolder(folder / "run"), **SHORT)


def _resumed(model, folder):
    _sampled(model, folder)
    max((folder / "run/chain-0000").iterdir()).unlink()  # as if the run had been killed before
    (folder / "run/record-notices.json").unlink()
    assert not infer.load(folder / "run").complete
    return infer.resume(folder / "run", model, quiet=True)


def _commanded(model, folder):
    (folder / "model.py").write_text(FUNNEL)
    (folder / "data.json").write_text('{"z": [1.0]}')
    files = [str(folder / "model.py"), "--data", str(folder / "data.json"), "--out", str(folder / "run")]
    with pytest.raises(SystemExit):
        main(["sample", *files, "--draws", "60", "--warmup", "20", "--chains", "1", "--quiet"])
    return infer.load(folder / "run")


WAYS = {
    "sampled": _sampled,
    "extended": lambda model, folder: infer.sample(model, **SHORT).extend(60),
    "resumed": _resumed,
    "resumed and extended": lambda model, folder: _resumed(model, folder).extend(60),
    "by the command": _commanded,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_running_checks_the_model_and_names_the_form_for_its_funnel(way, tmp_path):
    names = {}
    exec(FUNNEL, names)
    draws = WAYS[way](names["funnel"](np.ones(1)), tmp_path)
    found = {notice.code: notice for notice in draws.notices}
    assert "'z'" in found["unused_data"].message
    assert 'handlers.reparam(model, {"theta": reparam.LocScale()})' in found["divergences"].remedy
