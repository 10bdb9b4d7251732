"""Run inference: sample from models, and read what was sampled."""

from .drivers.load import load as load
from .drivers.resume import resume as resume
from .drivers.sample import sample as sample
from .executors import Devices as Devices
from .executors import Processes as Processes
from .executors import Serial as Serial
from .executors import Threads as Threads
from .kernels import HMC as HMC
from .kernels import NUTS as NUTS
from .storage import Memory as Memory
from .storage import RunFolder as RunFolder
