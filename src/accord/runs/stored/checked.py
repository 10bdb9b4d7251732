"""Refuse stored runs that accord did not write, that nothing can mend, or that were started differently."""

import contextlib
from collections.abc import Iterator, Mapping

from ...core.errors import StorageError
from ...storage import AbstractRun, Manifest
from ..particulars import differences


@contextlib.contextmanager
def built_from(where: str) -> Iterator[None]:
    """Turn errors of constructors that were given what is stored at `where` into `StorageError`."""
    try:
        yield
    except StorageError:
        raise
    # Options of samplers, rules and starts are checked by their constructors, whose errors speak of a call.
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise StorageError(f"{where} was not written by accord: {error}") from error


def refuse_damaged(run: AbstractRun, names: Mapping[str, str]) -> None:
    """Raise `StorageError` if a record is damaged that cannot be made again; `names` says by record what to do."""
    for name, sentence in run.damaged_records.items():
        if name in names:
            raise StorageError(f"{sentence.removesuffix(' It is left out.')} {names[name]}")


def check_same(run: AbstractRun, here: Manifest) -> None:
    """Raise `StorageError` if `here`, the manifest of what would continue a run, differs from that of the run."""
    changed = differences(run.manifest, here)
    if changed:
        words = "; ".join(changed)
        of_nproc = " (nproc is set by the environment variable NPROC)" if "nproc" in words else ""
        raise StorageError(
            f"the run in {run.location} cannot be resumed, since it was started differently: {words}. Give the earlier "
            f"values{of_nproc}, or start a new run in another folder."
        )
