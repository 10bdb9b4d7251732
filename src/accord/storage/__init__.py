"""Store draws as immutable segments, each with the state that follows it, and export them."""

from .base import AbstractRun, AbstractStore, Phase, Segment
from .export import to_netcdf, to_zarr
from .joined import KEPT_BYTES, Joined
from .manifest import STAMPED, Manifest
from .members import kinds_of
from .memory import Memory
from .run_folder import RunFolder

__all__ = [
    "KEPT_BYTES",
    "STAMPED",
    "AbstractRun",
    "AbstractStore",
    "Joined",
    "Manifest",
    "Memory",
    "Phase",
    "RunFolder",
    "Segment",
    "kinds_of",
    "to_netcdf",
    "to_zarr",
]
