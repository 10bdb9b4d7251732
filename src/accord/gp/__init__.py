"""Build Gaussian processes: covariance functions, exact regression, and approximations by basis functions."""

from .base import AbstractCovariance as AbstractCovariance
from .exact import conditional as conditional
from .exact import marginal as marginal
from .harmonic_basis import HarmonicBasis as HarmonicBasis
from .matern import Matern12 as Matern12
from .matern import Matern32 as Matern32
from .matern import Matern52 as Matern52
from .periodic import Periodic as Periodic
from .sine_basis import SineBasis as SineBasis
from .stationary import RationalQuadratic as RationalQuadratic
from .stationary import SquaredExponential as SquaredExponential
from .weights import weights as weights
