"""Compare the table of names with what NumPyro has, and with what the door has."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from accord.numpyro import NotInAccord
from accord.numpyro.install import DOOR, ELSEWHERE
from accord.numpyro.names.refusal import Missing
from accord.numpyro.names.tables import TABLES

ROWS = [(module, name) for module, rows in TABLES.items() for name in rows]

LISTED = [
    "numpyro",
    "numpyro.contrib.control_flow",
    "numpyro.contrib.einstein",
    "numpyro.contrib.stochastic_support",
    "numpyro.diagnostics",
    "numpyro.distributions",
    "numpyro.distributions.constraints",
    "numpyro.distributions.transforms",
    "numpyro.handlers",
    "numpyro.infer",
    "numpyro.infer.autoguide",
    "numpyro.infer.mcmc",
    "numpyro.infer.util",
    "numpyro.optim",
]
"""Modules of NumPyro with a list of their public names."""


def _ours(module: str) -> Any:
    return importlib.import_module(ELSEWHERE.get(module, f"{DOOR}{module.removeprefix('numpyro')}"))


@pytest.mark.parametrize("module", LISTED)
def test_the_table_has_every_public_name(module: str) -> None:
    theirs = pytest.importorskip("numpyro") and importlib.import_module(module)
    assert sorted({*theirs.__all__} - TABLES[module].keys()) == []


@pytest.mark.parametrize("module", TABLES)
def test_each_name_is_there_or_says_what_to_write(module: str) -> None:
    rows = TABLES[module]
    if all(row.mark == "missing" for row in rows.values()):
        return
    door = _ours(module)
    for name, row in rows.items():
        found = getattr(door, name)
        assert isinstance(found, Missing) == (row.mark == "missing"), name


def test_a_missing_name_raises_where_it_is_used() -> None:
    from accord.numpyro.infer import psis_diagnostic

    words = r"`numpyro.infer.psis_diagnostic` is not in accord: .* has `pareto_k`"
    with pytest.raises(NotInAccord, match=words):
        psis_diagnostic(None)


def test_a_name_that_nobody_has_suggests_the_nearest() -> None:
    import accord.numpyro as door

    with pytest.raises(AttributeError, match=r"no 'sampl'. Did you mean 'sample'"):
        _ = door.sampl


def test_the_page_of_names_is_the_table() -> None:
    docs = Path(__file__).parents[2] / "docs"
    sys.path.insert(0, str(docs))
    try:
        import make_numpyro_names  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(docs))
    written = (docs / "numpyro_names.md").read_text(encoding="utf-8")
    assert written == make_numpyro_names.page(), "run `python docs/make_numpyro_names.py`"
