"""Draw unknowns and data from the prior of a model."""

from collections.abc import Sequence

from ..core import keys
from ..core.errors import SiteError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision
from ..core.precision import check as check_precision
from ..core.series import InMemory
from ..density.joint import Predictive
from ..executors import AbstractExecutor
from ..language import Model
from .predict import drawn
from .results import Predictions
from .source import Source, check_model, left_out


@checks_options
def prior_predictive(
    model: Model,
    *,
    draws: int = 1000,
    sites: Sequence[str] | None = None,
    seed: int = 0,
    precision: Precision = "float64",
    executor: AbstractExecutor | None = None,
    quiet: bool = False,
) -> Predictions:
    """Draw unknowns from their priors, and observations given them.

    Observations are replaced, also entries that are masked. They may be left out: a site with the name of an argument
    that is None counts as observed. Results depend only on (seed, draw).

    **Arguments**
    - `model`: the model called with its data. `draws`: number of draws, in one chain; >= 1.
    - `sites`: names of the sites to return; None is all.
    - `seed`: an integer in [0, 2**64). `precision`, `quiet`: as for `infer.sample`.
    - `executor`: where to compute, as for `infer.predict`.

    **Raises** `SiteError` for an improper prior, a distribution that cannot be sampled, and a factor, which has no
    distribution; `OptionError` for unknown names, and for other values than a model.

    **Example**

    >>> prior = infer.prior_predictive(coin(4), draws=100)
    >>> prior["p"].shape, prior["y"].shape
    ((1, 100), (1, 100, 4))
    """
    count = positive_count("draws", draws)
    keys.chain_key(seed, 0)
    check_precision(precision)
    source = Source(InMemory({}), (0,), check_model("prior_predictive", model), precision)
    target = Predictive.of(model, {}, {}, precision, draws_others=True)
    for entry in target.layout.sites:
        if entry.kind == "factor":
            raise SiteError(
                f"factor {entry.name!r}: a factor is part of a density, and nothing can be drawn from it, so that this "
                "model's prior cannot be drawn. Write it as `ac.sample` from a distribution."
            )
    seen = (*(entry.name for entry in target.layout.observed), *left_out(source, target))
    return drawn(
        "prior_predictive", source, target, "prior_predictive", seen, sites, seed, executor, quiet, count
    )
