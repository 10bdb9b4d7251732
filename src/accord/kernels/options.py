"""Check the options that several samplers share."""

from collections.abc import Sequence
from typing import Any

from ..adaptation.metric import METRICS
from ..core.errors import OptionError, suggest
from ..core.options import shown

_MAX_STEPS = 2**31 - 1  # which programs count in 32 bits


def check_tuning(
    owner: str, metric: Any, target_accept: float | None, forms: Sequence[str] = METRICS
) -> None:
    """Raise `OptionError` for an invalid target of the sampler `owner`, or a metric that is none of its `forms`."""
    if metric not in forms:
        raise OptionError(
            f"{owner}: metric must be one of {', '.join(map(repr, forms))}, got {metric!r}."
            f"{suggest(str(metric), forms)}"
        )
    if target_accept is not None and not 0.0 < target_accept < 1.0:
        raise OptionError(f"{owner}: target_accept must lie in (0, 1), got {target_accept!r}.")


def check_trajectory(owner: str, trajectory_length: float, max_steps: Any) -> None:
    """Raise `OptionError` for an invalid trajectory length or number of steps."""
    if not 0.0 < trajectory_length < float("inf"):
        raise OptionError(f"{owner}: trajectory_length must be positive, got {trajectory_length!r}.")
    if not is_count(max_steps, 1) or max_steps > _MAX_STEPS:
        raise OptionError(
            f"{owner}: max_steps must be an integer from 1 to {_MAX_STEPS}, got {shown(max_steps)}."
        )


def is_count(value: Any, minimum: int) -> bool:
    """Return whether a value is an integer, not a bool, of at least this."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum
