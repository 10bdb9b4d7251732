"""Give exchangeable components the same labels in all draws of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import DataError, OptionError, SiteError, suggest
from ..core.notice import Notice, by_severity
from ..core.options import checks_options
from ..core.series import InMemory
from ..mcmc.draws import Draws
from ..mcmc.stored.record import judge
from ..report import tell
from ..report.components import Axes, Matching, in_words, match, reorder
from .axes import candidates
from .exchange import computed_again, density_of, exchangeable

_DOUBTFUL = 0.01  # mean chance that another order is right, from which on components overlap


@checks_options
def relabel(
    draws: Draws,
    components: str | Mapping[str, Any],
    *,
    by: str | Sequence[str] | None = None,
    quiet: bool = False,
) -> Draws:
    """Give exchangeable components, as those of a mixture, the same labels in all draws; return a copy.

    Nothing in such a model says which component comes first, so that chains disagree on every component although they
    agree on all that does not depend on labels. Here the components of each draw are put in the order in which they fit
    best to places that all draws share, learnt from the draws themselves (Stephens 2000); the places are in increasing
    order of the first site's mean. Whether labels are arbitrary is checked first: the log density must be the same
    where components have changed places.

    The copy is judged again, so that R-hat and effective sample sizes are of the components; a notice says how many
    draws were changed, and whether components overlap, where any order is a choice. Sites that the model computes are
    computed again, and labels that it sums out are drawn again. `draws.stats` are those of the run: `lp` is of the
    unconstrained space, and may depend on the order.

    **Arguments**
    - `components`: the name of their dimension, such as that of a plate. Axes without a name that are as long, such as
      that of weights, move as well where the density asks for it; and so does a site of numbers between 0 and 1 that is
      the share of the first of two. Or a mapping from site to its axis, `{"mu": 0, "weights": 0}`; to several, as
      `(0, 1)` of a matrix of transitions; or to none, `()`, of such a share.
    - `by`: the sites that tell components apart; None is all of these sites that have one such axis. Few and clear ones
      may match better than many.
    - `quiet`: print no notices.

    **Raises** `ModelError` where components are told apart by the model; `OptionError` for an unknown dimension,
    axes of different lengths, and draws without their model; `SiteError` for an unknown site or axis; `DataError` for
    draws that are not finite.

    **Source**: Stephens (2000), J. R. Stat. Soc. B 62(4), 795-809.

    **Example**

    >>> y = np.r_[np.linspace(-3, -1, 20), np.linspace(1, 3, 20)]
    >>> @ac.model
    ... def pair(y):
    ...     with ac.plate("component", 2):
    ...         mu = ac.sample("mu", dist.Normal(0, 3))
    ...     halves = dist.Categorical(probs=np.full(2, 0.5))
    ...     with ac.plate("row", len(y)):
    ...         ac.sample("y", dist.MixtureSameFamily(halves, dist.Normal(mu, 1)), obs=y)
    >>> run = infer.sample(pair(y), seed=0, draws=200, progress=False, quiet=True)
    >>> any(notice.severity == "error" for notice in run.notices)
    True
    >>> same = infer.relabel(run, "component", quiet=True)
    >>> any(notice.severity == "error" for notice in same.notices)
    False
    """
    unknowns = [entry.name for entry in density_of(draws).layout.unknowns]
    what, possible = candidates(components, draws.sites, draws.dims, unknowns)
    axes = exchangeable(draws, possible, f"the components along {what!r}" if what else "these components")
    copy = _relabelled(draws, axes, _telling(axes, by), repr(what) if what else in_words(axes))
    if not quiet:
        tell(copy.notices)
    return copy


def _telling(axes: Axes, by: str | Sequence[str] | None) -> Axes:
    """Return the axes of the sites that tell components apart."""
    if by is not None and not isinstance(by, str | Sequence):
        raise OptionError(f"infer.relabel: by must be the name of a site, or a list of names; got {by!r}.")
    names = [by] if isinstance(by, str) else list(axes if by is None else by)
    for name in names:
        if name not in axes:
            raise SiteError(
                f"infer.relabel: by has {name!r}, which has no axis of these components.{suggest(name, axes)} "
                f"Sites with one are: {', '.join(axes)}."
            )
    telling = {name: axes[name] for name in names if len(axes[name]) == 1}
    if not telling:
        raise OptionError(
            "infer.relabel: no site tells the components apart: each has several axes of them or none, or by= is "
            "empty. Give a site with one such axis as well."
        )
    return telling


def _relabelled(draws: Draws, axes: Axes, telling: Axes, what: str) -> Draws:
    for name in telling:
        is_bad = ~np.isfinite(draws[name]).reshape(len(draws.chains), draws.num_draws, -1).all(axis=2)
        if is_bad.any():
            raise DataError(
                f"infer.relabel: {np.count_nonzero(is_bad)} draws of site {name!r} are not finite, and cannot be "
                "matched. See `draws.notices`, or tell components apart by others: by=."
            )
    found = match({name: draws[name] for name in telling}, telling, np.asarray(draws.stats["lp"]))
    sites = {
        name: reorder(draws[name], axes[name], found.order) if name in axes else draws[name] for name in draws
    }
    density = density_of(draws)
    unknowns = [entry.name for entry in density.layout.unknowns]
    others = [name for name in sites if name not in unknowns]
    sites |= computed_again(density, {name: sites[name] for name in unknowns}, others)
    copy = replace(draws, sites=InMemory(sites), location=None, notices=())
    extend = draws.continuation
    return replace(
        copy,
        notices=tuple(
            by_severity([_told(found, what, tuple(axes)), *_judged_again(draws, copy, tuple(axes))])
        ),
        manifest={
            **draws.manifest,
            "relabelled": _recorded(draws) | {name: list(some) for name, some in axes.items()},
        },
        continuation=extend and (lambda total: _relabelled(extend(total), axes, telling, what)),
    )


def _recorded(draws: Draws) -> dict[str, Any]:
    """Return what has been relabelled before."""
    return dict(draws.manifest.get("relabelled", {}))


def _judged_again(draws: Draws, copy: Draws, names: tuple[str, ...]) -> list[Notice]:
    """Return the notices of a run, with those that depend on labels, or tell of these sites' before, made anew."""
    before, after = judge(draws), judge(copy)
    codes = {each.code for each in (*before, *after)}
    changed = {
        code
        for code in codes
        if [each for each in before if each.code == code] != [each for each in after if each.code == code]
    }
    told = [each for each in draws.notices if each.code != "relabelled" or each.sites != names]
    kept = [each for each in told if each.code not in changed]
    return [*kept, *(each for each in after if each.code in changed)]


def _told(found: Matching, what: str, names: tuple[str, ...]) -> Notice:
    """Say what was done, and whether it can be trusted."""
    share = f"{100 * found.share:.0f}%"
    done = f"components along {what} changed places in {share} of the draws, to be the same ones in all"
    if found.doubt < _DOUBTFUL:
        return Notice("info", "relabelled", f"{done}.", "", names)
    return Notice(
        "warning",
        "relabelled",
        f"{done}; but some overlap: in the mean over draws, another order is right with a chance of "
        f"{100 * found.doubt:.0f}%.",
        "Means and intervals of components that overlap depend on how draws are matched. Look at what does not depend "
        "on labels, such as predictions, or give by= the sites that tell components apart.",
        names,
    )
