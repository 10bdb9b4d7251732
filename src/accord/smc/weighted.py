"""Hold draws of which each stands for others by a weight: as many draws of equal weight, wherever draws are used."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core import keys
from ..core.by_site import BySite
from ..core.errors import OptionError
from ..core.notice import Notice
from ..core.series import AbstractSeries
from ..core.tracebacks import entry_points
from ..density import LogDensity
from ..optimise.approximation import AbstractApproximation
from ..report.log_evidence import LogEvidence
from ..vi.draws import GuideDraws

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..report.beside import AbstractBeside
    from ..report.summary import Summary


@entry_points
class AbstractWeightedDraws(AbstractApproximation, BySite):
    """Abstract base class of draws with weights, `SMCDraws` and `NestedDraws`: what both have.

    **Fields**: `drawn`, of equal weight; `log_evidence`; `complete`, whether all of the run came to its end;
    `notices`, what to know before using the draws.

    **Example**

    >>> draws = infer.smc(coin(4, heads), quiet=True)
    >>> draws.num_draws, draws.model, draws.to_dataframe().shape[0]
    (4000, 'coin', 4000)
    """

    drawn: GuideDraws
    log_evidence: LogEvidence
    complete: bool
    notices: tuple[Notice, ...]

    def attached(self, density: LogDensity) -> Self:
        """Return it with its model."""
        own: Any = self  # a dataclass
        return replace(own, drawn=replace(self.drawn, density=density))

    @property
    def sites(self) -> AbstractSeries:
        """Draws by site, in the model's order."""
        return self.drawn.sites

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.drawn.manifest["model"]

    @property
    def num_draws(self) -> int:
        """Number of draws."""
        return self.drawn.num_draws

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The record of how the draws were made."""
        return self.drawn.manifest

    def summary(
        self,
        sites: str | Sequence[str] | None = None,
        *,
        prob: float = 0.9,
        interval: str = "quantiles",
    ) -> "Summary":
        """Summarise each parameter: mean, sd and interval of the draws. Arguments and errors as of `Draws.summary`."""
        return self.drawn.summary(sites, prob=prob, interval=interval)

    def to_dataframe(self, sites: str | Sequence[str] | None = None) -> "DataFrame":
        """Return draws as a wide pandas data frame; arguments and errors as of `Draws.to_dataframe`."""
        return self.drawn.to_dataframe(sites)

    def to_arviz(self, *beside: "AbstractBeside") -> Any:
        """Convert the draws to ArviZ's `DataTree`; arguments and errors as of `Draws.to_arviz`."""
        return self.drawn.to_arviz(*beside)

    def starts(self, chains: Sequence[int], seed: int) -> list[dict[str, np.ndarray]]:
        """See `AbstractApproximation.starts`: one draw for each chain.

        **Raises** `OptionError` where there are no draws.
        """
        if not self.num_draws:
            raise OptionError("init: there are no draws to begin at. See `draws.notices`.")
        sites: Any = self.manifest["layout"]["sites"]
        latents = [site["name"] for site in sites if site["kind"] == "latent"]
        shares = [
            keys.generator(keys.chain_key(seed, each), keys.USE_RESAMPLE, 1).random() for each in chains
        ]
        rows = [int(share * self.num_draws) for share in shares]
        return [{name: self.drawn[name][0, row] for name in latents} for row in rows]
