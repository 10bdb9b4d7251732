"""Judge the tail of the importance weights of an approximation."""

import numpy as np

from ..core.notice import Notice

DOUBTFUL = 0.7
"""Pareto k above which an approximation is not to be trusted."""

ALL_ALIKE = 0.95
"""Effective draws by draw, beyond which weights differ too little for their tail to matter."""

_BAD = 1.0


def tail(
    pareto_k: float, share: float, of_what: str, than_what: str, worth: str, remedy: str
) -> list[Notice]:
    """Return a notice if Pareto k is high; NaN is unknown.

    **Arguments**: `share`, effective draws by draw; `of_what` it is, and what has too little mass (`than_what`), in
    words; `worth`, a sentence on how many draws remain; `remedy`.
    """
    if np.isnan(pareto_k) or pareto_k < DOUBTFUL or share > ALL_ALIKE:
        return []
    shown = "infinite" if np.isinf(pareto_k) else f"{pareto_k:.2f}"
    return [
        Notice(
            "error" if pareto_k >= _BAD else "warning",
            "high_pareto_k",
            f"Pareto k of {of_what} is {shown}, above {DOUBTFUL}: in places the posterior has far more mass than "
            f"{than_what}. {worth}",
            remedy,
        )
    ]
