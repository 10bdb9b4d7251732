"""Tell of draws that are not quite those of the posterior, by construction."""

from collections.abc import Iterator

from ...core.notice import Notice
from ..evidence import Evidence
from .words import percent


def biased(run: Evidence) -> Iterator[Notice]:
    """Tell by how much a sampler that refuses no step makes variances too large."""
    if run.bias is not None and run.num_draws:
        yield Notice(
            "info",
            "biased",
            "The sampler follows gradients of parts of the data and refuses no step, so the draws are not quite those "
            f"of the posterior: variances are about {percent(run.bias)} too large where it is normal with independent "
            "unknowns, and more where it is not. R-hat and the effective sample size do not see that.",
            "Halve `step_size` and see what it changes; or use `infer.NUTS()`, which is exact, on all of the data.",
        )
