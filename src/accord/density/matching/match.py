"""Decide for each unknown of a model whether its draws are taken, taken in part, or drawn anew."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...core.errors import OptionError, SiteError, suggest
from ...core.notice import Notice
from ...distributions.wrappers.entries import AbstractEntries, Entries
from ...language import Site
from ..layout import Entry, Layout
from .alignment import Held, Taking, check_follows, taking_of, unknown_labels, words_of


@dataclass(frozen=True, eq=False)
class Match:
    """The draws of sites that belong to a model.

    **Fields**
    - `given`: unknowns that have the values of the draws; `kept`, those of which some entries do; the rest is drawn.
    - `takings`: by name, which entries of the draws these take.
    - `marks`: by the name that `mark_of` gives, which entries of a site in `kept` the draws hold, and by batch axis,
      counted from the right, two words for each label. `notices`: what to tell about it.
    """

    given: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    takings: Mapping[str, Taking] = field(default_factory=dict)
    marks: Mapping[str, np.ndarray] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


def mark_of(name: str, part: int | str) -> str:
    """Name the marks of a site among the data; no argument can have this name."""
    return f"new entries of {name}: {part}"


def match_draws(
    layout: Layout,
    sites: Mapping[str, Site],
    held: Mapping[str, Held],
    redraw: Mapping[str, str],
    *,
    draws_others: bool,
) -> Match:
    """Match the draws of `held` with the unknowns of a model, of which `sites` are those that have draws.

    **Raises** as `Predictive.of`.
    """
    anew = _unknowns(redraw, layout)
    given: list[str] = []
    kept: list[str] = []
    takings: dict[str, Taking] = {}
    marks: dict[str, np.ndarray] = {}
    unneeded: list[str] = []
    for entry in layout.entries:
        name = entry.name
        if name not in sites:
            continue
        taking = taking_of(entry, layout, held[name])
        if name in anew:
            if anew[name] == "all" or not _is_kept(entry, layout, held[name], taking):
                continue
            _check_shape(entry, sites[name], layout, held[name], taking, is_redrawn=True)
            if taking.is_new:
                _check_independent(entry, sites[name], taking)
                marks |= _marks(entry, layout, taking)
                kept.append(name)
            else:
                unneeded.append(name)
                given.append(name)
        else:
            _check_shape(entry, sites[name], layout, held[name], taking)
            given.append(name)
        takings[name] = taking
    lacking = [name for name in given if takings[name].is_new]
    if lacking:
        entry = layout[lacking[0]]
        words = unknown_labels(entry, layout, held[entry.name], takings[entry.name])
        raise SiteError(
            f"site {entry.name!r} (at {sites[entry.name].where}): {words} {_remedy([*redraw, *lacking], draws_others)}"
        )
    check_follows(layout, held, takings)
    return Match(tuple(given), tuple(kept), takings, marks, _nothing_new(unneeded))


def _unknowns(redraw: Mapping[str, str], layout: Layout) -> dict[str, str]:
    """Return for each latent site how much of it to draw; a reparameterised one by way of its auxiliary."""
    latents = layout.settable
    for name in redraw:
        if name not in latents:
            raise OptionError(
                f"infer.predict: redraw takes unknowns of the model; {name!r} is not one.{suggest(name, latents)} "
                f"They are: {', '.join(latents) or 'none'}."
            )
    return {latents[name]: which for name, which in redraw.items()}


def _is_kept(entry: Entry, layout: Layout, held: Held, taking: Taking) -> bool:
    """Return whether the draws of a site to be drawn are kept: where it has labels on both sides."""
    if len(entry.shape) != len(held.shape):
        return False
    labelled = dict(layout.labels)
    if not any(known and dim in labelled for dim, known in zip(entry.dims, held.labels, strict=True)):
        return False
    return _fits(entry, held, taking) or bool(taking.is_known(entry.shape).any())


def _fits(entry: Entry, held: Held, taking: Taking) -> bool:
    sizes = zip(entry.shape, held.shape, taking.axes, strict=True)
    return all(places is not None or size == known for size, known, places in sizes)


def _check_shape(
    entry: Entry, site: Site, layout: Layout, held: Held, taking: Taking, *, is_redrawn: bool = False
) -> None:
    if len(entry.shape) == len(held.shape) and _fits(entry, held, taking):
        return
    plates = "".join(f" The plate {each.name!r} has size {each.size} here." for each in site.plates)
    labelled = {dim for dim, _ in layout.labels}
    sides = [(bool(known), dim in labelled) for dim, known in zip(entry.dims, held.labels, strict=False)]
    if (True, False) in sides:
        plates += " The draws have labels (coords) that this model does not give."
    if (False, True) in sides:
        plates += " The draws have no labels (coords) to compare with those of this model."
    remedy = f'redraw={{"{entry.name}": "all"}}' if is_redrawn else f"redraw=[{entry.name!r}]"
    raise SiteError(
        f"site {entry.name!r} (at {site.where}): the draws have shape {held.shape}, and the model as it is called now "
        f"needs {entry.shape}.{plates} Call it with as many entries as it was sampled with, or, to draw the site anew "
        f"from its prior given the rest, as for groups that were not among the data, add {remedy}."
    )


def _check_independent(entry: Entry, site: Site, taking: Taking) -> None:
    """Refuse to draw some entries beside others on which they depend."""
    if not taking.is_known(entry.shape).any():
        return
    first_event = len(entry.shape) - entry.num_event
    event = [
        dim
        for dim, places in zip(entry.dims, taking.axes, strict=True)
        if places is not None and (places < 0).any()
    ]
    inside = [dim for dim in event if dim in entry.dims[first_event:]]
    if isinstance(site.distribution, AbstractEntries) and not isinstance(site.distribution, Entries):
        inside = event
    if not inside:
        return
    raise SiteError(
        f"site {entry.name!r} (at {site.where}): the entries along {inside[0]!r} depend on each other "
        f"({entry.distribution}), so the entries of new labels cannot be drawn beside those in the draws. To "
        f'draw all of its entries anew: redraw={{"{entry.name}": "all"}}.'
    )


def _marks(entry: Entry, layout: Layout, taking: Taking) -> dict[str, np.ndarray]:
    labels = dict(layout.labels)
    first_event = len(entry.shape) - entry.num_event
    found = {mark_of(entry.name, "known"): taking.is_known(entry.shape)}
    for axis in range(entry.num_steps, first_event):
        if entry.dims[axis] in labels:
            found[mark_of(entry.name, axis - first_event)] = words_of(labels[entry.dims[axis]])
    return found


def _remedy(names: list[str], draws_others: bool) -> str:
    if draws_others:
        return (
            "To draw what is new from its distribution given the rest, and keep the draws of what is known, add "
            f"redraw={names}."
        )
    return (
        "Nothing is known of their values here: call the model without them. (`infer.predict` draws them, with "
        f"redraw={names}.)"
    )


def _nothing_new(names: list[str]) -> tuple[Notice, ...]:
    if not names:
        return ()
    listed = ", ".join(map(repr, names))
    return (
        Notice(
            "info",
            "nothing_new",
            f"The draws have all labels of {listed}, so redraw has drawn nothing new.",
            f'To draw all entries anew: redraw={{"{names[0]}": "all"}}.',
            tuple(names),
        ),
    )
