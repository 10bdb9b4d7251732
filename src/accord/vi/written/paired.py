"""Trace a model and the guide that was written for it, and compare them."""

from dataclasses import replace
from typing import Any

from ...core.errors import OptionError
from ...core.precision import Precision, scope
from ...density import LogDensity
from ...density.latent import SubsampledError
from ...density.minibatch import Minibatch, for_minibatches, minibatch_of
from ...language import Model
from ...language.handlers.batch import OneBatch
from ...runs.requests import density_of
from .costs import apart_in
from .guide import Pair, Written
from .matched import check_guide, check_parts, drawn_in, latents_of, parted, pinned_in, scored_in
from .program import GuideProgram, params_of, sites_in, starts_of, trace_guide
from .rows import epoch_of, rows_in


def written_for(
    target: Any, guide: Model, precision: Precision
) -> tuple[LogDensity, Minibatch | None, Written]:
    """Trace a model and the guide that was written for it, and compare them.

    **Raises** `OptionError` for a target that is no model; `SiteError` and `ModelError` as `check_guide`.
    """
    if not isinstance(target, Model):
        raise OptionError(
            "guide: one that is written as a model draws the sites of another model, and the target is a LogDensity. "
            "Give infer.fit the model itself, called with its data."
        )
    try:
        with scope(precision):
            traced, data, sites = trace_guide(guide, precision)
        # What the guide draws is no longer summed out.
        density, minibatch = density_of(target, precision, (), drawn_in(sites)), None
        guide_part = None
    except SubsampledError:
        with scope(precision):
            traced, data, sites = trace_guide(for_minibatches(guide), precision)
        density = density_of(target, precision, (), drawn_in(sites), takes_parts=True)
        with scope(precision):
            minibatch = minibatch_of(density, "infer.fit", allows_local=True)
            guide_part = guide.inside_of(OneBatch.blank())
    with scope(precision):
        return _compared(density, minibatch, guide, guide_part, traced, data, sites, precision)


def _compared(
    density: LogDensity,
    minibatch: Minibatch | None,
    guide: Model,
    guide_part: Model | None,
    traced: Any,
    data: dict[str, Any],
    sites: Any,
    precision: Precision,
) -> tuple[LogDensity, Minibatch | None, Written]:
    whole = density.program.whole
    assert whole is not None
    theirs = sites_in(whole, density.data)
    check_guide(guide.name, density.program.name, sites, theirs, density.layout)
    latents = latents_of(theirs, density.layout)
    part, local, scored, own_part = None, (), scored_in(sites), None
    if guide_part is not None and minibatch is not None:
        part_traced, part_data, own_part = trace_guide(guide_part, precision)
        their_whole = minibatch.density.program.whole
        assert their_whole is not None
        their_part = sites_in(their_whole, minibatch.density.data)
        check_parts(guide.name, sites, theirs, own_part, their_part, latents)
        (words,) = part_data.keys() - data.keys()
        part = GuideProgram(part_traced, latents, words, scored)
        local = tuple(name for name in latents if parted(sites[name], own_part[name]))
    own, of_model = params_of(sites), params_of(theirs)
    start = starts_of(traced, data, own) | starts_of(whole, density.data, of_model)
    pair = Pair(GuideProgram(traced, latents, scored=scored), part, own, of_model, start, local)
    written = Written(guide.name, pair, data, scored=scored, pinned=pinned_in(sites))
    if minibatch is not None and own_part is not None:
        rows, epoch = rows_in(written, minibatch, sites, own_part), epoch_of(sites, own_part)
        written = replace(written, pair=replace(pair, rows=rows, epoch=epoch))
    if scored:
        at_step = density if minibatch is None else minibatch.density
        drawing = written if minibatch is None else written.at_part(at_step.data[minibatch.words])
        written = replace(written, pair=replace(written.known, apart=apart_in(drawing, at_step)))
    return density, minibatch, written
