"""Check what a fit is asked for with a guide that was written as a model."""

from typing import Any

from ...core.errors import OptionError
from ..objectives import ELBO, IWAE, Renyi
from ..objectives.base import AbstractObjective
from .guide import Written


def check_objective(objective: AbstractObjective | None, guide: Written) -> None:
    """Raise `OptionError` for an objective that needs positions."""
    if objective is None or isinstance(objective, ELBO):
        return
    name = type(objective).__name__
    if not isinstance(objective, IWAE | Renyi):
        raise OptionError(
            f"objective: {name} is for guides of infer.guides, and {guide.function!r} is written as a model. Use "
            "infer.ELBO(), infer.IWAE() or infer.Renyi(alpha)."
        )


def check_start(init: Any) -> None:
    """Raise `OptionError` for another start than that of `ac.param`."""
    if init is not None:
        raise OptionError(
            "init: a guide that is written as a model begins at the `init` of its `ac.param`, and at the arrays of its "
            "modules. Change these, and leave init= out."
        )
