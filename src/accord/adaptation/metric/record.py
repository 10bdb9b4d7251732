"""Record the form of metric that a chain has chosen, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...core.errors import StorageError
from ...core.tree import filled
from .metric import METRICS

FORMS = METRICS[1:]
"""In the order in which a stored run numbers them."""

FISHER_FORMS = FORMS[:3]
"""Those that are learnt by the Fisher divergence, from the simplest to the richest; a tie goes to the simpler one."""

_NAMES = {
    "form": "metric_choice.form",
    "divergences": "metric_choice.divergences",
    "gain": "metric_choice.gain",
    "remainder": "metric_choice.remainder",
    "spread": "metric_choice.spread",
    "doublings": "metric_choice.doublings",
    "is_cut": "metric_choice.is_cut",
    "has_diverged": "metric_choice.has_diverged",
}


def _unknown() -> np.ndarray:
    return np.full(len(FISHER_FORMS), np.nan)


@dataclass(frozen=True, eq=False)
class Choice:
    """Last chosen form of the metric, and how well each form whitened held-out draws.

    **Fields**: `form`, one of `FORMS`, or "initial" while nothing is learnt; `divergences`, by form, shape
    `(3,)`: held-out Fisher divergence for each draw and dimension, NaN where a form was not tried; `gain`, the effort
    with scales by marginals over that with the form of the smallest divergence, NaN where that was not the reason for
    them; `remainder`, what the form of the smallest divergence leaves along a direction, NaN where it was not measured;
    `spread` of the length of gradients in units of the marginals, NaN where it was not measured;
    `doublings` of the median trajectory, 0 for a kernel without any; `is_cut`, whether these are as many as may be;
    `has_diverged`, whether several of the draws that it was learnt from did.
    """

    form: str = "initial"
    divergences: np.ndarray = field(default_factory=_unknown)
    gain: float = np.nan
    remainder: float = np.nan
    spread: float = np.nan
    doublings: int = 0
    is_cut: bool = False
    has_diverged: bool = False

    @property
    def least(self) -> float:
        """Smallest divergence of the forms that were tried; NaN if none was."""
        return float(np.fmin.reduce(self.divergences))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a store keeps."""
        index = FORMS.index(self.form) if self.form in FORMS else -1
        return {
            _NAMES["form"]: np.asarray(index, np.int8),
            _NAMES["divergences"]: self.divergences,
            _NAMES["gain"]: np.asarray(self.gain),
            _NAMES["remainder"]: np.asarray(self.remainder),
            _NAMES["spread"]: np.asarray(self.spread),
            _NAMES["doublings"]: np.asarray(self.doublings, np.int32),
            _NAMES["is_cut"]: np.asarray(self.is_cut),
            _NAMES["has_diverged"]: np.asarray(self.has_diverged),
        }

    @staticmethod
    def stored(arrays: Mapping[str, np.ndarray]) -> "Choice":
        """Read the choice from the result of `arrays`, among others. **Raises** `StorageError` for other arrays."""
        found = filled(Choice().arrays(), arrays)
        index = int(found[_NAMES["form"]])
        if not -1 <= index < len(FORMS):
            raise StorageError(f"the stored form of a metric, {index}, is none that accord knows")
        form = FORMS[index] if index >= 0 else "initial"
        gain, remainder, spread = (float(found[_NAMES[name]]) for name in ("gain", "remainder", "spread"))
        doublings = int(found[_NAMES["doublings"]])
        is_cut, has_diverged = (bool(found[_NAMES[name]]) for name in ("is_cut", "has_diverged"))
        divergences = found[_NAMES["divergences"]]
        return Choice(form, divergences, gain, remainder, spread, doublings, is_cut, has_diverged)


def reason(choice: Choice, asked: str) -> str:
    """Explain why a chain has its form; `asked` is the sampler's option."""
    if choice.form == "initial":
        return "warm-up was too short to learn a metric: scales are those of the first gradient"
    if asked != "auto":
        return f"metric={asked!r} was asked for"
    tried = np.isfinite(choice.divergences)
    if np.sum(tried) < 2:
        return "too few draws, or none that could be squared, to compare it with another form"
    values = ", ".join(
        f"{form} {value:.3g}"
        for form, value in zip(FISHER_FORMS, choice.divergences, strict=True)
        if np.isfinite(value)
    )
    fitted = f"Fisher divergence of draws held out, for each draw and dimension: {values}"
    if choice.form != "marginal":
        return fitted
    steep = (
        "" if np.isnan(choice.spread) else f"Lengths of gradients spread by {choice.spread:.2g} (0: normal). "
    )
    if np.isnan(choice.gain):
        why = f"the form that fits best leaves {choice.remainder:.2g} along a direction (0: normal)."
    else:
        why = f"expected to take {choice.gain:.2g} of the gradients of the form that fits best."
    return f"{why} {steep}{fitted}"
