"""Name what is loaded when it is first used: one line for every public name and the file it is in."""

from .base import AbstractExecutor as AbstractExecutor
from .base import AbstractPool as AbstractPool
from .base import Surroundings as Surroundings
from .base import WorkerLostError as WorkerLostError
from .clusters.dask import Dask as Dask
from .clusters.ray import Ray as Ray
from .devices import Devices as Devices
from .gangs.multihost import MultiHost as MultiHost
from .local import Serial as Serial
from .local import ThreadPool as ThreadPool
from .local import Threads as Threads
from .local import available_cores as available_cores
from .local import gather as gather
from .processes import Processes as Processes
from .surroundings import surroundings_here as surroundings_here
