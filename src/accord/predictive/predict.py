"""Draw predictions of a model, given draws of its unknowns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import jax
import numpy as np

from ..core import keys
from ..core.errors import OptionError, suggest
from ..core.notice import Notice, by_severity
from ..core.options import checks_options
from ..density.joint import Predictive
from ..executors import AbstractExecutor
from ..language import Model
from ..mcmc.draws import Draws
from ..report import tell
from .about import about
from .conditioned import conditions_drawn
from .over_draws import over_draws
from .results import Predictions
from .source import Source, left_out


@checks_options
def predict(
    draws: Draws | Mapping[str, Any],
    model: Model | None = None,
    *,
    kind: Literal["draw", "mode", "probabilities"] = "draw",
    sites: Sequence[str] | None = None,
    redraw: Sequence[str] | Mapping[str, str] = (),
    seed: int = 0,
    executor: AbstractExecutor | None = None,
    quiet: bool = False,
) -> Predictions:
    """Draw from the posterior predictive distribution: one prediction for every draw of the unknowns.

    Observed sites, and sites whose argument is None (`y=None`), are drawn; deterministic sites are computed again. A
    site with a value by `.condition` is observed, so it is drawn too, with a notice if others depend on it: to keep the
    value, give the model with `.do`.
    Unknowns take the values of the draws. Entries are matched by label, in any order, if plates, scans or dims have
    labels (`coords=`), else by position. An unknown that the draws lack is drawn from its prior given the rest, with a
    notice.

    Results are reproducible: they depend on (seed, chain, kept draw). Draws in a folder are read in blocks and need not
    fit into memory; the result must.

    **Arguments**
    - `draws`: draws of a run, or a mapping from site to array of shape `(chain, draw, *site)`, which needs `model` and
      has no labels.
    - `model`: the model called with the data to predict for, such as `model(x_new)`; None is the model of the run with
      its data. Sizes that do not belong to a plate must be those of the run.
    - `kind`: `"draw"`; or, of discrete unknowns that are summed out, given the others of each draw: `"mode"`, their
      most probable values together; `"probabilities"` of each value, of shape `(chain, draw, *site, value)`, with the
      other discrete unknowns summed out. With new data, they are those of the new entries.
    - `sites`: names of the sites to return; None is all that are predicted, drawn or computed.
    - `redraw`: unknowns to draw from their priors given the rest, although the draws have values: only entries with new
      labels, such as groups that are not in the data; without labels, all entries.
      `{"effect": "all"}` draws all entries of a site that has labels.
    - `seed`: an integer in [0, 2**64). `quiet`: print no notices.
    - `executor`: where to compute, which does not change the result: `infer.Threads()`, which is None, `Serial()`,
      `Processes()`, `Dask()` or `Ray()`.

    **Raises** `SiteError` for a site whose size differs from its draws, whose labels are unknown to the draws, or that
    has no draws; `OptionError` for unknown names, and without a model.

    **Example**

    >>> ahead = infer.predict(draws, eight_schools(sigma))
    >>> ahead["y"].shape  # one prediction for each draw
    (2, 200, 8)
    """
    keys.chain_key(seed, 0)
    source = Source.of("predict", draws, model)
    if kind != "draw":
        from .discrete import of_discrete  # loads what few models need

        if redraw:
            raise OptionError(
                f"infer.predict: kind={kind!r} draws nothing, so that `redraw` has nothing to say."
            )
        result = of_discrete(source, kind, sites, executor)
        if not quiet:
            tell(result.notices)
        return result
    anew = {**dict.fromkeys(source.model.redrawn, "new"), **_redraw(redraw)}
    target = source.trace("predict", anew, draws_others=True)
    latents = [entry.name for entry in target.layout.entries]
    seen = tuple(entry.name for entry in target.layout.observed)
    if source.observed is None:  # who gives draws by name leaves out what is to be predicted
        redrawn = [target.layout.settable.get(name) for name in anew]
        ahead = [name for name in latents if name not in (*target.read, *redrawn)]
    else:
        ahead = [name for name in latents if name in source.observed or name in left_out(source, target)]
    seen += tuple(ahead)
    group = "predictions" if ahead and not source.is_own else "posterior_predictive"
    return drawn("predict", source, target, group, seen, sites, seed, executor, quiet)


def drawn(
    function: str,
    source: Source,
    target: Predictive,
    kind: str,
    predicted: tuple[str, ...],
    sites: Sequence[str] | None,
    seed: int,
    executor: AbstractExecutor | None,
    quiet: bool,
    num_draws: int | None = None,
) -> Predictions:
    """Implement `infer.predict` and `infer.prior_predictive`, by `kind`."""
    every = [
        entry.name
        for entry in target.layout.sites
        if entry.kind != "factor" and entry.name not in target.given
    ]
    if sites is None:
        names = [name for name in every if target.layout[name].kind != "intervened"]
    else:
        names = [name for name in every if name in _names("sites", sites)]
        for name in _names("sites", sites):
            if name not in every:
                raise OptionError(
                    f"infer.{function}: sites has {name!r}, which is not predicted.{suggest(name, every)} There are: "
                    f"{', '.join(every)}."
                )

    def of_draw(target: Predictive, values: Mapping[str, Any], key: jax.Array) -> dict[str, jax.Array]:
        found = target.draw(values, key)
        return {name: found[name] for name in names}

    found = over_draws(function, target, source, of_draw, executor=executor, seed=seed, num_draws=num_draws)
    arrays = {name: found[name] for name in names}
    anew = tuple(
        entry.name for entry in target.layout.entries if entry.name not in (*target.given, *predicted)
    )
    notices = [*target.notices, *_non_finite(arrays)]
    if kind != "prior_predictive":
        notices += [*_drawn_anew(anew, source, target), *_unused(source, target)]
        notices += conditions_drawn(source.model, target)
    result = Predictions(
        **about(source, target, arrays, by_severity(notices)), kind=kind, predicted=predicted, anew=anew
    )
    if not quiet:
        tell(result.notices)
    return result


def _names(option: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(f"{option} is a list of names of sites; write {option}=[{given!r}].")
    return tuple(map(str, given))


def _redraw(given: Any) -> dict[str, str]:
    """Return, by site, the entries to draw."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(_names("redraw", given), "new")
    for name, which in given.items():
        if which not in ("new", "all"):
            raise OptionError(
                f'redraw: {name!r} is to be drawn {which!r}; give "new", for the entries of labels that the draws do '
                'not know, or "all".'
            )
    return {str(name): which for name, which in given.items()}


