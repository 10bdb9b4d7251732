"""Press Ctrl-C at random moments, as a terminal gives it: to the run and to its workers."""

import gc
import importlib
import os
import signal
import time

import jax
import numpy as np
import pytest
from ctrl_c import pressed_once
from fault_models import (
    QUIET,
    Child,
    assert_same,
    finish,
    is_begun,
    needs_signals,
    resume,
    sample,
    sample_here,
    slow,
    target,
    voice,
)

from accord import infer
from accord.density import LogDensity

pytestmark = needs_signals

OPTIONS = dict(draws=20_000, warmup=3000, chains=2, seed=8, **QUIET)
EXECUTORS = {"threads": infer.Threads(2), "serial": infer.Serial(), "processes": infer.Processes(2)}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder with the programs of the run."""
    folder = tmp_path_factory.mktemp("programs")
    child = Child.start(folder, sample_here, folder / "cold", OPTIONS | dict(draws=1, warmup=0))
    assert child.hear()[0] == "done"
    child.end()
    return folder


@pytest.fixture(scope="module")
def expected():
    return sample(target(), **OPTIONS)


def interrupt(folder, cache, expected, executor, seconds, *, resumes=True):
    """Ctrl-C after so many seconds: whether the run was cut short."""
    child = Child.start(cache, begin_and_sample, folder, executor)
    assert child.hear()[0] == "begins"
    time.sleep(seconds)
    child.interrupt()
    word, _, result = child.hear()
    code = child.end()
    # Before a run has begun to be carried out, in the first tenths of a second, Ctrl-C is what it is in any program.
    if word == "raised":
        assert "KeyboardInterrupt" in result, result
        assert not is_begun(folder) or not infer.load(folder).num_draws
        return True
    complete, num_draws, notices = result
    assert code == 0
    assert complete or notices[0] == "incomplete"
    if is_begun(folder):
        assert_holds(folder, num_draws, expected)
    else:
        assert num_draws == 0
    if resumes:
        assert_same(finish(folder, target(), OPTIONS), expected)
    return not complete


def assert_holds(folder, num_draws, expected):
    loaded = infer.load(folder)
    assert loaded.num_draws == num_draws
    np.testing.assert_array_equal(loaded["x"], expected["x"][:, :num_draws])


def begin_and_sample(folder, executor):
    """Say when the run begins: before it, a Ctrl-C within a callback of the collector is lost, as in any program."""
    density = target()
    voice[0].send(("begins", time.monotonic(), None))
    draws = sample(density, store=infer.RunFolder(folder), executor=executor, **OPTIONS)
    return draws.complete, draws.num_draws, [notice.code for notice in draws.notices]


def press_within(phase, folder, executor):
    """Press Ctrl-C once a piece of this phase is committed: what came back."""
    with pressed_once(lambda piece: piece.phase == phase, to_group=True) as pieces:
        draws = sample(target(), store=infer.RunFolder(folder), executor=executor, **OPTIONS)
    return len(pieces), draws.complete, draws.num_draws, [notice.code for notice in draws.notices]


@pytest.mark.parametrize("phase", ["warmup", "sample"])
@pytest.mark.parametrize("name", ["threads", pytest.param("serial", marks=pytest.mark.slow), "processes"])
def test_ctrl_c_returns_what_was_drawn_and_the_run_can_go_on(tmp_path, cache, expected, name, phase):
    child = Child.start(cache, press_within, phase, tmp_path / "run", EXECUTORS[name])
    word, _, result = child.hear()
    assert word == "done", result
    pressed, complete, num_draws, notices = result
    assert pressed == 1 and not complete and notices[0] == "incomplete"
    assert child.end() == 0
    assert_holds(tmp_path / "run", num_draws, expected)
    if name != "serial":
        assert_same(finish(tmp_path / "run", target(), OPTIONS), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXECUTORS)
def test_50_interrupts_at_random_moments_lose_no_draw(tmp_path, cache, expected, name):
    child = Child.start(cache, begin_and_sample, tmp_path / "whole", EXECUTORS[name])
    began = child.hear()[1]
    seconds = child.hear()[1] - began
    child.end()
    rng = np.random.default_rng(12)
    cut = 0
    for number in range({"threads": 20, "serial": 10, "processes": 20}[name]):
        folder = "off" if number % 4 == 0 else cache
        cut += interrupt(
            tmp_path / str(number),
            folder,
            expected,
            EXECUTORS[name],
            rng.uniform(0, seconds),
            resumes=number % 3 == 0,
        )
    print(name, f"of {seconds:.1f} seconds: cut short:", cut)
    assert cut >= 4


@pytest.mark.parametrize("name", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_second_ctrl_c_raises_at_once(tmp_path, name):
    """Of a target whose block takes a minute."""
    sign = tmp_path / "at work"
    child = Child.start("off", sample_slowly, EXECUTORS[name], sign)
    until = time.monotonic() + 120
    while not sign.exists():
        assert time.monotonic() < until, "it has not begun"
        assert not child.pipe.poll(0.05), "it has ended"
    child.interrupt()
    for _ in range(240):  # two that come at once are one; a block goes on for a minute
        if child.pipe.poll(0.5):
            break
        child.interrupt()
    word, _, result = child.hear()
    assert (word, result[:17]) == ("raised", "KeyboardInterrupt"), result
    child.end()


def sample_slowly(executor, sign):
    os.environ["ACCORD_TEST_SIGN"] = str(sign)  # of the workers too
    jax.config.update("jax_enable_x64", True)  # JAX runs callbacks in threads where no run has a say
    sample(LogDensity.from_function(slow, np.zeros(2)), executor=executor, **OPTIONS)


def test_ctrl_c_while_the_draws_are_judged_loses_none_of_them(tmp_path):
    child = Child.start(tmp_path / "programs", sample_and_judge_slowly)
    assert child.hear()[0] == "judging"
    child.interrupt()
    word, _, result = child.hear()
    assert (word, result) == ("done", (True, 50))
    child.end()


def sample_and_judge_slowly():
    from accord.mcmc import host

    judge = host.judge

    def slowly(*arguments):
        voice[0].send(("judging", time.monotonic(), None))
        time.sleep(1.0)
        return judge(*arguments)

    host.judge = slowly
    draws = sample(target(), **(OPTIONS | dict(draws=50, warmup=50)))
    return draws.complete, draws.num_draws


@pytest.mark.parametrize("way", ["sample", "resume", "extend"])
def test_ctrl_c_within_the_collector_is_heard_while_a_run_is_prepared(tmp_path, way):
    """What is raised in a callback of the collector, of which JAX has one, is printed and lost."""
    child = Child.start("off", prepare_and_collect, tmp_path / "run", way)
    word, _, result = child.hear()
    child.end()
    assert (word, result[:17]) == ("raised", "KeyboardInterrupt"), result
    assert way == "sample" or infer.load(tmp_path / "run").num_draws == 50


def prepare_and_collect(folder, way):
    options = OPTIONS | dict(draws=50, warmup=50)
    draws = sample(target(), store=infer.RunFolder(folder), **options) if way != "sample" else None
    file, name = {
        "sample": ("mcmc.prepare", "describe"),
        "resume": ("mcmc.resumed", "describe"),
        "extend": ("mcmc.extended", "is_in_force"),
    }[way]
    module = importlib.import_module(f"accord.{file}")
    inner = getattr(module, name)

    def press(phase, _):
        gc.callbacks.remove(press)
        signal.raise_signal(signal.SIGINT)

    def with_a_press(*arguments):
        gc.callbacks.append(press)
        gc.collect()
        return inner(*arguments)

    setattr(module, name, with_a_press)
    if draws is None:
        sample(target(), **options)
    elif way == "resume":
        resume(folder, target(), **QUIET)
    else:
        draws.extend(50)
