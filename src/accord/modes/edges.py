"""Find unknowns at the edge of their support."""

import numpy as np

from ..density import LogDensity
from ..optimise.information import Information
from ..optimise.surface import values_of_sites
from ..optimise.view import View

PART = 0.1
"""The least part of a level direction that a coordinate has to have to be named."""

_SATURATION = 0.3  # of a scale: 0.013 is so near to zero, while where chains begin it is 0.6 at the least
_MAX_COORDINATES = 64  # that are looked at


def at_edge(density: LogDensity, view: View, information: Information) -> np.ndarray:
    """Return which level coordinates are so far out that their values hardly change, shape `(dim,)`.

    On the way back to half of what it is, a value then changes by much more than its slope says.
    """
    is_edge = np.zeros(density.dim, bool)
    if not information.level.size:
        return is_edge
    coordinates = np.flatnonzero(level_parts(information) > PART)[:_MAX_COORDINATES]
    moved = np.tile(view.position, (len(coordinates), 1))
    moved[np.arange(len(coordinates)), coordinates] /= 2
    values = values_of_sites(density)(moved)
    names = [entry.name for entry in density.layout.entries]
    flat = np.concatenate([values[name].reshape(len(coordinates), -1) for name in names], axis=1)
    changes = np.linalg.norm(flat - view.latents, axis=1)
    slopes = np.linalg.norm(view.slopes[:, coordinates], axis=0) * np.abs(view.position[coordinates]) / 2
    is_edge[coordinates] = slopes < _SATURATION * changes
    return is_edge


def level_parts(information: Information) -> np.ndarray:
    """Return the share of each coordinate in the level directions, shape `(dim,)`, in [0, 1]."""
    return np.linalg.norm(information.level / information.scales[:, None], axis=1)
