"""Stop when the effective sample size is large enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ...core.errors import OptionError
from ...core.options import checks_fields
from ...report import ess_bulk, ess_tail
from .of_draws import AbstractOfDraws, check_positive, listed, names_of

Kind = Literal["bulk and tail", "bulk", "tail"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@checks_fields
@dataclass(frozen=True, repr=False)
class ESS(AbstractOfDraws):
    """Rule that holds once every parameter has this effective sample size, over all chains.

    By default the smaller one of bulk and tail ESS counts, so that means, medians and 90% intervals are all reliable.
    Chains that disagree have a small ESS; `infer.ESS(1000) & infer.RHat(1.01)` also asks for agreement explicitly.

    From 64 chains on, ESS comes from the spread of the chains' means, and is never below the number of chains minus
    one: a smaller target holds at the first check. Use `infer.RHat` with the superchains of `ChEES` to see whether
    chains have forgotten their starting points.

    **Fields**
    - `target`: > 0. 400 is enough to trust the diagnostics of four chains; 1000 gives means to 3% of an sd.
    - `sites`: names of the sites that count; None is all latent and deterministic ones.
    - `kind`: `"bulk and tail"`, `"bulk"` or `"tail"` (the smaller one of the 5% and 95% quantiles).

    **Raises** `OptionError` for other values, and before sampling for an unknown site.

    **Source**: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16(2), 667-718.

    **Example**

    >>> rule = infer.ESS(100, sites=["mu"])
    >>> found = infer.sample(eight_schools(sigma, y), until=rule, draws=2000, chains=2, quiet=True)
    >>> found.stopping.held, found.num_draws < 2000
    (True, True)
    """

    target: float
    sites: tuple[str, ...] | None = None
    kind: Kind = "bulk and tail"
    is_large_good: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("ESS", "target", self.target, "infer.ESS(1000)")
        object.__setattr__(self, "sites", names_of("ESS", self.sites))
        if self.kind not in KINDS:
            raise OptionError(f"ESS: kind must be one of {', '.join(map(repr, KINDS))}, got {self.kind!r}.")

    @property
    def goal(self) -> float:
        return self.target

    def values(self, draws: np.ndarray, superchains: Sequence[int] | None) -> np.ndarray:
        del superchains
        if self.kind == "bulk":
            return ess_bulk(draws)
        if self.kind == "tail":
            return ess_tail(draws)
        return np.fmin(ess_bulk(draws), ess_tail(draws))

    def in_words(self, value: float, label: str) -> str:
        return f"ESS {math.floor(value)} of {self.target:g} ({label})"

    def times(self, value: float) -> float | None:
        return max(self.target / value, 1.0)

    def described(self) -> dict[str, Any]:
        return {"rule": "ESS", "target": float(self.target), "sites": listed(self.sites), "kind": self.kind}

    def _unusual(self) -> list[tuple[str, Any]]:
        return [*super()._unusual(), *([] if self.kind == "bulk and tail" else [("kind", self.kind)])]
