"""Compute the evidence of a program without continuous unknowns, exactly."""

import numpy as np

from ..core.precision import float_dtype, scope
from ..density import LogDensity
from ..density.program import ModelProgram
from ..density.tracing import discover
from ..language import Model
from ..programs.standalone import compile_alone


def exact_log_evidence(model: Model) -> float | None:
    """Return the log probability of all that a model observes, where nothing is unknown or all of it is summed out.

    None for a model with other unknowns. In float64.
    """
    traced, data, notices = discover(model, "float64")
    if traced.layout.unknowns:
        return None
    program = ModelProgram(**vars(traced))
    density = LogDensity.of_stages(program, data, (*notices, *program.check(data)))
    nothing = np.zeros(0, float_dtype("float64"))
    with scope("float64"):
        return float(compile_alone(density, lambda density, position: density(position), nothing)(nothing))
