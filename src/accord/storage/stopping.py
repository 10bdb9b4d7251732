"""Ask the writer of a run folder to stop, by a file in the folder.

Whoever may write to the folder may ask, from any process or machine that sees it. The writer looks for the file each
time that it has committed a segment, and removes it when it closes the run or takes it up again.
"""

import os
from pathlib import Path

from .files import remove, write_json

NAME = "stop"


def ask(folder: Path) -> None:
    """Ask the writer of a folder to stop; to ask twice is harmless. **Raises** `StorageError` in a read-only folder."""
    write_json(folder / NAME, {"process": os.getpid()})


def is_asked(folder: Path) -> bool:
    """Return whether the writer of a folder is to stop. Nothing in the file is read."""
    return os.path.lexists(folder / NAME)


def forget(folder: Path) -> None:
    """Remove the request, if there is one. **Raises** `StorageError` if it cannot be removed."""
    if is_asked(folder):
        remove(folder / NAME)