def _drawn_anew(anew: tuple[str, ...], source: Source, target: Predictive) -> list[Notice]:
    if not anew:
        return []
    factors = [entry.name for entry in target.layout.sites if entry.kind == "factor"]
    partly = ", ".join(repr(name) for name in anew if name in target.kept)
    kept = (
        f" In {partly} that holds for the entries of new labels; the draws have the others." if partly else ""
    )
    without = f" Factors have no say in that: {', '.join(map(repr, factors))}." if factors else ""
    # One that is reparameterised is computed too, and was named in `redraw`.
    computed = [
        entry.name
        for entry in target.layout.sites
        if entry.kind == "deterministic"
        and entry.name in (source.unknowns or ())
        and entry.name not in target.layout.settable
    ]
    if computed:
        listed = ", ".join(map(repr, computed))
        without += f" The model computes {listed} anew, and the values of the draws are not used."
    return [
        Notice(
            "warning" if factors or computed else "info",
            "drawn_from_prior",
            f"{', '.join(map(repr, anew))} {'come' if len(anew) > 1 else 'comes'} from the prior given the rest, not "
            f"from the draws.{kept}{without}",
            "That is right for groups that were not among the data; otherwise take draws that hold them"
            + (", or write the model as it was sampled." if computed else "."),
            anew,
        )
    ]


def _unused(source: Source, target: Predictive) -> list[Notice]:
    known = [entry.name for entry in target.layout.sites]
    unused = tuple(name for name in source.unknowns or () if name not in known)
    if not unused:
        return []
    return [
        Notice(
            "info",
            "unused_draws",
            f"The model given has no {', '.join(map(repr, unused))}, of which there are draws.",
            "That is right if it does not need them; otherwise check the names.",
            unused,
        )
    ]


def _non_finite(arrays: Mapping[str, np.ndarray]) -> list[Notice]:
    found: list[Notice] = []
    for name, array in arrays.items():
        count = int(np.count_nonzero(~np.isfinite(array))) if array.dtype.kind == "f" else 0
        if count:
            found.append(
                Notice(
                    "warning",
                    "not_finite",
                    f"{count} of {array.size} values of {name!r} are NaN or infinite.",
                    "Look at the parameters of its distribution at these draws: a rate may overflow, a scale be zero.",
                    (name,),
                )
            )
    return found
