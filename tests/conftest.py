"""Compute every test in float64, with JAX's strictest rules for dtypes and ranks."""

import signal
import time
from collections.abc import Iterator

import jax
import pytest
from core_tests import COLLECTED, is_core, is_left_to_slow
from slow_turns import NUM_TURNS, Share, share_here


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let checks that have so much time and no more do a share of the slow tests."""
    parser.addoption("--share", action="store_true", help="do what a change touches, and a third of the rest")
    parser.addoption(
        "--touched-until", type=float, help="skip what is only touched at this time, in seconds since 1970"
    )
    parser.addoption("--until", type=float, help="skip what is left at this time, in seconds since 1970")


GRACE = 10 * 60
"""Seconds that a test may go on after the time at which none begins any more."""
SHARE = pytest.StashKey[Share]()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Give each worker a stretch of neighbours: what a module prepares is then prepared by one worker alone."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what the lists name, and remember every test."""
    item.config.stash.setdefault(COLLECTED, set()).add(item.nodeid)
    if is_left_to_slow(item.nodeid):
        item.add_marker("slow")
    if is_core(item.nodeid) and item.get_closest_marker("slow") is None:
        item.add_marker("core")


@pytest.hookimpl(trylast=True)  # of what `-m` has selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what the change touches first, and leave out what is neither touched nor due in this run."""
    if not config.getoption("share"):
        return
    share = config.stash[SHARE] = _share(config)
    touched = [item for item in items if share.is_touched(item.nodeid)]
    others = [item for item in items if not share.is_touched(item.nodeid)]
    config.hook.pytest_deselected(items=[item for item in others if not share.is_due(item.nodeid)])
    items[:] = [*touched, *(item for item in others if share.is_due(item.nodeid))]


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which share it is."""
    if not config.getoption("share"):
        return None
    share = _share(config)
    return f"slow tests: turn {share.turn + 1} of {NUM_TURNS}, touched: {', '.join(sorted(share.touched)) or 'none'}"


def _share(config: pytest.Config) -> Share:
    """The share of this run: all processes of one run find the same."""
    return share_here(config.rootpath, config.getoption("until") or 0.0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what no time is left for: first what another run does in its turn."""
    until, share = item.config.getoption("until"), item.config.stash.get(SHARE, None)
    if share is not None and not share.is_due(item.nodeid):
        until = item.config.getoption("touched_until") or until
    if until is not None and time.time() > until:
        pytest.skip("no time left: `pytest -m slow` runs all")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """End a test that goes on for too long after the last ones began: no single one keeps all others' results."""
    until = item.config.getoption("until")
    if until is None:
        return (yield)

    def end(*_: object) -> None:
        pytest.skip(f"no time left after {time.time() - began:.0f} s of this test: `pytest -m slow` runs all")

    began = time.time()
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(until + GRACE - began, 1.0))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def pytest_configure() -> None:
    """Set this before any test module is imported, since tables of cases may compute."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(scope="module", autouse=True)
def _programs_end_with_their_module() -> Iterator[None]:
    """Let go of what JAX has compiled for a module: kept, it would grow to gigabytes."""
    yield
    jax.clear_caches()
