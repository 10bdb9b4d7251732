"""Show what the sampler did: energy, steps, trees, divergences, warm-up and time."""

from typing import TYPE_CHECKING

import numpy as np

from ..figures.energy import energy
from ..figures.marks import Figure, Panel
from ..figures.sampler import divergences, seconds, step_size, tree_depth
from ..figures.trace import trace
from .base import Section
from .made import phases_of

if TYPE_CHECKING:
    from .chains import ChainRun


def sampler(run: "ChainRun") -> Section | None:
    """Draw what the statistics of draws tell of the sampler; None without draws."""
    stats, warmup = run.stats, run.warmup
    panels: list[Panel] = []
    if "lp" in stats and stats["lp"].size:
        panels.append(trace(stats["lp"], "log density", run.chains))
    if "energy" in stats and stats["energy"].size:
        panels.append(energy(stats["energy"]))
    if "step_size" in stats and stats["step_size"].size:
        before = warmup["step_size"] if "step_size" in warmup else np.zeros((len(run.chains), 0))
        panels.append(step_size(before, stats["step_size"], run.chains))
    if "tree_depth" in stats and stats["tree_depth"].size:
        panels.append(tree_depth(stats["tree_depth"], run.max_tree_depth))
    if "divergence" in run.counts:
        panels.append(divergences(run.counts["divergence"]["sample"], run.chains))
    phases = phases_of(run.timings)
    if phases:
        panels.append(seconds(phases))
    if not panels:
        return None
    words = "How the sampler moved. A run that explores well has energies and changes of energy that are spread alike."
    shown = f"Shown: {', '.join(panel.title.lower() for panel in panels)}."
    return Section(
        "sampler", "Sampler", words, (Figure("What the sampler did", shown, tuple(panels)),), _facts(run)
    )


def _facts(run: "ChainRun") -> tuple[tuple[str, str], ...]:
    found = {f"Gradients in {phase}": f"{count:,}" for phase, count in run.work.items()}
    found |= {"Seconds in all": f"{run.timings['total']:.3g}"} if "total" in run.timings else {}
    for kind, phases in run.counts.items():
        counts = {phase: int(np.sum(each)) for phase, each in phases.items()}
        if any(counts.values()):
            name = {"divergence": "Divergences", "log_density": "Log density not finite"}.get(
                kind, "Gradient not finite"
            )
            found[name] = ", ".join(f"{count} in {phase}" for phase, count in counts.items())
    if "acceptance_rate" in run.stats and run.stats["acceptance_rate"].size:
        found["Mean acceptance"] = f"{np.nanmean(run.stats['acceptance_rate']):.3f}"
    return tuple(found.items())
