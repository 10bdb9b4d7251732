"""Run inference: check models, sample from them, and read what was sampled."""

from .density.row_files import rows as rows
from .drivers.calibration.calibrate import calibrate as calibrate
from .drivers.calibration.recover import simulate_and_recover as simulate_and_recover
from .drivers.check import check as check
from .drivers.explain import explain as explain
from .drivers.load import load as load
from .drivers.resume import resume as resume
from .drivers.sample import sample as sample
from .drivers.starting.prior import from_median as from_median
from .drivers.starting.prior import from_prior as from_prior
from .drivers.starting.uniform import from_uniform as from_uniform
from .drivers.starting.values import from_values as from_values
from .executors import Dask as Dask
from .executors import Devices as Devices
from .executors import MultiHost as MultiHost
from .executors import Processes as Processes
from .executors import Ray as Ray
from .executors import Serial as Serial
from .executors import Threads as Threads
from .kernels import HMC as HMC
from .kernels import NUTS as NUTS
from .storage import Memory as Memory
from .storage import RunFolder as RunFolder
