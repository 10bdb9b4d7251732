"""Report on a run: progress, notices, summaries, and export to ArviZ."""

from .arviz import to_arviz, to_tree
from .diagnostics import e_bfmi, ess_bulk, ess_mean, ess_tail, mcse_mean, mcse_sd, nested_r_hat, r_hat
from .notices import examine, tell
from .progress import AbstractProgress, NoProgress, RichProgress
from .sketch import sketch
from .summary import Summary, summarise

__all__ = [
    "AbstractProgress",
    "NoProgress",
    "RichProgress",
    "Summary",
    "e_bfmi",
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "examine",
    "mcse_mean",
    "mcse_sd",
    "nested_r_hat",
    "r_hat",
    "sketch",
    "summarise",
    "tell",
    "to_arviz",
    "to_tree",
]
