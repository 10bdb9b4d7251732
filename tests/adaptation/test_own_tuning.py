"""Tune kernels by what is neither a step size nor a metric: whatever a run has, it has for them too."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ctrl_c import pressed_once
from own_adaptations import Independent, Sweep, Turns
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import StorageError
from accord.kernels import AbstractKernel
from accord.mcmc.draws import Draws
from accord.report import NoProgress
from accord.storage import Segment

OPTIONS: dict[str, Any] = dict(draws=400, warmup=200, chains=3, seed=4, progress=False, quiet=True)
LOCS, WIDTHS = np.array([1.0, -2.0, 0.0, 3.0]), np.array([0.1, 30.0, 1.0, 2.0])

KERNELS: dict[str, AbstractKernel] = {
    "a scale each": Sweep(),
    "nothing": Independent((0.98, -1.0, 0.1, 3.2), (0.13, 40.0, 1.3, 2.5)),
    "two blocks": Turns(),
}


@ac.model
def wide() -> None:
    ac.sample("x", dist.Normal(LOCS, WIDTHS).to_event(1))


@pytest.fixture(scope="module", params=KERNELS)
def case(request: Any) -> tuple[AbstractKernel, Draws]:
    kernel = KERNELS[request.param]
    return kernel, infer.sample(wide(), kernel, executor=infer.Serial(), **OPTIONS)


def equal(one: Draws, other: Draws) -> None:
    np.testing.assert_array_equal(one["x"], other["x"])
    for part in ("stats", "tuning", "warmup"):
        assert list(getattr(one, part)) == list(getattr(other, part))
        for name, array in getattr(one, part).items():
            np.testing.assert_array_equal(array, getattr(other, part)[name], err_msg=name)


def test_it_draws_from_the_posterior(case: Any) -> None:
    """Means within five of their errors, a false alarm of 6e-7 for each of four; widths within a quarter of theirs."""
    _, draws = case
    found = draws.summary("x")
    assert (np.abs(draws["x"].mean((0, 1)) - LOCS) < 5 * found["mcse_mean"]).all()
    assert np.abs(draws["x"].std((0, 1)) / WIDTHS - 1).max() < 0.25


TUNING = {
    "a scale each": {"scale": (3, 4), "num_learnt": (3,), "aim": (3,)},
    "nothing": {},
    "two blocks": {
        **{f"0.{name}": shape for name, shape in {"scale": (3, 1), "num_learnt": (3,), "aim": (3,)}.items()},
        **{f"1.{name}": (3,) for name in ("step_size", "metric", "metric_reason", "target_accept")},
        "1.inverse_mass": (3, 3),
    },
}


@pytest.mark.parametrize("name", KERNELS)
def test_its_tuning_has_the_columns_that_it_describes(name: str) -> None:
    draws = infer.sample(wide(), KERNELS[name], **OPTIONS)
    shapes = {column: array.shape for column, array in draws.tuning.items()}
    assert shapes == {**TUNING[name], "num_warmup": (3,), "is_settled": (3,)}
    described = {each["name"]: (3, *each["shape"]) for each in draws.manifest["tuning"]}
    assert described == TUNING[name]


def test_scales_are_those_of_the_coordinates() -> None:
    """2.4 standard deviations are best for one coordinate; after 200 draws none is wrong by a factor of two."""
    draws = infer.sample(wide(), Sweep(), **OPTIONS)
    assert np.abs(np.log(draws.tuning["scale"] / (2.4 * WIDTHS))).max() < np.log(2)
    assert (draws.tuning["num_learnt"] == 200).all() and draws.tuning["num_learnt"].dtype == np.int64
    assert list(draws.tuning["aim"]) == ["accept 0.44"] * 3


def test_each_block_learns_from_its_own_draws() -> None:
    draws = infer.sample(wide(), Turns(), **OPTIONS)
    assert set(draws.tuning["1.metric"]) == {"dense"}
    np.testing.assert_allclose(np.sqrt(draws.tuning["1.inverse_mass"]), [WIDTHS[1:]] * 3, rtol=1e-6)
    assert np.abs(np.log(draws.tuning["0.scale"] / (2.4 * WIDTHS[:1]))).max() < np.log(2)


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(case: Any, executor: Any) -> None:
    kernel, draws = case
    equal(infer.sample(wide(), kernel, executor=executor, **OPTIONS), draws)


def test_chains_in_lanes_draw_the_same(case: Any) -> None:
    kernel, draws = case
    lanes = infer.sample(wide(), kernel, lanes=3, executor=infer.Serial(), **OPTIONS)
    equal(infer.sample(wide(), kernel, lanes=3, executor=infer.Threads(2), **OPTIONS), lanes)
    if not isinstance(kernel, Turns):  # whose metric makes another rounding another draw
        np.testing.assert_allclose(lanes["x"], draws["x"], rtol=1e-9)


@pytest.mark.parametrize("phase", ["warmup", "sample"])
def test_an_interrupted_run_goes_on_where_it_was(case: Any, phase: str, tmp_path: Any) -> None:
    kernel, draws = case
    path = tmp_path / "run"
    short = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    with pressed_once(lambda piece: piece.phase == phase and piece.stop < 150) as pressed:
        begun = infer.sample(wide(), kernel, executor=short, store=infer.RunFolder(path), **OPTIONS)
    assert pressed and not begun.complete
    with pytest.raises(StorageError, match="sampler="):
        infer.resume(path, wide(), quiet=True)
    equal(infer.resume(path, wide(), sampler=kernel, quiet=True), draws)
    equal(infer.load(path), draws)  # which knows nothing of the kernel


def without(segment: Segment, beginning: str) -> Segment:
    end = {name: array for name, array in segment.end_state.items() if not name.startswith(beginning)}
    return replace(segment, end_state=end)


@pytest.mark.parametrize(
    ("beginning", "is_read"),
    [("tuning.scale", False), ("state.learnt.log_scale", True), ("state.kernel.point.", True)],
)
def test_a_store_that_lacks_what_a_chain_had_learnt_is_refused(
    tmp_path: Any, beginning: str, is_read: bool
) -> None:
    options = OPTIONS | dict(draws=50, warmup=50, chains=1)
    infer.sample(wide(), Sweep(), store=infer.RunFolder(tmp_path / "run"), **options)
    run = infer.RunFolder(tmp_path / "run").load()
    forged = infer.RunFolder(tmp_path / "forged").create(run.manifest)
    for name, record in run.records.items():
        forged.record(name, record)
    forged.record("extended", 60)
    for segment in run.segments(0):
        forged.append(without(segment, beginning))
    forged.close()
    if is_read:
        assert infer.load(tmp_path / "forged").num_draws == 50
    else:
        with pytest.raises(StorageError, match=r"'tuning\.scale' of dtype float64 and shape \(4,\)"):
            infer.load(tmp_path / "forged")
    with pytest.raises(StorageError, match=beginning.removeprefix("state.")):
        infer.resume(tmp_path / "forged", wide(), sampler=Sweep(), quiet=True)


def test_a_damaged_file_is_told_and_drawn_again(case: Any, tmp_path: Any) -> None:
    kernel, draws = case
    infer.sample(wide(), kernel, store=infer.RunFolder(tmp_path / "run"), **OPTIONS)
    file = sorted((tmp_path / "run" / "chain-0001").glob("segment-*.npz"))[-1]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert "damaged" in [each.code for each in infer.load(tmp_path / "run").notices]
    equal(infer.resume(tmp_path / "run", wide(), sampler=kernel, quiet=True), draws)


def test_a_run_of_another_adaptation_is_not_taken_up(tmp_path: Any) -> None:
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(wide(), Turns(), store=store, **(OPTIONS | dict(draws=50, warmup=50)))

    class Other(Turns):
        @property
        def adaptation(self) -> Any:
            return Sweep().adaptation

    Other.__name__ = "Turns"
    with pytest.raises(StorageError, match=r"started differently: .*tuning"):
        infer.resume(tmp_path / "run", wide(), sampler=Other(), quiet=True)


class Display(NoProgress):
    """Keeps the columns that it is shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[str, float], ...]] = []

    def update(self, *args: Any, **shown: Any) -> None:
        self.seen.append(tuple(shown["columns"]))


