"""Estimate how long a run with the defaults takes."""

import os
from collections.abc import Iterator

import numpy as np

from ...core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS, DEFAULT_WARMUP
from ...core.notice import Notice
from .base import Context

_FEW, _MANY = 10, 100  # gradients a draw
_CALL = 5e-5  # seconds that a call of a program takes from outside, which a run does not spend


def check_duration(context: Context) -> Iterator[Notice]:
    """Time one gradient; how many a draw takes is known only when the sampler has been tuned."""
    evaluator = context.whole if context.summed is None else context.summed
    seconds = evaluator.seconds(context.points[0])
    inside = max(seconds - _CALL, 1e-6)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    at_once = 1 if context.summed is not None else min(DEFAULT_CHAINS, cores)
    num_draws = (DEFAULT_DRAWS + DEFAULT_WARMUP) * int(np.ceil(DEFAULT_CHAINS / at_once))
    few, many = (_in_words(count * num_draws * inside) for count in (_FEW, _MANY))
    yield Notice(
        "info",
        "cost",
        f"One gradient takes about {_in_words(inside)}. A run with the defaults ({DEFAULT_CHAINS} chains of "
        f"{DEFAULT_WARMUP} + {DEFAULT_DRAWS} draws, {at_once} at a time) takes {few} to {many} beside compiling, if a "
        f"draw takes {_FEW} to {_MANY} gradients, which is not known before.",
        "",
    )


def _in_words(seconds: float) -> str:
    for size, word in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (0.0, "us")):
        if seconds >= size:
            return f"{float(f'{seconds / (size or 1e-6):.2g}'):g} {word}"
    raise AssertionError


def check_cost(context: Context) -> Iterator[Notice]:
    """Time one evaluation with its gradient, in one place and summed over blocks."""
    if context.summed is None or (context.is_chunked and len(context.summed.devices) == 1):
        return
    position = context.points[0]
    whole, summed = context.whole.seconds(position), context.summed.seconds(position)
    count = len(context.summed.devices)
    where = f"{count} devices" if count > 1 else "one device in blocks"
    message = (
        f"One evaluation with its gradient takes {_ms(whole)} in one place and {_ms(summed)} on {where}."
    )
    if summed < whole:
        yield Notice("info", "parallel_pays", message, "")
        return
    if count == 1:
        remedy = "Blocks pay on several devices, or if the whole does not fit into memory."
    else:
        overhead = summed - whole / count
        least = overhead / (1 - 1 / count)
        rows = float(f"{context.num_rows * least / whole:.1g}")
        remedy = (
            f"Devices do not pay below about {_ms(least)} for an evaluation in one place, or {rows:,.0f} rows of this "
            "kind: run chains side by side instead, by `infer.Threads()`."
        )
    yield Notice("warning", "parallel_does_not_pay", message, remedy)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms"
