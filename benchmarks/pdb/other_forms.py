"""Name the models that are also written as the notices ask, where they cannot print the line that does it."""

from typing import Any

import cold_models
import fresh_models
import models_hmm
import models_series

PROPER: dict[str, Any] = {
    "hmm_gaussian": models_hmm.hmm_gaussian_with_proper_priors,
    "mixture_of_normals": cold_models.mixture_of_normals_with_proper_priors,
}
"""Models whose priors are distributions, by the names of the same models with improper ones."""

NON_CENTRED: dict[str, Any] = {
    "state_space_stochastic_level_stochastic_seasonal": models_series.state_space_by_innovations,
    "stochastic_volatility": fresh_models.stochastic_volatility_by_innovations,
}
"""Models in a non-centred form, by the names of those whose states are given by the states before them."""
