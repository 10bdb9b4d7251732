"""Compute every test in float64, with JAX's strictest rules for dtypes and ranks."""

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
