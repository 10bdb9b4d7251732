"""Tell calibrations of fits from those of chains, in a manifest."""

from typing import Any

from ..guides.base import AbstractGuide
from ..storage import Manifest
from ..vi.plan import KIND


def described(guide: AbstractGuide) -> dict[str, Any]:
    """Describe fits of a guide in the place of a sampler, in plain JSON."""
    return {"name": KIND, "guide": guide.described()}


def is_of_fits(manifest: Manifest) -> bool:
    """Return whether a calibration is one of fits."""
    return "guide" in manifest["sampler"]
