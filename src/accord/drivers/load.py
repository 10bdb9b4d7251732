"""Read a stored run back, without its model."""

from pathlib import Path

from ..storage import RunFolder
from .draws import Draws
from .record import assemble


def load(path: str | Path) -> Draws:
    """The draws of the run in folder `path`, as `infer.sample` returned them.

    **Raises** `StorageError` when no run is there. A run that is damaged is read up to the damage, which
    `draws.problems` names.
    """
    return assemble(RunFolder(path).load())
