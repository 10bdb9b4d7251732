"""Say of what is computed from draws where it belongs: chains, dims, labels and data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.notice import Notice
from ..density.joint import Predictive
from .source import Source


def about(
    source: Source, target: Predictive, arrays: Mapping[str, np.ndarray], notices: Sequence[Notice]
) -> dict[str, Any]:
    """The fields that all that is computed from draws has in common."""
    layout = target.layout
    own = {name: value for name, value in target.data.items() if name not in target.marks}
    every = {**own, **target.constants}
    # What lies in files stays there, and keys are no numbers that can be shown.
    data = {name: value for name, value in every.items() if isinstance(value, np.ndarray)}
    observed = {entry.name: data[entry.source] for entry in layout.observed if entry.source in data}
    sources = {entry.source for entry in layout.observed}
    return {
        "sites": dict(arrays),
        "chains": source.chains,
        "dims": {entry.name: entry.dims for entry in layout.sites},
        "coords": layout.coords,
        "labelled": layout.labelled,
        "model": source.model.name,
        "precision": source.precision,
        "notices": tuple(notices),
        "observed": observed,
        "constants": {name: value for name, value in data.items() if name not in sources},
    }
