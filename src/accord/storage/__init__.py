"""Store draws as immutable segments, each with the state that follows it, and export them."""

from .base import AbstractRun, AbstractStore, Phase, Segment, check_segment
from .export import to_netcdf, to_zarr
from .joined import KEPT_BYTES, Joined
from .manifest import STAMPED, Manifest, to_json
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
    "check_segment",
    "kinds_of",
    "to_json",
    "to_netcdf",
    "to_zarr",
]
