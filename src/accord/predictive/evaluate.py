"""Evaluate a model at draws: log likelihood, log prior, log joint, and what its function returns."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.errors import ModelError, OptionError
from ..core.options import checks_options
from ..executors import AbstractExecutor
from ..language import Model
from ..mcmc.draws import Draws
from .about import about
from .computed import computed_likelihood
from .over_draws import over_draws
from .results import LogLikelihood
from .source import Source


@checks_options
def log_likelihood(
    draws: Draws | Mapping[str, Any],
    model: Model | None = None,
    *,
    computed: Mapping[str, str] | None = None,
    executor: AbstractExecutor | None = None,
) -> LogLikelihood:
    """Compute the log likelihood of each observation at each draw: by observed site, `(chain, draw, *batch)`.

    Masked entries are zero, and scales are applied. `draws.to_arviz(infer.log_likelihood(draws))` has what
    `arviz_stats.loo` needs.

    **Arguments**
    - `draws`: draws of a run, or a mapping from unknown to array of shape `(chain, draw, *site)`, which needs `model`.
    - `model`: the model called with data, also new data; None is the model of the run.
    - `computed`: `{"y": "log_lik"}` for draws of a target that computes it itself, such as a Stan program: the name of
      what was observed, and that of the value which holds the log likelihood of each observation. Nothing is computed.
    - `executor`: where to compute, which does not change the result: `infer.Threads()`, which is None, `Serial()`,
      `Processes()`, `Dask()` or `Ray()`.

    **Raises** `ModelError` for a model that observes nothing; `SiteError` for an unknown that the draws lack, or that
    has another size; `OptionError` without a model, and for a name in `computed` that the draws lack; `DataError` for a
    value there that is one number.

    **Example**

    >>> infer.log_likelihood(draws)["y"].shape  # (chain, draw, school)
    (2, 200, 8)
    """
    if computed is not None:
        if model is not None:
            raise OptionError("infer.log_likelihood: give one of model= and computed=.")
        return computed_likelihood(draws, computed)
    source = Source.of("log_likelihood", draws, model)
    target = source.trace("log_likelihood", draws_others=False)
    names = [entry.name for entry in target.layout.observed]
    if not names:
        raise ModelError(
            f"the model {source.model.name!r} observes nothing by `ac.sample`, so that there is no likelihood of "
            "single observations. Call it with its data; a likelihood that is a factor is in `infer.log_joint`."
        )
    target.check_observed()
    found, counts = over_draws(
        "log_likelihood",
        target,
        source,
        lambda target, values, key: target.log_likelihood(values),
        executor=executor,
    )
    return LogLikelihood(
        **about(source, target, {name: found[name] for name in names}, target.notices),
        counted={name: array.any(axis=(0, 1)) for name, array in counts.items()},
    )


@checks_options
def log_prior(
    draws: Draws | Mapping[str, Any],
    model: Model | None = None,
    *,
    executor: AbstractExecutor | None = None,
) -> np.ndarray:
    """Compute the log prior density at each draw, shape `(chain, draw)`: in the model's space, without Jacobians.

    Arguments and errors as for `log_likelihood`; factors are left out. For the model
    and data of the run, `draws.stats["log_prior"]` already has it.

    **Example**

    >>> infer.log_prior(draws).shape
    (2, 200)
    """
    return _of_each("log_prior", draws, model, executor, lambda target, values, key: target.log_prior(values))


@checks_options
def log_joint(
    draws: Draws | Mapping[str, Any],
    model: Model | None = None,
    *,
    executor: AbstractExecutor | None = None,
) -> np.ndarray:
    """Compute the log joint density at each draw (prior, likelihood, factors), `(chain, draw)`, without Jacobians.

    `draws.stats["lp"]` is this density in unconstrained space, with Jacobians; with collapsed sites, it is the marginal
    density of the others. Arguments and errors as for `log_likelihood`.

    **Example**

    >>> total = infer.log_prior(draws) + infer.log_likelihood(draws)["y"].sum(axis=-1)
    >>> np.allclose(infer.log_joint(draws), total)
    True
    """
    return _of_each("log_joint", draws, model, executor, lambda target, values, key: target.log_joint(values))


@checks_options
def returned(
    draws: Draws | Mapping[str, Any],
    model: Model | None = None,
    *,
    executor: AbstractExecutor | None = None,
) -> Any:
    """Compute the model's return value at each draw: its tree, with arrays of shape `(chain, draw, ...)`.

    Observed sites keep their data. Arguments and errors as for `log_likelihood`, and `DataError` if the
    model returns anything but numbers.

    **Example**

    >>> @ac.model
    ... def odds():
    ...     p = ac.sample("p", dist.Beta(2, 2))
    ...     return {"odds": p / (1 - p)}
    >>> infer.returned({"p": np.array([[0.5, 0.75]])}, odds())["odds"]
    array([[1., 3.]])
    """
    return _of_each("returned", draws, model, executor, lambda target, values, key: target.returned(values))


def _of_each(function: str, draws: Any, model: Any, executor: Any, evaluate: Any) -> Any:
    source = Source.of(function, draws, model)
    target = source.trace(function, draws_others=False)
    return over_draws(function, target, source, evaluate, executor=executor)
