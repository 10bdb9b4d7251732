"""Choose the executor that the command line names."""

from collections.abc import Callable

from .. import infer
from ..core.errors import OptionError, suggest
from ..executors import AbstractExecutor

NAMES = "threads, processes, serial, dask or ray"

_HERE: dict[str, Callable[..., AbstractExecutor]] = {"threads": infer.Threads, "processes": infer.Processes}
_CLUSTERS: dict[str, Callable[..., AbstractExecutor]] = {"dask": infer.Dask, "ray": infer.Ray}


def executor_named(name: str, workers: int | None, cluster: str | None) -> AbstractExecutor:
    """Build the executor with these workers, on this cluster; `serial` has one worker and takes no number."""
    names = (*_HERE, "serial", *_CLUSTERS)
    if name not in names:
        raise OptionError(f"--executor must be {NAMES}, got {name!r}.{suggest(name, names)}")
    if cluster is not None and name not in _CLUSTERS:
        raise OptionError(f"--cluster {cluster} goes with --executor dask or ray, not {name}.")
    if name == "serial":
        if workers is not None:
            raise OptionError(f"--workers {workers} goes with every --executor but serial; serial has one.")
        return infer.Serial()
    if name in _CLUSTERS:
        return _CLUSTERS[name](cluster, workers=workers)
    return _HERE[name](workers=workers)
