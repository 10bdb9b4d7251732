"""Check what a fit is asked for with a guide that was written as a model."""

from typing import Any

from ...core.errors import OptionError
from ..objectives import ELBO, IWAE, Renyi
from ..objectives.base import AbstractObjective
from .guide import Written


def check_objective(objective: AbstractObjective | None, guide: Written) -> None:
    """Raise `OptionError` for an objective that needs positions, or draws that move with the parameters."""
    if isinstance(objective, ELBO) and guide.scored and objective.draws < 2:
        raise OptionError(
            f"objective: draws of {guide.scored[0]!r} do not move smoothly with the parameters, so that each draw of a "
            "step is compared with the other ones. Take infer.ELBO(draws=2) or more."
        )
    if objective is None or isinstance(objective, ELBO):
        return
    name = type(objective).__name__
    if not isinstance(objective, IWAE | Renyi):
        raise OptionError(
            f"objective: {name} is for guides of infer.guides, and {guide.function!r} is written as a model. Use "
            "infer.ELBO(), infer.IWAE() or infer.Renyi(alpha)."
        )
    if guide.scored:
        raise OptionError(
            f"objective: {name} takes draws that move smoothly with the parameters, and those of {guide.scored[0]!r} "
            f"in the guide {guide.function!r} do not. Use infer.ELBO()."
        )


def check_start(init: Any) -> None:
    """Raise `OptionError` for another start than that of `ac.param`."""
    if init is not None:
        raise OptionError(
            "init: a guide that is written as a model begins at the `init` of its `ac.param`, and at the arrays of its "
            "modules. Change these, and leave init= out."
        )
