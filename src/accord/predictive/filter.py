"""Filter the states of a series by particles, given values of a model's other unknowns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..core import keys
from ..core import precision as precisions
from ..core.errors import OptionError
from ..core.guided import Lookahead, Proposal, check_functions
from ..core.options import checks_options, positive_count, shown
from ..core.precision import Precision
from ..core.series import InMemory
from ..density.joint import Predictive
from ..density.matching import Held
from ..executors import AbstractExecutor
from ..language import Model
from ..mcmc.draws import Draws
from ..particles.filter_loop import Way
from ..particles.filtered import filtered
from ..particles.fit import Fit, fit_of, particle_unknowns
from ..resampling import AbstractResampling, Systematic
from ..runs.requests import check_kind
from .filtered import Filtered, notices_of, squeezed
from .over_draws import over_draws
from .source import RESULTS, Source, check_model

_NAME = "infer.filter"
_MOST_PARTICLES, _MOST_TRAJECTORIES = 2**20, 2**16


@checks_options
def filter(
    model: Model,
    values: Draws | Mapping[str, Any] | None = None,
    *,
    particles: int = 1000,
    trajectories: int = 1,
    ess: float = 0.5,
    resampling: AbstractResampling = Systematic(),  # noqa: B008 - a frozen value
    proposal: Proposal | None = None,
    lookahead: Lookahead | None = None,
    seed: int = 0,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
) -> Filtered:
    """Filter the states of a series by particles: their means step by step, and the likelihood of the other unknowns.

    The states are the unknowns in an `ac.scan`. Particles go through it together: what is observed at a step, and each
    `ac.factor` there, weighs them, and they are resampled where few have most of the weight. An unknown before the scan
    from which its first carry is computed belongs to the particle too, unless it is given.

    Results are reproducible bit for bit, whichever executor computes them. The filter of a draw does not depend on the
    other draws.

    **Arguments**
    - `model`: called with its data.
    - `values`: of all other unknowns, by name, in the model's space and of their sites' shapes; given before the scan,
      they are conditions, and in or after it they count as observed. Or draws of a run, for a filter of each: of these,
      the states and unknowns that belong to the particle are not read.
    - `particles`: of a filter; in [1, 1048576]. The standard error falls with their square root.
    - `trajectories`: how many draws of all states given all data; >= 1.
    - `ess`: particles are resampled where their weights are worth less than this share of them; in [0, 1].
    - `resampling`: `infer.Systematic()`, `Stratified()`, `Residual()` or `Multinomial()`.
    - `proposal`: None draws states from their own distributions (the bootstrap filter). A guided filter draws them from
      `proposal(values, carry, x)`, which returns a distribution for each state of the step, by name; `carry` and `x`
      are what the step gets, `values` the given unknowns by name. Write it with `jax.numpy`.
    - `lookahead`: of an auxiliary filter, `lookahead(values, carry, x)`, the log of about how probable the observations
      of the step will be; particles are chosen for that, and weighed by what it was wrong.
    - `seed`: an integer in [0, 2**64).
    - `executor`: as of `infer.log_likelihood`.
    - `precision`: with draws, theirs is taken.

    **Raises** `SiteError`, which names the site, for a model without such a scan, or one that particles do not fit: an
    unknown without a value that is no state, or a state that the steps use by another way than the carry; and for data
    that are NaN or impossible: leave these out by `handlers.mask` in the step. `OptionError`
    for values of no site, and what is no proposal.

    **Source**: Gordon, Salmond & Smith (1993), IEE Proc. F 140(2), 107-113; guided: Doucet, Godsill & Andrieu (2000),
    Statistics and Computing 10(3), 197-208; auxiliary: Pitt & Shephard (1999), JASA 94(446), 590-599; the standard
    error: Chan & Lai (2013), Annals of Statistics 41(6), 2877-2904.

    **Example**

    >>> found = infer.filter(level(flow), {"drift": 0.3})
    >>> found.mean["x"].shape, found.log_evidence.standard_error < 0.1
    ((4,), True)
    """
    check_model("filter", model)
    check_kind("resampling", resampling, AbstractResampling, "infer.Systematic()")
    check_functions(_NAME, proposal, lookahead)
    way = Way(
        positive_count(f"{_NAME}: particles", particles, maximum=_MOST_PARTICLES),
        _share(ess),
        resampling,
        proposal,
        lookahead,
        _NAME,
    )
    count = positive_count(f"{_NAME}: trajectories", trajectories, maximum=_MOST_TRAJECTORIES)
    is_one = not isinstance(values, RESULTS)
    source = _of_values(model, values or {}, precision) if is_one else _of_draws(values, model)
    target = source.trace("filter", draws_others=True)
    if target.kept:
        raise OptionError(
            f"{_NAME}: the draws hold some entries of {target.kept[0]!r} and not all that the model has. Give a model "
            "with the entries of the draws."
        )
    target.check_data()
    fit = _fit(target)
    found = over_draws(
        "filter",
        target,
        source,
        _Evaluate(fit, way, count),
        executor=executor,
        seed=seed,
        num_draws=1 if is_one else None,
        use=keys.USE_FILTER,
    )
    return _result(found, target.name, way.particles, is_one)


@dataclass(frozen=True)
class _Evaluate:
    """The filter of one draw. **Fields**: `fit`; `way`; `num_paths`, trajectories to draw."""

    fit: Fit
    way: Way
    num_paths: int

    def __call__(self, target: Predictive, values: Mapping[str, Any], key: jax.Array) -> dict[str, Any]:
        return filtered(
            lambda handlers: target.sites_within(values, *handlers),
            self.fit,
            self.way,
            values,
            key,
            self.num_paths,
        )


def _fit(target: Predictive) -> Fit:
    with precisions.scope(target.precision):
        unknowns = [each.name for each in target.layout.unknowns if each.name not in target.given]
        return fit_of(_run_of(target), unknowns, _NAME, _like(target), _data(target))


def _run_of(target: Predictive) -> Any:
    def run(values: Any, data: Any, handlers: Any) -> Any:
        return target.with_data(data).sites_within(values, *handlers)

    return run


def _like(target: Predictive) -> dict[str, Any]:
    return {
        name: jax.ShapeDtypeStruct(target.layout[name].shape, np.dtype(target.layout[name].dtype))
        for name in target.given
    }


def _data(target: Predictive) -> Any:
    return jax.tree.map(lambda each: jax.ShapeDtypeStruct(each.shape, each.dtype), dict(target.data))


def _of_values(model: Model, values: Mapping[str, Any], precision: Precision) -> Source:
    """Return one draw of values, by site."""
    if not isinstance(values, Mapping):
        raise OptionError(
            f"{_NAME}: values must be a mapping from unknown to value, or draws of a run; got {type(values).__name__}."
        )
    arrays = {name: np.asarray(value)[None, None] for name, value in values.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise OptionError(f"{_NAME}: the value of {name!r} holds {array.dtype}, not numbers.")
    held = {name: Held.of(array.shape[2:], (), {}) for name, array in arrays.items()}
    return Source(InMemory(arrays), (0,), model, precision, held)


def _of_draws(draws: Any, model: Model) -> Source:
    """Return the draws of those unknowns that do not belong to the particle."""
    source = Source.of("filter", draws, model)
    alone = Predictive.of(model, {}, {}, source.precision, draws_others=True)
    names = [each.name for each in alone.layout.unknowns]
    with precisions.scope(source.precision):
        held = particle_unknowns(_run_of(alone), names, _NAME, {}, _data(alone))
    known = source.unknowns or tuple(source.series)
    kept = tuple(name for name in known if name not in held)
    if not kept:
        raise OptionError(
            f"{_NAME}: all unknowns belong to the particles ({', '.join(map(repr, held))}), so that the filter is the "
            "same for all draws. Leave the draws out."
        )
    return replace(source, unknowns=kept, computed=tuple(n for n in source.computed if n not in held))


def _share(ess: Any) -> float:
    if isinstance(ess, bool) or not isinstance(ess, int | float) or not 0 <= ess <= 1:
        raise OptionError(f"{_NAME}: ess must lie in [0, 1], got {shown(ess)}.")
    return float(ess)


def _result(found: Mapping[str, Any], model: str, particles: int, is_one: bool) -> Filtered:
    numbers = {name: np.asarray(each) for name, each in found.items() if not isinstance(each, Mapping)}
    numbers["standard_error"] = np.sqrt(np.maximum(numbers["variance"], 0))
    one = squeezed(numbers, is_one)
    return Filtered(
        log_likelihood=one["log_likelihood"],
        standard_error=one["standard_error"],
        mean=squeezed(found["mean"], is_one),
        sd=squeezed(found["sd"], is_one),
        ess=one["ess"],
        trajectories=squeezed(found["trajectories"], is_one),
        families=one["families"],
        particles=particles,
        model=model,
        notices=tuple(notices_of(numbers, particles)),
    )
