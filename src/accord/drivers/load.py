"""Read a stored run back, without its model."""

from dataclasses import replace
from pathlib import Path

from ..storage import RunFolder
from .draws import Draws
from .record import assemble, judge


def load(path: str | Path) -> Draws:
    """The draws of the run in folder `path`, as `infer.sample` returned them.

    A run that was killed before its end is judged now. One that is damaged is read up to the damage, which
    `draws.problems` names.

    **Raises** `StorageError` when no run is there.
    """
    run = RunFolder(path).load()
    draws = assemble(run)
    return draws if "notices" in run.records else replace(draws, notices=tuple(judge(draws)))
