"""Show the marginal distribution of an unknown, by histograms."""

from collections.abc import Sequence

import numpy as np

from .chains import edges_of, finite, has_lines, heights_of, left_out, legend, span_in_words
from .marks import INK, Axis, Bars, Line, Mark, Panel, Rule

_MOST_TICKS = 8


def density(draws: np.ndarray, label: str, chains: Sequence[int]) -> Panel:
    """Draw a histogram of all chains, with the outline of each; dashed at the 5%, 50% and 95% quantiles.

    The outermost bins hold what lies beyond them. `draws` has shape `(chain, draw)`; whole numbers have a bar each.
    """
    is_whole = np.asarray(draws).dtype.kind in "iub"
    values = finite(draws)
    edges = edges_of(values, is_whole=is_whole)
    pooled = heights_of(values, edges)
    own = [heights_of(finite(row), edges) for row in draws] if has_lines(len(draws)) else []
    marks: list[Mark] = [Bars(edges[:-1], edges[1:], np.zeros(len(pooled)), pooled, INK, 0.16)]
    if len(draws) > 1:
        marks += [
            Line(edges, np.append(row, row[-1]), colour, 1.0, is_steps=True) for colour, row in enumerate(own)
        ]
    if values.size:
        marks += [Rule(float(at), is_vertical=True) for at in np.quantile(values, (0.05, 0.5, 0.95))]
    top = max([float(each.max(initial=0)) for each in (pooled, *own)] or [0.0]) or 1.0
    return Panel(
        f"Distribution of {label}",
        tuple(marks),
        Axis(label, float(edges[0]), float(edges[-1]), _whole_ticks(edges) if is_whole else None),
        Axis("density", 0, 1.12 * top),
        f"Histogram of {label}: {span_in_words(values)}.{left_out(draws)}",
        legend(chains),
    )


def _whole_ticks(edges: np.ndarray) -> tuple[tuple[float, str], ...] | None:
    """Return a tick for each of a few whole numbers; None where round numbers among many do."""
    if edges[-1] - edges[0] > _MOST_TICKS:
        return None
    return tuple((float(each), f"{each:.0f}") for each in np.arange(np.ceil(edges[0]), edges[-1]))


def prior_posterior(prior: np.ndarray, posterior: np.ndarray, label: str) -> Panel:
    """Draw histograms of draws from the prior and from the posterior, of any shape, over what both have in common.

    The axis holds the posterior, and of the prior the central 90%, if that is not more than ten times as wide.
    """
    is_whole = np.asarray(posterior).dtype.kind in "iub"
    before, after = finite(prior), finite(posterior)
    edges = edges_of(after, is_whole=is_whole)
    if before.size and after.size and not is_whole:
        low, high = (float(each) for each in np.quantile(before, (0.05, 0.95)))
        reach = 10 * float(edges[-1] - edges[0])
        low, high = max(low, float(edges[0]) - reach), min(high, float(edges[-1]) + reach)
        edges = np.linspace(min(low, float(edges[0])), max(high, float(edges[-1])), 81)
    inside = before[(before >= edges[0]) & (before <= edges[-1])]
    share = inside.size / max(before.size, 1)
    heights = heights_of(inside, edges) * share, heights_of(after, edges)
    marks: list[Mark] = [
        Bars(edges[:-1], edges[1:], np.zeros(len(each)), each, colour, 0.25 if colour == INK else 0.5)
        for colour, each in ((INK, heights[0]), (0, heights[1]))
    ]
    spreads = [float(np.std(each)) if each.size else np.nan for each in (before, after)]
    ratio = f"{100 * spreads[1] / spreads[0]:.0f}%" if spreads[0] > 0 else "an unknown share"
    return Panel(
        f"Prior and posterior of {label}",
        tuple(marks),
        Axis(label, float(edges[0]), float(edges[-1])),
        Axis("density", 0, 1.12 * (max(float(each.max(initial=0)) for each in heights) or 1.0)),
        f"Prior and posterior of {label}: the standard deviation of the posterior is {ratio} of that of the prior.",
        ((INK, "prior"), (0, "posterior")),
    )
