"""Compute standard errors of the unknowns from the information at a mode."""

from dataclasses import dataclass

import numpy as np

from ..core.tree import kept
from ..optimise.information import Information
from ..optimise.view import View

_TOUCH = 1e-4  # of a scalar's own scale: less of an untold direction is rounding


@dataclass(frozen=True, eq=False)
class Errors:
    """Covariances, NaN where undefined.

    **Fields**
    - `position`: shape `(dim, dim)`; `values`: of the flat latent values, shape `(k, k)`, by the delta method, which at
      a maximum is exact: the inverse of the information about the values themselves.
    - `is_level`: shape `(k,)`: whether a value changes along a direction without a standard error.

    Covariances are read-only, with NaN in the rows and columns of what has none; None where there are no matrices.
    """

    position: np.ndarray | None
    values: np.ndarray | None
    is_level: np.ndarray

    @staticmethod
    def of(view: View, information: Information) -> "Errors":
        """Compute the errors at a maximum."""
        slopes, scales = view.slopes.astype(float), information.scales
        own = np.linalg.norm(slopes * scales, axis=1)
        is_level = _touched(slopes @ information.level, own)
        moved = slopes @ information.told
        return Errors(
            _without(information.told @ information.told.T, _touched(information.level, scales)),
            _without(moved @ moved.T, is_level),
            is_level,
        )

    @staticmethod
    def unknown(view: View) -> "Errors":
        """Make the errors without a maximum, or without information."""
        dim, count = view.position.size, view.latents.size
        is_level = np.zeros(count, bool)
        if not view.information.size:
            return Errors(None, None, is_level)
        return Errors(kept(np.full((dim, dim), np.nan)), kept(np.full((count, count), np.nan)), is_level)


def _touched(parts: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return which rows have more than rounding error in any column."""
    return np.any(np.abs(parts) > _TOUCH * own[:, None], axis=1) | ~np.isfinite(own)


def _without(covariance: np.ndarray, is_unknown: np.ndarray) -> np.ndarray:
    return kept(np.where(is_unknown | is_unknown[:, None], np.nan, covariance))
