"""Apply a guide that was written as a model, as it was fitted, to new data."""

from dataclasses import replace

import numpy as np

from ..core.errors import OptionError
from ..core.precision import Precision
from ..density import LogDensity
from ..language import Model
from .evaluate import Fitted
from .written.guide import Written
from .written.paired import written_for


def applied(fitted: Fitted, target: Model, guide: Model, precision: Precision) -> tuple[LogDensity, Fitted]:
    """Return the log density of a model of new data, and the guide of these with the parameters that were fitted.

    **Raises** `OptionError` for another kind of guide, and for other parameters than those that were fitted.
    """
    if not isinstance(fitted.guide, Written):
        raise OptionError(
            f"draw_for: the fit has {fitted.guide.label}, which knows one data set alone. A guide that is written as a "
            "model, and computes from data, can be given others."
        )
    density, _, written = written_for(target, guide, precision)
    params = {**written.known.own, **written.known.theirs}
    for name, param in params.items():
        found = np.shape(fitted.params[name]) if name in fitted.params else None
        if found != param.shape:
            raise OptionError(
                f"draw_for: the parameter {name!r} has shape {param.shape} with these data, and the fit has "
                f"{'none of that name' if found is None else f'shape {found}'}. A parameter with an entry for each row "
                "says nothing of new rows: compute these from the data instead."
            )
    return density, replace(fitted, guide=written, params={name: fitted.params[name] for name in params})
