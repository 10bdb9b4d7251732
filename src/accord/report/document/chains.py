"""Put together the report of a run of chains, from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.notice import Notice
from ...core.series import AbstractSeries
from ..beside import AbstractBeside
from ..diagnostics import QUIETLY, e_bfmi
from ..labels import Coords, Dims
from ..words import count_of
from . import made
from .base import Document, Table
from .draws_sections import pairs, worst
from .predictions import predictions
from .sampler import sampler
from .unknowns import table_of


@dataclass(frozen=True, eq=False)
class ChainRun:
    """A run of chains as a report needs it.

    **Fields**
    - `sites`, `stats`, `warmup`: draws, their statistics, and those of warm-up, shape `(chain, draw, *event)`.
    - `chains`: their numbers. `dims`, `coords`: of sites. `superchains`: see `summarise`.
    - `notices`, `problems`, `lost`: records of failed chains. `manifest`: how it was made.
    - `num_draws`, `requested`: draws per chain, made and wanted. `complete`: whether all were made.
    - `timings`: seconds by phase. `work`: gradients by phase. `counts`: failed draws by kind and phase.
    - `max_tree_depth`: limit of the sampler, or None. `stopping`: what its stopping rule found, in a sentence.
    - `beside`: results computed from these draws or from the prior. `source`: code of the model. `again`: code that
      runs it again.
    """

    sites: AbstractSeries
    stats: AbstractSeries
    warmup: AbstractSeries
    chains: tuple[int, ...]
    dims: Dims
    coords: Coords
    superchains: Sequence[int] | None
    notices: tuple[Notice, ...]
    problems: tuple[str, ...]
    lost: Sequence[Mapping[str, Any]]
    manifest: Mapping[str, Any]
    num_draws: int
    requested: int
    complete: bool
    timings: Mapping[str, float]
    work: Mapping[str, int]
    counts: Mapping[str, Mapping[str, np.ndarray]]
    max_tree_depth: int | None = None
    stopping: str = ""
    beside: tuple[AbstractBeside, ...] = ()
    source: str | None = None
    again: str = ""
    lengths: np.ndarray = field(default_factory=lambda: np.zeros(0))


def document_of(run: ChainRun) -> Document:
    """Judge the unknowns, and draw the figures of a run."""
    with np.errstate(**QUIETLY):  # of draws that are not finite, or whose squares are not
        return _document_of(run)


def _document_of(run: ChainRun) -> Document:
    table, order = table_of(run.sites, dims=run.dims, coords=run.coords, superchains=run.superchains)
    manifest = run.manifest
    size = f"{count_of(len(run.chains), 'chain')} \u00d7 {count_of(run.num_draws, 'draw')}"
    state = "" if run.complete else ", incomplete"
    sections = [
        worst(run.sites, run.stats, order, run.chains, run.dims, run.coords),
        sampler(run),
        pairs(run.sites, run.stats, order, run.dims, run.coords),
        predictions(run.sites, run.beside, run.dims, run.coords),
    ]
    return Document(
        str(manifest.get("model", "")),
        f"{size} by {manifest.get('sampler', {}).get('name', '')}{state}",
        "these draws",
        _facts(run),
        made.site_rows(manifest),
        made.data_rows(manifest),
        run.again,
        run.source,
        tuple(run.notices),
        tuple(run.problems),
        _numbers(run, table),
        table,
        tuple(section for section in sections if section is not None),
        made.record_of(manifest),
    )


def _facts(run: ChainRun) -> tuple[tuple[str, str], ...]:
    manifest = run.manifest
    thinning = int(manifest.get("thinning", 1))
    found = {
        "Sampler": made.sampler_words(manifest),
        "Chains": _listed(run.chains),
        "Draws per chain": f"{run.num_draws} of {run.requested}"
        + (f", every {thinning}th kept" if thinning > 1 else ""),
        "Warm-up": f"{manifest.get('warmup', '')} draws as planned" + _lengths(run),
        "Stopping rule": run.stopping,
        "Lost chains": "; ".join(
            f"chain {_listed(each['chains'])} at draw {each['draw']}: {str(each['error'])[:200]}"
            for each in run.lost
        ),
    }
    return (*((name, value) for name, value in found.items() if value), *made.facts_of(manifest))


def _lengths(run: ChainRun) -> str:
    """Write how long warm-up was, if chains went on longer than planned."""
    if not run.lengths.size or np.all(run.lengths == run.manifest.get("warmup")):
        return ""
    return f"; {run.lengths.min():.0f} to {run.lengths.max():.0f} made"


def _listed(chains: Sequence[int]) -> str:
    chains = list(chains)
    if len(chains) > 8 and chains == list(range(chains[0], chains[0] + len(chains))):
        return f"{chains[0]} to {chains[-1]}"
    return ", ".join(map(str, chains[:40])) + (f" and {len(chains) - 40} more" if len(chains) > 40 else "")


def _numbers(run: ChainRun, table: Table) -> tuple[tuple[str, str], ...]:
    """Return the numbers that decide, each with its limit."""
    columns = table.columns

    def extreme(name: str, pick: Any) -> tuple[float, str] | None:
        known = np.flatnonzero(np.isfinite(columns[name]))
        if not known.size:
            return None
        row = known[int(pick(columns[name][known]))]
        return float(columns[name][row]), table.labels[row]

    found: list[tuple[str, str]] = []
    for name, title, pick, limit in (
        ("r_hat", "Highest R-hat", np.argmax, "at most 1.01"),
        ("ess_bulk", "Lowest bulk ESS", np.argmin, "at least 400"),
        ("ess_tail", "Lowest tail ESS", np.argmin, "at least 400"),
    ):
        seen = extreme(name, pick)
        if seen is not None:
            value = f"{seen[0]:.3f}" if name == "r_hat" else f"{seen[0]:.0f}"
            found.append((title, f"{value} ({seen[1]}); wanted: {limit}"))
    if "diverging" in run.stats:
        bad = np.asarray(run.stats["diverging"])
        found.append(("Divergent draws", f"{int(bad.sum())} of {bad.size}; wanted: none"))
    if "energy" in run.stats:
        bfmi = e_bfmi(run.stats["energy"])
        bfmi = bfmi[np.isfinite(bfmi)]
        if bfmi.size:
            found.append(("Lowest E-BFMI", f"{bfmi.min():.2f}; wanted: at least 0.3"))
    return tuple(found)
