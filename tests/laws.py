"""State a law once and test it for every line of a table."""

import functools
import gc
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
import pytest

from accord.core.versions import QUICK_CPU_OPTIONS


def each(
    table: Mapping[str, Any], slow: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every entry of a table, given as its first argument; functions without arguments are called first.

    Entries are built inside the test, so that one which cannot be built fails alone, under its own name. Those named
    in `slow` are left to the slow tests.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        name = next(iter(inspect.signature(test).parameters))

        @functools.wraps(test)
        def run(**arguments: Any) -> None:
            entry = arguments.pop(name)
            is_factory = inspect.isfunction(entry) and not inspect.signature(entry).parameters
            test(**{name: entry() if is_factory else entry}, **arguments)

        entries = [
            pytest.param(entry, id=label, marks=pytest.mark.slow if label in slow else ())
            for label, entry in table.items()
        ]
        return pytest.mark.parametrize(name, entries)(run)

    return decorate


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without optimisation: the same operations, four times sooner, where a test's numbers are few."""
    options = {**QUICK_CPU_OPTIONS, "xla_backend_optimization_level": 0}
    return jax.jit(function, compiler_options=options)


def once_more_in_doubt(*seeds: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a statistical test with the first of `seeds`, and where that fails, with the next.

    A false alarm must happen twice, so that a rate of p becomes one of p squared. What is wrong fails every time.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**arguments: Any) -> None:
            for seed in seeds[:-1]:
                try:
                    test(**arguments, seed=seed)
                    return
                except AssertionError as doubt:
                    print(f"seed {seed}: {doubt}")
            test(**arguments, seed=seeds[-1])

        signature = inspect.signature(test)
        rest = [each for each in signature.parameters.values() if each.name != "seed"]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # for pytest
        return run

    return decorate


@contextmanager
def no_leaks() -> Iterator[None]:
    """Raise where a tracer outlives its trace.

    JAX's check asks the garbage collector for all that refers to a trace, which in a long test run takes seconds each
    time: what was there before is set aside.
    """
    gc.freeze()
    try:
        with jax.checking_leaks():
            yield
    finally:
        gc.unfreeze()


def assert_close(actual: Any, expected: Any, rtol: float = 1e-12, atol: float = 1e-12) -> None:
    """Compare two pytrees of arrays in shape and value; NaN equals NaN."""
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(
            np.asarray(a), np.asarray(b), rtol=rtol, atol=atol, strict=True
        ),
        actual,
        expected,
    )


def assert_finite(tree: Any) -> None:
    """Every number of a pytree is finite."""
    for leaf in jax.tree.leaves(tree):
        assert np.isfinite(np.asarray(leaf)).all(), leaf
