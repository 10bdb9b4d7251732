"""Sample PyMC's models, and Bambi's."""

from .sample import sample
from .target import target

__all__ = ["sample", "target"]
