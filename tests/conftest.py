"""Compute every test in float64, with JAX's strictest rules for dtypes and ranks."""

import functools
from collections.abc import Iterator

import jax
import pytest


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
