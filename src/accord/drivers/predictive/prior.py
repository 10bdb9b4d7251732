"""Draw unknowns and data from a model as it is written."""

from collections.abc import Sequence

from ...core import keys
from ...core.errors import SiteError
from ...core.options import checks_options, positive_count
from ...core.precision import Precision
from ...core.precision import check as check_precision
from ...core.series import InMemory
from ...density.predictive import Predictive
from ...executors import AbstractExecutor
from ...language import Model
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
    """Draw unknowns from their priors and observations given them, as the model is written.

    What is observed is replaced, whole where some entries are masked, and may be left out: a site with the name of an
    argument that is None is taken for an observation. Bits are a function of (seed, draw).

    **Arguments**
    - `model`: called with its data. `draws`: how many; >= 1. They are one chain.
    - `sites`: names of those to return; None is all.
    - `seed`: an integer in [0, 2**64). `precision`, `quiet`: as for `infer.sample`.
    - `executor`: where it is computed, as for `infer.predict`.

    **Raises** `SiteError` for an improper prior, a distribution without draws, and a factor, of which nobody says how
    it could be drawn; `OptionError` for names that are no sites, and for what is no model.

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
