"""Gather the distributions that every law is tested for."""

import functools
import importlib
from pathlib import Path
from typing import Any

import jax
import numpy as np
from laws import compiled
from table_case import Case

FILES = [importlib.import_module(file.stem) for file in sorted(Path(__file__).parent.glob("cases_*.py"))]


def gather(kind: str) -> dict[str, Any]:
    """All lines of one kind, from every `cases_*.py`; a label is used once."""
    lines: dict[str, Any] = {}
    for file in FILES:
        for label, line in getattr(file, kind, {}).items():
            assert label not in lines, f"{label} is in two files"
            lines[label] = line
    return lines


UNIVARIATE: dict[str, Case] = gather("UNIVARIATE")
DISCRETE: dict[str, Case] = gather("DISCRETE")
MULTIVARIATE: dict[str, Case] = gather("MULTIVARIATE")
BATCHED: dict[str, Case] = gather("BATCHED")
OUTSIDE: dict[str, tuple] = gather("OUTSIDE")
ALL = UNIVARIATE | DISCRETE | MULTIVARIATE | BATCHED


# Lines that say something new only to the slow tests: batches, and further lines of a family that is there already.
_HEADS = [name.split(", ")[0] for name in ALL]
VARIANTS = {name for i, name in enumerate(ALL) if name in BATCHED or _HEADS.index(_HEADS[i]) < i}

SIZE = 10_000


def draws_of(case: Case, size: int = SIZE, precision: str = "float64") -> np.ndarray:
    """The first draws of one line of the table, up to `SIZE`, with a fixed key; drawn once for all laws."""
    return _draws(case, precision)[:size]


@functools.cache
def _draws(case: Case, precision: str) -> np.ndarray:
    """All draws of one line."""
    with jax.enable_x64(precision == "float64"):
        d = case.make()
        return np.asarray(compiled(lambda key: d.sample(key, (SIZE,)))(jax.random.key(7)))
