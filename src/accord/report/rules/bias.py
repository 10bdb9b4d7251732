"""Tell of draws that are not quite those of the posterior, by construction."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .words import chain_list, percent

_EXACT = 1e-9  # variance of a log density: less is rounding
_MOST = 1.0


def biased(run: Evidence) -> Iterator[Notice]:
    """Tell how large the bias is of a sampler that refuses no step, or follows a noisy log density."""
    if run.bias is not None and run.num_draws:
        yield Notice(
            "info",
            "biased",
            "The sampler follows gradients of parts of the data and refuses no step, so the draws are not quite those "
            f"of the posterior: variances are up to about {percent(run.bias)} too large where it is normal with "
            "independent unknowns, and more where it is not. R-hat and the effective sample size do not see that.",
            "Halve `step_size` and see what it changes; or use `infer.NUTS()`, which is exact, on all of the data.",
        )
    if "estimate_variance" in run.stats and run.num_draws:
        yield from _noisy(run, np.asarray(run.stats["estimate_variance"], np.float64).mean(axis=1))


def _noisy(run: Evidence, variances: np.ndarray) -> Iterator[Notice]:
    """Tell of estimates of the log density by their mean variance, shape `(chain,)`."""
    largest = float(variances.max())
    if largest <= _EXACT:
        return
    is_large = ~(variances < _MOST)
    if is_large.any():
        yield Notice(
            "warning",
            "biased",
            f"{chain_list(run, np.flatnonzero(is_large))}: the log density, estimated from parts of the data, has a "
            f"variance of {largest:.3g}, and the correction for such noise holds below {_MOST:g}. The draws may be far "
            "from those of the posterior; R-hat and the effective sample size do not see that.",
            f"Raise `subsample_size` of the plate: {_factor(largest)} times as large, it should do. If the posterior "
            "is wide or curved, or has several modes, use `infer.NUTS()` on all of the data.",
        )
        return
    yield Notice(
        "info",
        "biased",
        "The log density is estimated from parts of the data, and corrected for noise as if that were normal: its "
        f"variance is {largest:.2g}. So the draws are not quite those of the posterior: its density comes out too "
        f"large or too small by less than {_bound(largest)}, and by much less where noise is nearly normal. R-hat and "
        "the effective sample size do not see that.",
        "Raise `subsample_size` of the plate, to which the variance is inverse, and see what it changes.",
    )


def _bound(variance: float) -> str:
    """Write by what share densities change if all of the correction is left out."""
    share = np.expm1(variance / 2)
    return percent(share).removeprefix("less than ")


def _factor(variance: float) -> str:
    return f"{np.ceil(2 * variance):.0f}" if np.isfinite(variance) else "many"
