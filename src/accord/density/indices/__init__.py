"""Compare every integer of the data that indexes an axis with that axis, on the host."""

from .axes import Axes
from .closed_over import closed_over
from .find import Asked, Uses, find
from .judge import check_indices

__all__ = ["Asked", "Axes", "Uses", "check_indices", "closed_over", "find"]
