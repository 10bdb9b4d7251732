"""Say what is to blame for trajectories that failed, at the end of a run and without a long wait."""

import time
from typing import TYPE_CHECKING

import numpy as np

from ..density import LogDensity
from ..executors import ThreadPool
from ..report.evidence import Blamed
from ..report.rules.ends import is_often_in_warmup
from .draws import Draws
from .endings import KINDS, BadEnd

if TYPE_CHECKING:
    from ..density import Blame

_NUM_SHOWN = 3  # values in a sentence


def blamed(density: LogDensity, draws: Draws, seconds: float) -> dict[str, Blamed]:
    """Return, by kind of failure, the sites to blame for the first one after warm-up, and a sentence.

    Of warm-up, only what was not finite too often for a sound model is explained. A search that takes longer than
    `seconds` is left out.
    """
    found: dict[str, Blamed] = {}
    until = time.monotonic() + seconds
    for kind in KINDS:
        # A trajectory that diverged at a finite log density ended at a valid position.
        places = [each for each in draws.failures if each.kind == kind and not _is_mere_divergence(each)]
        counts = draws.counts[kind]
        is_often = kind != "divergence" and is_often_in_warmup(counts["warmup"], draws.tuning["num_warmup"])
        if places and (counts["sample"].any() or is_often):
            found[kind] = _looked_at(density, min(places, key=lambda each: each.phase != "sample"), until)
    return found


def sentence(density: LogDensity, failure: BadEnd, seconds: float) -> str:
    """Return the cause as a sentence with a leading space; empty if all values are finite.

    A search that takes longer than `seconds` is given up.
    """
    return _looked_at(density, failure, time.monotonic() + seconds)[1]


def _looked_at(density: LogDensity, failure: BadEnd, until: float) -> Blamed:
    """Return the sites to blame and a sentence at the end of a run, without a long wait and without raising."""
    from .cause import blame_at  # loads what only failures need

    pool = ThreadPool(1)
    look = pool.submit(blame_at, density, failure)
    pool.close()
    try:
        report = look.result(max(until - time.monotonic(), 0.0))
    except TimeoutError:
        return (), " Finding the cause takes more than a few seconds: run `infer.explain(draws)`."
    except Exception as error:  # an explanation of what went wrong must not cost the draws
        return (), f" The cause could not be found: {type(error).__name__}: {error}"
    return report.sites, _sentence(report)


def _is_mere_divergence(failure: BadEnd) -> bool:
    return failure.kind == "divergence" and np.isfinite(failure.log_density)


def _sentence(report: "Blame") -> str:
    if report.is_finite:
        return ""
    named = [name for name in report.sites if name in report.values] or list(report.values)
    with np.printoptions(precision=4, threshold=6, edgeitems=2):
        at = ", ".join(f"{name!r} = {report.values[name]}" for name in named[:_NUM_SHOWN])
    return f" For instance at {at}: {'; '.join(report.found())}. To fix it: {report.remedy}"
