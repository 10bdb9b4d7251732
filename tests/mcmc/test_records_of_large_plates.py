"""Hold that the record of a run over very many rows is short."""

from typing import Any

import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.mcmc.plan import Plan
from accord.mcmc.stored.describe import describe
from accord.report.labels import as_labels
from accord.runs.stored.describe import labelled_in
from accord.storage import Manifest

ROWS = 5000


@ac.model
def labelled(size: int, coords: Any = None) -> None:
    with ac.plate("row", size, coords=coords):
        ac.sample("x", dist.Normal(0, 1))


def record_of(model: ac.Model) -> Manifest:
    density = model.log_density()
    plan = Plan(infer.NUTS(), 10, 10, 1, 0, 1, "float64", density.dim, 10)
    return describe(density, plan, [0], infer.from_uniform())


@pytest.mark.parametrize(
    ("size", "coords", "own"), [(10**6, None, ()), (3, None, ()), (ROWS, range(ROWS), ("row",))]
)
def test_default_labels_take_no_room_in_a_record(size: int, coords: Any, own: tuple[str, ...]) -> None:
    """Ten million of them took seconds and hundreds of megabytes before the first draw."""
    record = record_of(labelled(size, coords))
    assert len(record.text) < 3000
    assert labelled_in(record["layout"]) == own
    assert as_labels(record["layout"]["coords"]["row"]) == tuple(range(size))


def test_labels_that_are_not_the_default_are_listed_however_many_they_are() -> None:
    record = record_of(labelled(ROWS, range(1, ROWS + 1)))
    assert record["layout"]["coords"]["row"] == list(range(1, ROWS + 1))
