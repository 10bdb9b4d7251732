"""Ask for more memory than there is, and see that a run on disk needs no more for being long."""

import time

import numpy as np
import pytest
from fault_models import (
    QUIET,
    SEGMENT,
    Child,
    needs_proc,
    needs_signals,
    sample,
    target,
    voice,
)

from accord import infer
from accord.core.errors import OptionError
from accord.density import LogDensity
from accord.mcmc import compiled, memory
from accord.mcmc.stored import record
from accord.report import evidence, summarise
from accord.runs import memory as machine
from accord.storage import Joined
from accord.storage.run_folder import RunFolderRun


def gaussian(x):
    return -0.5 * (x**2).sum()


def test_draws_that_do_not_fit_are_refused_before_anything_is_compiled(monkeypatch):
    """3e9 numbers are 24 gigabytes, and are held twice."""
    monkeypatch.setattr(memory, "free_bytes", lambda: 16 * 2**30)
    monkeypatch.setattr(compiled, "compile_lowered", lambda *_, **__: pytest.fail("it compiled"))
    with pytest.raises(OptionError, match=r"take .* GiB, and 16 GiB are free\. .*RunFolder.*thinning"):
        sample(target(), draws=10**9, chains=1, **QUIET)
    wide = LogDensity.from_function(gaussian, np.broadcast_to(0.0, (10**6,)))
    with pytest.raises(OptionError, match="GiB are free"):
        sample(wide, draws=1000, chains=1, **QUIET)


def test_draws_that_go_to_disk_are_not_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1)
    options = dict(draws=10, warmup=10, chains=1, **QUIET)
    with pytest.raises(OptionError):
        sample(target(), **options)
    assert sample(target(), store=infer.RunFolder(tmp_path / "run"), **options).num_draws == 10


def test_a_run_larger_than_memory_is_judged_and_read_in_parts(monkeypatch, tmp_path):
    """As if 256 MiB were nothing: the same draws, notices and table as in memory, by reads of bounded size."""
    wide = LogDensity.from_function(gaussian, np.zeros((40, 5)))
    options = dict(draws=300, warmup=100, chains=2, executor=infer.Serial(), **QUIET)
    expected = sample(wide, **options)
    sizes: list[int] = []
    columns = Joined.columns

    def counted(series, name, scalars):
        found = columns(series, name, scalars)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(Joined, "columns", counted)
    monkeypatch.setattr(record, "KEPT_BYTES", 0)
    monkeypatch.setattr(evidence, "BUDGET", 600 * 30)
    monkeypatch.setattr(evidence, "READ", bound := 600 * 10)
    found = sample(wide, store=infer.RunFolder(tmp_path / "run"), **options)
    loaded = infer.load(tmp_path / "run")
    table = summarise(loaded.sites, most_read=bound)
    codes = {each.code for each in found.notices}
    assert "judged_in_part" in codes <= {"judged_in_part", *(each.code for each in expected.notices)}
    assert sizes and max(sizes) <= bound
    for draws in (found, loaded):
        assert repr(draws) == repr(expected)
        np.testing.assert_array_equal(draws["x"], expected["x"])
        np.testing.assert_array_equal(draws.stats["lp"], expected.stats["lp"])
        np.testing.assert_array_equal(draws.warmup["position"], expected.warmup["position"])
    for column in ("mean", "sd", "ess_bulk", "r_hat"):
        np.testing.assert_allclose(table[column], expected.summary()[column], rtol=1e-12)


@needs_signals
@needs_proc
def test_a_limit_on_the_address_space_is_known(tmp_path):
    """The process is told before it would die, and goes on."""
    child = Child.start(tmp_path / "programs", sample_within)
    word, _, result = child.hear()
    assert (word, child.end()) == ("done", 0), result
    message, num_draws = result
    assert "GiB are free" in message
    assert num_draws == 50


def sample_within():
    import resource

    used = machine._address_space()
    limit = used + 3 * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    options = dict(warmup=50, chains=1, **QUIET)
    try:
        sample(target(), draws=5 * 10**7, **options)
    except OptionError as error:
        return str(error), sample(target(), draws=50, **options).num_draws


DIM, NUM_SEGMENTS = 500, 60


@needs_signals
@needs_proc
@pytest.mark.slow
def test_a_long_run_on_disk_needs_no_more_memory_than_a_short_one(tmp_path):
    """Resident memory after each segment: over the last 40 it grows by two blocks at most, and would by 40."""
    child = Child.start(tmp_path / "programs", measure, tmp_path / "run")
    word, _, sizes = child.hear(300)
    child.kill()
    assert word == "measured"
    block = SEGMENT * DIM * 8 * 3  # positions, gradients and sites
    third = NUM_SEGMENTS // 3
    growth = np.median(sizes[-third:]) - np.median(sizes[third : 2 * third])
    assert growth <= 2 * block, np.asarray(sizes) // 2**20
    assert max(sizes[third:]) - min(sizes[third:]) <= 6 * block


def measure(folder):
    sizes: list[int] = []
    append = RunFolderRun.append

    def weighed(run, segment):
        append(run, segment)
        sizes.append(resident())
        if len(sizes) == NUM_SEGMENTS:
            voice[0].send(("measured", time.monotonic(), sizes))
            time.sleep(60)  # to read it all again is another matter

    RunFolderRun.append = weighed
    wide = LogDensity.from_function(gaussian, np.zeros(DIM))
    options = dict(warmup=64, chains=1, executor=infer.Serial(), **QUIET)
    sample(wide, draws=10**6, store=infer.RunFolder(folder), **options)


NUM_DRAWS = 500_000


@needs_signals
@needs_proc
@pytest.mark.slow
def test_half_a_million_draws_on_disk_need_no_more_memory_than_a_tenth_of_them(tmp_path):
    """At the usual pace, to the end of the run: the draws and their positions take 76 MiB."""
    child = Child.start(tmp_path / "programs", stream, tmp_path / "run")
    word, _, result = child.hear(900)
    assert (word, child.end()) == ("done", 0), result
    sizes, after, num_draws = result
    mib = np.asarray(sizes) / 2**20
    tenth = len(mib) // 10
    begin, end = mib[tenth : 2 * tenth], mib[-tenth:]
    print(
        f"\n{num_draws} draws in {len(mib)} segments: {np.median(begin):.0f} MiB resident after a tenth, "
        f"{np.median(end):.0f} at the end, {mib[tenth:].max():.0f} at most, {after / 2**20:.0f} once judged"
    )
    assert num_draws == NUM_DRAWS
    assert np.median(end) - np.median(begin) < 8
    assert mib[tenth:].max() - mib[tenth:].min() < 16


def stream(folder):
    sizes: list[int] = []
    append = RunFolderRun.append

    def weighed(run, segment):
        append(run, segment)
        sizes.append(resident())

    RunFolderRun.append = weighed
    narrow = LogDensity.from_function(gaussian, np.zeros(10))
    options = dict(warmup=200, chains=1, executor=infer.Serial(), **QUIET)
    draws = infer.sample(narrow, draws=NUM_DRAWS, store=infer.RunFolder(folder), **options)
    return sizes, resident(), draws.num_draws


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
