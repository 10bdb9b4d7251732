"""Stop when means are precise enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ...core.errors import OptionError
from ...core.options import checks_fields
from ...report import ess_mean, mcse_mean
from .of_draws import AbstractOfDraws, check_positive, listed, names_of

Unit = Literal["sd", "site"]
UNITS: tuple[Unit, ...] = get_args(Unit)


@checks_fields
@dataclass(frozen=True, repr=False)
class MCSE(AbstractOfDraws):
    """Rule that holds once the Monte Carlo error of every mean is at most this share of the posterior sd.

    `MCSE(0.05)` is 5% of the sd of each parameter, which takes 400 effective draws.

    **Fields**
    - `largest`: > 0.
    - `sites`: names of the sites that count; None is all latent and deterministic ones.
    - `unit`: `"sd"`, or `"site"` if `largest` is in the unit of the sites, as in
      `infer.MCSE(0.1, sites=["mu"], unit="site") & infer.ESS(400)`.

    **Raises** `OptionError` for other values, and before sampling for an unknown site.

    **Example**

    >>> rule = infer.MCSE(0.1, sites=["mu"])
    >>> found = infer.sample(eight_schools(sigma, y), until=rule, draws=2000, chains=2, quiet=True)
    >>> found.stopping.held, found.num_draws < 2000
    (True, True)
    """

    largest: float
    sites: tuple[str, ...] | None = None
    unit: Unit = "sd"

    def __post_init__(self) -> None:
        check_positive("MCSE", "largest", self.largest, "infer.MCSE(0.05), 5% of each sd")
        object.__setattr__(self, "sites", names_of("MCSE", self.sites))
        if self.unit not in UNITS:
            raise OptionError(f"MCSE: unit must be one of {', '.join(map(repr, UNITS))}, got {self.unit!r}.")

    @property
    def goal(self) -> float:
        return self.largest

    def values(self, draws: np.ndarray, superchains: Sequence[int] | None) -> np.ndarray:
        del superchains
        # The error of a mean is the sd divided by the root of its effective sample size.
        return mcse_mean(draws) if self.unit == "site" else 1 / np.sqrt(ess_mean(draws))

    def in_words(self, value: float, label: str) -> str:
        unit = " sd" if self.unit == "sd" else ""
        return f"error {value:.3g}{unit}, at most {self.largest:g} ({label})"

    def times(self, value: float) -> float | None:
        return max((value / self.largest) ** 2, 1.0)

    def described(self) -> dict[str, Any]:
        largest = float(self.largest)
        return {"rule": "MCSE", "largest": largest, "sites": listed(self.sites), "unit": self.unit}

    def _unusual(self) -> list[tuple[str, Any]]:
        return [*super()._unusual(), *([] if self.unit == "sd" else [("unit", self.unit)])]
