"""Take log likelihoods that the draws of a target hold already, computed by its own code."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.errors import DataError, OptionError, suggest
from ..mcmc.draws import Draws
from .results import LogLikelihood


def computed_likelihood(draws: Any, computed: Any) -> LogLikelihood:
    """Return values of draws as the log likelihood of observations.

    - `computed`: by the name of what was observed, that of the value which holds its log likelihood at each draw.

    **Raises** `OptionError` for anything but draws of a run, and for a name that they lack; `DataError` for a value
    that has not a number for each observation, or is whole or complex.
    """
    if not isinstance(draws, Draws):
        raise OptionError(
            f"infer.log_likelihood: with computed=, give the draws of a run, got {type(draws).__name__}."
        )
    if not isinstance(computed, Mapping) or not computed:
        raise OptionError(
            'infer.log_likelihood: computed is a mapping like {"y": "log_lik"}, from what was observed to the value '
            f"that holds its log likelihood; got {computed!r}."
        )
    for observed, name in computed.items():
        if name not in draws:
            raise OptionError(
                f"infer.log_likelihood: computed={{{observed!r}: {name!r}}}: the draws have no value {name!r}."
                f"{suggest(str(name), draws)} They have: {', '.join(draws)}."
            )
        dtype, shape = draws[name].dtype, draws[name].shape[2:]
        if dtype.kind != "f" or not shape:
            raise DataError(
                f"infer.log_likelihood: {name!r} is a {dtype} of shape {shape} in each draw. Compute the log "
                "likelihood of each observation there, and not their sum."
            )
    return LogLikelihood(
        sites={observed: np.asarray(draws[name]) for observed, name in computed.items()},
        chains=draws.chains,
        dims={observed: draws.dims.get(name, ()) for observed, name in computed.items()},
        coords=dict(draws.coords),
        labelled=(),
        model=draws.manifest["model"],
        precision=draws.manifest["precision"],
        notices=(),
        observed={},
        constants={},
        counted={},
    )
