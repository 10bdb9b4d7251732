"""Sample PyMC's models, and Bambi's."""

from .sample import sample
from .sampler import Sampler
from .target import target

__all__ = ["Sampler", "sample", "target"]
