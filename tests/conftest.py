"""Compute every test in float64, with JAX's strictest rules for dtypes and ranks."""

import jax


def pytest_configure() -> None:
    """Set this before any test module is imported, since tables of cases may compute."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
