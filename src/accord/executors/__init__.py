"""Run jobs: in threads of this process."""

from .base import AbstractExecutor as AbstractExecutor
from .base import Job as Job
from .local import Serial as Serial
from .local import Threads as Threads
from .local import available_cores as available_cores
from .local import gather as gather
