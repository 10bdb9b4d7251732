"""Estimate how long a run with the defaults takes."""

import inspect
import os
from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..sample import DEFAULT_WARMUP, sample
from .base import Context

_FEW, _MANY = 10, 100  # gradients a draw
_CALL = 5e-5  # seconds that a call of a program takes from outside, which a run does not spend


def check_duration(context: Context) -> Iterator[Notice]:
    """Time one gradient; how many a draw takes is known only when the sampler has been tuned."""
    evaluator = context.whole if context.summed is None else context.summed
    seconds = evaluator.seconds(context.points[0])
    inside = max(seconds - _CALL, 1e-6)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    defaults = {name: each.default for name, each in inspect.signature(sample).parameters.items()}
    draws, chains = defaults["draws"], defaults["chains"]
    at_once = 1 if context.summed is not None else min(chains, cores)
    num_draws = (draws + DEFAULT_WARMUP) * int(np.ceil(chains / at_once))
    few, many = (_in_words(count * num_draws * inside) for count in (_FEW, _MANY))
    yield Notice(
        "info",
        "cost",
        f"One gradient takes about {_in_words(inside)}. A run with the defaults ({chains} chains of {DEFAULT_WARMUP} + "
        f"{draws} draws, {at_once} at a time) takes {few} to {many} beside compiling, if a draw takes {_FEW} to "
        f"{_MANY} gradients, which is not known before.",
        "",
    )


def _in_words(seconds: float) -> str:
    for size, word in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (0.0, "us")):
        if seconds >= size:
            return f"{float(f'{seconds / (size or 1e-6):.2g}'):g} {word}"
    raise AssertionError