def test_progress_shows_what_the_adaptation_says(monkeypatch: Any) -> None:
    display = Display()
    monkeypatch.setattr("accord.mcmc.prepare.display", lambda progress, quiet: display)
    draws = infer.sample(wide(), Sweep(), **(OPTIONS | dict(chains=1)))
    assert display.seen[-1] == (("widest", pytest.approx(draws.tuning["scale"].max())),)
    display.seen.clear()
    infer.sample(wide(), KERNELS["nothing"], **(OPTIONS | dict(draws=50)))
    assert set(display.seen) == {()}


def test_steps_show_it_too() -> None:
    walk = infer.steps(wide(), Sweep(), warmup=20, seed=4)
    step = next(each for each in walk if each.phase == "sample")
    assert step.tuning["scale"].shape == (4,) and step.tuning["num_learnt"] == 20


def test_no_notice_speaks_of_what_the_kernel_does_not_have(case: Any) -> None:
    """Chains that agree, of a kernel that refuses many proposals, and of a short warm-up."""
    kernel, draws = case
    assert {each.code for each in draws.notices} <= {"ess_bulk", "ess_tail", "r_hat", "nothing_observed"}
    short = infer.sample(wide(), kernel, **(OPTIONS | dict(warmup=20)))
    texts = " ".join(map(str, short.notices))
    assert "step size" not in texts and "metric" not in texts
    has_short = "short_warmup" in [each.code for each in short.notices]
    assert has_short == bool(short.manifest["tuning"])


def test_it_is_exported_and_described(case: Any) -> None:
    _, draws = case
    json.dumps(dict(draws.manifest))
    assert "tuning" in draws.to_arviz().attrs
    assert "x[0]" in str(draws.summary())
