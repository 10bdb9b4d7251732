"""Stop when chains agree."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import OptionError
from ...core.options import checks_fields
from ...report import nested_r_hat, r_hat
from ...report.many_chains import MANY
from .clock import is_number
from .of_draws import AbstractOfDraws, listed, names_of


@checks_fields
@dataclass(frozen=True, repr=False)
class RHat(AbstractOfDraws):
    """Rule that holds once rank-normalised R-hat of every parameter is at most this; needs two chains.

    It shows that chains agree, not how precise results are: combine it with `infer.ESS`.

    Below 64 chains it uses split R-hat. From 64 on it uses nested R-hat, with the superchains of `ChEES` or sixteen
    sets of neighbours, as `draws.summary()` does. If chains agree, nested R-hat is about 1 + 1 / (2 n) with n effective
    draws in each set: 1.01 takes 50 per set, 800 in sixteen.

    **Fields**
    - `limit`: > 1; 1.01 is usual.
    - `sites`: names of the sites that count; None is all latent and deterministic ones.

    **Raises** `OptionError` for other values, and before sampling for an unknown site or a single chain.

    **Source**: Vehtari et al. (2021), as for `ESS`; Margossian et al. (2024), Bayesian Analysis, for nested R-hat.

    **Example**

    >>> rule = infer.RHat(1.1, sites=["mu"])
    >>> found = infer.sample(eight_schools(sigma, y), until=rule, draws=2000, chains=2, quiet=True)
    >>> found.stopping.held, found.num_draws < 2000
    (True, True)
    """

    limit: float
    sites: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not is_number(self.limit) or not 1 < self.limit < math.inf:
            raise OptionError(
                f"RHat: limit must be a number above 1, got {self.limit!r}. infer.RHat(1.01) is usual."
            )
        object.__setattr__(self, "sites", names_of("RHat", self.sites))

    @property
    def goal(self) -> float:
        return self.limit

    def values(self, draws: np.ndarray, superchains: Sequence[int] | None) -> np.ndarray:
        return nested_r_hat(draws, superchains) if len(draws) >= MANY else r_hat(draws)

    def in_words(self, value: float, label: str) -> str:
        return f"R-hat {value:.4f}, at most {self.limit:g} ({label})"

    def times(self, value: float) -> float | None:
        return 1.0 if value <= self.limit else None

    def check(self, sites: Collection[str], num_chains: int) -> None:
        super().check(sites, num_chains)
        if num_chains < 2:
            raise OptionError(
                f"{self!r} compares chains, and there is one. Run chains=4, or take infer.ESS(1000)."
            )

    def described(self) -> dict[str, Any]:
        return {"rule": "RHat", "limit": float(self.limit), "sites": listed(self.sites)}
