"""Start near the reference of a kernel, where its estimates of the log density hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import keys
from ...density import LogDensity
from ...density.control import Reference
from .base import AT_ONCE, AbstractPoints, AbstractStart
from .table import TablePoints

_WIDTH = (
    2.0  # standard deviations of the normal about the reference: chains begin further apart than they end
)


@dataclass(frozen=True)
class FromReference(AbstractStart):
    """Start at draws from a normal about a reference, twice as wide as the one that fits its second derivatives.

    **Fields**: `reference`, None until it is known.
    """

    reference: Reference | None = None

    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> AbstractPoints:
        """Draw ten candidates of each chain."""
        assert self.reference is not None, "the reference is found before the starting points"
        roots = _roots(self.reference.hessian)
        rows = {}
        for chain in chains:
            words = keys.words(keys.chain_key(seed, chain), keys.USE_START, AT_ONCE)
            noise = np.stack([keys.generator_of(each).standard_normal(density.dim) for each in words])
            rows[chain] = self.reference.position + _WIDTH * noise @ roots.T
        return TablePoints("near the mode around which the log density is expanded", rows)

    def described(self) -> dict[str, Any]:
        """Its kind; the settings of the run have the reference."""
        return {"kind": "from_reference"}


def _roots(hessian: np.ndarray) -> np.ndarray:
    """Return a root of the covariance, shape `(dim, dim)`; a direction that is not curved downwards has none."""
    scales = np.abs(np.diag(hessian)).astype(float)
    scales = np.where(scales > 0, scales, 1.0) ** -0.5
    curvatures, axes = np.linalg.eigh(-hessian.astype(float) * scales * scales[:, None])
    is_told = curvatures > np.finfo(float).eps ** 0.5
    lengths = np.where(is_told, np.where(is_told, curvatures, 1.0) ** -0.5, 0.0)
    return scales[:, None] * axes * lengths
