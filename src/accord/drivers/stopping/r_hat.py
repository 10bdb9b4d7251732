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
    """Holds once the rank-normalised R-hat of every scalar is at most this. It needs two chains at least.

    It says that chains agree, and nothing of how much they are worth: combine it with `infer.ESS`.

    Of fewer than 64 chains it is the split one; from 64 on the nested one, of the superchains of `ChEES`, or of sixteen
    sets of neighbours, as in `draws.summary()`. That of chains which agree is about 1 + 1 / (2 n), with n the effective
    draws of one set: 1.01 takes 50 in each set, 800 in sixteen.

    **Fields**
    - `limit`: > 1; 1.01 is usual.
    - `sites`: names of the sites that count; None is all latent and deterministic ones.

    **Raises** `OptionError` for other values, and before anything is drawn for a site that is not there, or one chain.

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
