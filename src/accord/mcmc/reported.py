"""Hand the draws of a run to its report and its plots."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..report.beside import AbstractBeside, groups_beside
from ..report.document.again import sampler_of, target_of
from ..report.document.base import Document
from ..report.document.chains import ChainRun, document_of
from ..report.plots import Plotted
from ..runs.code import source_of

if TYPE_CHECKING:
    from .draws import Draws


def document(draws: "Draws", beside: tuple[AbstractBeside, ...] = ()) -> Document:
    """Return the report of a run. **Raises** `OptionError` for results `beside` that are of other draws."""
    groups_beside(beside, draws.chains, draws.num_draws)
    return document_of(
        ChainRun(
            draws.sites,
            draws.stats,
            draws.warmup,
            draws.chains,
            draws.dims,
            draws.coords,
            draws.superchains,
            draws.notices,
            draws.problems,
            draws.lost_chains,
            draws.manifest,
            draws.num_draws,
            draws.requested,
            draws.complete,
            draws.timings,
            draws.work,
            draws.counts,
            max_tree_depth=_max_tree_depth(draws),
            stopping="" if draws.stopping is None else str(draws.stopping),
            beside=beside,
            source=source_of(draws.density),
            again=_again(draws),
            lengths=np.asarray(draws.tuning.get("num_warmup", np.zeros(0))),
        )
    )


def plotted(draws: "Draws") -> Plotted:
    """Return what plots need of a run."""
    return Plotted(
        draws.sites,
        draws.stats,
        draws.warmup,
        draws.chains,
        draws.dims,
        draws.coords,
        draws.superchains,
        _max_tree_depth(draws),
        tuple(draws.sites),
    )


def _max_tree_depth(draws: "Draws") -> int | None:
    sampler: dict[str, Any] = draws.manifest["sampler"]
    return sampler.get("inner", sampler).get("max_tree_depth")


def _again(draws: "Draws") -> str:
    """Write the call that makes such a run again."""
    manifest = draws.manifest
    return (
        "from accord import infer\n\n"
        f"infer.sample(\n    {target_of(manifest)}\n    {sampler_of(manifest)},\n"
        f"    draws={draws.requested}, warmup={manifest['warmup']}, chains={len(manifest['chains'])},\n"
        f"    thinning={manifest['thinning']}, seed={manifest['seed']}, precision={manifest['precision']!r},\n"
        ")  # and the settings above, where they are not the defaults\n"
    )
