"""Name what is loaded when it is first used: one line for every public name and the file it is in."""

from .base import AbstractRun as AbstractRun
from .base import AbstractStore as AbstractStore
from .base import Phase as Phase
from .base import Segment as Segment
from .base import check_segment as check_segment
from .export import to_netcdf as to_netcdf
from .export import to_zarr as to_zarr
from .joined import KEPT_BYTES as KEPT_BYTES
from .joined import Joined as Joined
from .manifest import STAMPED as STAMPED
from .manifest import Manifest as Manifest
from .manifest import to_json as to_json
from .members import kinds_of as kinds_of
from .memory import Memory as Memory
from .run_folder import RunFolder as RunFolder
