"""Estimate what it costs to split rows over devices, and when it pays."""

from collections.abc import Iterator

from ...core.notice import Notice
from .base import Context


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
