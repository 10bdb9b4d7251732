"""Compute every test in float64, with JAX's strictest rules for dtypes and ranks."""

import functools
import hashlib
import time
from collections.abc import Iterator

import jax
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let checks that have so much time and no more run as many of the slow tests as fit."""
    parser.addoption("--until", type=float, help="skip what is left at this time, in seconds since 1970")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where time is short, begin with other files every day, so that what is skipped today is run on another day."""
    until = config.getoption("until")
    if until is not None:
        day = int(until) // 86400
        items.sort(key=lambda item: hashlib.sha256(f"{day} {item.path.name}".encode()).digest())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what no time is left for."""
    until = item.config.getoption("until")
    if until is not None and time.time() > until:
        pytest.skip("no time left: `pytest -m slow` runs all")


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


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the stuck after 3 seconds; one task takes a tenth of one."""
    from accord.drivers import run as runs
    from accord.drivers import scheduler as schedulers

    monkeypatch.setattr(runs, "Scheduler", functools.partial(schedulers.Scheduler, patience=3.0))
    monkeypatch.setattr(runs, "_TASK_SECONDS", {True: 0.0, False: 0.1})
    monkeypatch.setattr(schedulers, "_PATIENCE_AT_FIRST", 60.0)


@pytest.fixture
def tasks_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what each block of a thread has drawn handed over before the next."""
    from accord.drivers import run as runs

    monkeypatch.setattr(runs, "_TASK_SECONDS", {True: 0.0, False: 1.0})
