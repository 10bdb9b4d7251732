"""Store draws as immutable segments, each with the state that follows it, and export them."""

from .base import AbstractRun, AbstractStore, Phase, Segment, join
from .export import to_netcdf, to_zarr
from .manifest import STAMPED, Manifest
from .memory import Memory
from .run_folder import RunFolder

__all__ = [
    "STAMPED",
    "AbstractRun",
    "AbstractStore",
    "Manifest",
    "Memory",
    "Phase",
    "RunFolder",
    "Segment",
    "join",
    "to_netcdf",
    "to_zarr",
]
