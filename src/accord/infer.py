"""Run inference: check models, sample from them, and read what was sampled."""

from .core.names import refusal as _refusal
from .density.row_files import rows as rows
from .drivers.calibration.calibrate import calibrate as calibrate
from .drivers.calibration.recover import simulate_and_recover as simulate_and_recover
from .drivers.check import check as check
from .drivers.explain import explain as explain
from .drivers.load import load as load
from .drivers.modes.find import find_mode as find_mode
from .drivers.predictive.evaluate import log_joint as log_joint
from .drivers.predictive.evaluate import log_likelihood as log_likelihood
from .drivers.predictive.evaluate import log_prior as log_prior
from .drivers.predictive.evaluate import returned as returned
from .drivers.predictive.predict import predict as predict
from .drivers.predictive.prior import prior_predictive as prior_predictive
from .drivers.predictive.waic import waic as waic
from .drivers.resume import resume as resume
from .drivers.sample import sample as sample
from .drivers.starting.prior import from_median as from_median
from .drivers.starting.prior import from_prior as from_prior
from .drivers.starting.uniform import from_uniform as from_uniform
from .drivers.starting.values import from_values as from_values
from .drivers.stopping.clock import Seconds as Seconds
from .drivers.stopping.ess import ESS as ESS
from .drivers.stopping.mcse import MCSE as MCSE
from .drivers.stopping.r_hat import RHat as RHat
from .executors import Dask as Dask
from .executors import Devices as Devices
from .executors import MultiHost as MultiHost
from .executors import Processes as Processes
from .executors import Ray as Ray
from .executors import Serial as Serial
from .executors import Threads as Threads
from .kernels import HMC as HMC
from .kernels import NUTS as NUTS
from .kernels import ChEES as ChEES
from .storage import Memory as Memory
from .storage import RunFolder as RunFolder

__getattr__ = _refusal(__name__)
