"""Sample a model again without some of its observations.

Which observations count is a mask, an array that the program of a run takes as it takes data: all refits share one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import keys
from ..core import precision as precisions
from ..core.errors import DataError, ModelError, OptionError, suggest
from ..core.notice import Notice, by_severity
from ..core.precision import Precision
from ..core.tree import to_numpy
from ..density import LogDensity
from ..density.joint import model_of
from ..density.latent import concrete
from ..density.reduction import counts_of
from ..density.unknowns import like
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..language import Model, Site
from ..language.handler import AbstractHandler
from ..language.handlers.weights import Mask
from ..mcmc.draws import Draws
from ..mcmc.sample import sample
from ..programs.standalone import compile_alone
from .evaluate import log_likelihood
from .source import check_model


class Kept(AbstractHandler):
    """Keep some entries of an observed site in the log density. **Fields**: `site`; `kept`, bool of its batch shape."""

    site: str
    kept: Any

    def process(self, site: Site) -> Site:
        """Mask the site of this name."""
        return Mask(self.kept).process(site) if site.name == self.site else site


@dataclass(frozen=True)
class Observations:
    """Observations of a model. **Fields**: `site`; `counted`, bool of its batch shape: those that no mask hides."""

    site: str
    counted: np.ndarray

    @staticmethod
    def of(
        function: str, model: Model, site: str | None, sampler: AbstractKernel, precision: Precision
    ) -> "Observations":
        """Find the observed site that is judged.

        **Raises** `ModelError` where nothing is observed; `OptionError` for a site that is not, where there are several
        sites and none is named, and for fewer than two observations.
        """
        density = LogDensity.from_model(model, precision, sampler.whole, sampler.whole_if_discrete)
        observed = {entry.name: entry for entry in density.layout.observed}
        if not observed:
            raise ModelError(
                f"the model {model.name!r} observes nothing by `ac.sample`, so that there is nothing to leave out. "
                "Call it with its data."
            )
        if site is None and len(observed) == 1:
            (site,) = observed
        if site is None or site not in observed:
            asked = "say which site, by site=" if site is None else f"there is no observed site {site!r}"
            raise OptionError(
                f"{function}: {asked}.{suggest(site or '', observed)} There are: {', '.join(map(repr, observed))}."
            )
        entry = observed[site]
        counted = _counted(density, site, entry.shape[: len(entry.shape) - entry.num_event])
        if np.count_nonzero(counted) < 2:
            raise OptionError(
                f"{function}: site {site!r} has {np.count_nonzero(counted)} observation that counts, and two are "
                "needed: one is predicted from the other. An event, such as a vector of a multivariate distribution, "
                "is one observation."
            )
        return Observations(site, counted)


@dataclass(frozen=True)
class Refit:
    """Refit without some observations.

    **Fields**: `draws`; `values`, log likelihoods of all observations, shape `(draw, *batch)`; `observed`, the
    observations by site, if known.
    """

    draws: Draws
    values: np.ndarray
    observed: np.ndarray | None


@dataclass(frozen=True)
class Refits:
    """How a model is sampled again. **Fields**: those of `infer.sample`, and the observations."""

    model: Model
    observations: Observations
    sampler: AbstractKernel
    draws: int
    warmup: int | None
    chains: int | Sequence[int]
    seed: int
    executor: AbstractExecutor | None
    precision: Precision

    def without(self, number: int, left_out: np.ndarray) -> Refit:
        """Sample without these entries, bool of the batch shape, and judge all; the seed follows from the number."""
        site = self.observations.site
        draws = sample(
            self.model.inside_of(Kept(site, ~left_out)),
            self.sampler,
            draws=self.draws,
            warmup=self.warmup,
            chains=self.chains,
            seed=refit_seed(self.seed, number),
            executor=self.executor,
            precision=self.precision,
            progress=False,
            quiet=True,
        )
        likelihood = log_likelihood(draws, self.model, executor=_for_draws(self.executor))
        values = np.asarray(likelihood.sites[site], np.float64)
        observed = likelihood.observed.get(site)
        is_alike = observed is not None and np.shape(observed)[: values.ndim - 2] == values.shape[2:]
        return Refit(draws, values.reshape(-1, *values.shape[2:]), observed if is_alike else None)


def _for_draws(executor: AbstractExecutor | None) -> AbstractExecutor | None:
    """Return the executor if it computes with draws one by one, and None, the usual one, where it shares data out."""
    shares_data = executor is not None and (
        executor.spans_devices or tuple(executor.device_groups()) != (None,)
    )
    return None if shares_data else executor


def model_to_refit(function: str, target: Any) -> Model:
    """Return the model that is given, or that of draws, with its data.

    **Raises** `OptionError` for anything else, and for draws without their model; `ModelError` for those of a function.
    """
    if not isinstance(target, Draws):
        return check_model(function.removeprefix("infer."), target)
    if target.density is None:
        raise OptionError(
            f"{function}: these draws were loaded without their model. Give the model itself, called with its data."
        )
    return model_of(target.density)


def refit_seed(seed: int, number: int) -> int:
    """Return the seed of a refit, by its number."""
    words = keys.fold(keys.chain_key(seed, number), np.uint32(keys.USE_FOLD_SEED))
    return int(words[0]) << 32 | int(words[1])


def notices_of(found: Sequence[tuple[str, Draws]]) -> tuple[Notice, ...]:
    """Tell of refits whose draws have errors or warnings: one notice for each code. `found`: words and draws."""
    by_code: dict[str, list[tuple[str, Notice]]] = {}
    for words, draws in found:
        for notice in draws.notices:
            if notice.severity != "info":
                by_code.setdefault(notice.code, []).append((words, notice))
    told = []
    for each in by_code.values():
        words, worst = min(each, key=lambda pair: ("error", "warning").index(pair[1].severity))
        count = len({name for name, _ in each})
        message = f"{count} of {len(found)} refits, the first {words}: {worst.message}"
        told.append(replace(worst, message=message))
    return tuple(by_severity(told))


def log_mean(values: np.ndarray) -> np.ndarray:
    """Return the log of the mean over the first axis of the exponentials."""
    most = values.max(axis=0)
    most = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return most + np.log(np.mean(np.exp(values - most), axis=0))


def check_predicted(function: str, values: np.ndarray, site: str) -> None:
    """Raise `DataError` for predictive densities that are no number."""
    num_bad = np.count_nonzero(~np.isfinite(values))
    if num_bad:
        raise DataError(
            f"{function}: the log predictive density of {num_bad} of {values.size} observations of site {site!r} is "
            "NaN or infinite: the model without them calls them impossible, or cannot be evaluated. "
            "`infer.check(model)` looks for the cause."
        )


def standard_error(pointwise: np.ndarray) -> float:
    """Return the standard error of a sum over observations."""
    return float(np.sqrt(pointwise.size * pointwise.var()))


def _counted(density: LogDensity, site: str, shape: tuple[int, ...]) -> np.ndarray:
    """Compute which entries count, which does not depend on the position."""
    program = density.program.whole
    if program is None or not math.prod(shape):
        return np.ones(shape, bool)

    def counts(density: LogDensity, position: Any) -> Any:
        with concrete(program.constants):
            pieces = density.program.pieces(position)
            found = counts_of(program.sites(pieces, density.program.whole_data(density.data))[site])
        return jnp.ones(shape, bool) if found is None else jnp.broadcast_to(found, shape)

    with precisions.scope(program.precision):
        zeros = jax.tree.map(
            lambda leaf: np.zeros(leaf.shape, leaf.dtype),
            like(density.layout, precisions.float_dtype(program.precision)),
        )
        return np.asarray(to_numpy(compile_alone(density, counts, zeros)(zeros)))
