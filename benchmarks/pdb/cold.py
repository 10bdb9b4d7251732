"""Bind eight models that people often fit to simulated data, to time first calls.

`varying_slopes()` is a model with its usual data, `varying_slopes(seed=2)` the same model with other data of the same
shapes, so that nothing is compiled again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cold_data as data
import cold_models as models


@dataclass(frozen=True)
class Simulated:
    """A model function with simulated data; calling it binds them.

    **Fields**
    - `function`: decorated with `ac.model`.
    - `data`: makes the arguments of the model from a size and a seed.
    - `size`: the usual size: groups, persons, rows, points or times.
    """

    function: Any
    data: Callable[[int, int], data.Data]
    size: int

    def __call__(self, *, size: int | None = None, seed: int = 1) -> Any:
        """Bind the model to data of `size` (the usual size if None) from `seed`."""
        return self.function(**self.data(self.size if size is None else size, seed))


varying_slopes = Simulated(models.varying_slopes, data.varying_slopes, size=85)
item_response_2pl = Simulated(models.item_response_2pl, data.item_response_2pl, size=300)
zero_inflated_counts = Simulated(models.zero_inflated_counts, data.zero_inflated_counts, size=3000)
ordinal_regression = Simulated(models.ordinal_regression, data.ordinal_regression, size=2000)
mixture_of_normals = Simulated(models.mixture_of_normals, data.mixture_of_normals, size=400)
latent_autoregression = Simulated(models.latent_autoregression, data.latent_autoregression, size=500)
latent_gaussian_process = Simulated(models.latent_gaussian_process, data.latent_gaussian_process, size=150)
logistic_horseshoe = Simulated(models.logistic_horseshoe, data.logistic_horseshoe, size=5000)

ENTRIES: dict[str, Simulated] = {
    "varying_slopes": varying_slopes,
    "item_response_2pl": item_response_2pl,
    "zero_inflated_counts": zero_inflated_counts,
    "ordinal_regression": ordinal_regression,
    "mixture_of_normals": mixture_of_normals,
    "latent_autoregression": latent_autoregression,
    "latent_gaussian_process": latent_gaussian_process,
    "logistic_horseshoe": logistic_horseshoe,
}
