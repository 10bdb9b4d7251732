"""Plot the distribution function of observations over those of predictions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import DataError, OptionError, suggest
from ..report.figures.predicted import distribution_functions

if TYPE_CHECKING:
    from .results import AbstractOfDraws

_BANDS = ((0.9, "0.88"), (0.5, "0.72"))  # share of the predictions, and grey
_MAX_REPLICATES = 1000  # beyond, edges of the bands move by less than a line's width
_MAX_POINTS = 400


def plot(found: "AbstractOfDraws", predicted: tuple[str, ...], observed: Mapping[str, Any] | None) -> Any:
    """See `Predictions.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot needs matplotlib. Install it with: pip install 'accord[plot]'") from error
    sites = [name for name in found if name in predicted and found[name].size]
    if not sites:
        raise OptionError(
            "there are no predicted observations to plot: `sites=` left them out, or they are empty."
        )
    for name in observed or {}:
        if name not in sites:
            raise OptionError(
                f"plot: {name!r} is not predicted.{suggest(name, sites)} There are: {', '.join(sites)}."
            )
    seen = {**found.observed, **(observed or {})}
    figure = Figure(figsize=(5.0 * len(sites), 4.0), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(sites), squeeze=False)[0], sites, strict=True):
        _draw(axes, name, found[name], seen.get(name))
    figure.suptitle(found.model)
    return figure


def _draw(axes: Any, name: str, array: np.ndarray, seen: Any) -> None:
    every = array.reshape(array.shape[0] * array.shape[1], -1)
    some = every[np.linspace(0, len(every) - 1, min(len(every), _MAX_REPLICATES)).astype(int)]
    data = None if seen is None else _data(name, seen, array.shape[2:])
    if data is not None:
        some = some[:, data[1]]  # of missing entries nothing is known
    points = _points(some, None if data is None else data[0])
    replicated = distribution_functions(some, points)
    step = "post" if array.dtype.kind in "iub" else None
    for share, grey in _BANDS:
        low, high = np.quantile(replicated, [(1 - share) / 2, (1 + share) / 2], axis=0)
        axes.fill_between(
            points, low, high, color=grey, linewidth=0, step=step, label=f"{share:.0%} of predictions"
        )
    if data is not None:
        share = distribution_functions(data[0][None], points)[0]
        axes.plot(points, share, color="black", drawstyle="steps-post", linewidth=1.2, label="observed")
    axes.set_xlabel(name)
    axes.set_ylabel("share of values up to it")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False, fontsize="small", loc="lower right")


def _data(name: str, seen: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the observations, and the indices of entries that are not missing."""
    values = np.asarray(seen, float)
    if values.shape != shape:
        raise DataError(
            f"plot: {name!r} was observed with shape {values.shape}, and is predicted with shape {shape}. Predict "
            "at the data of the observations."
        )
    entries = np.flatnonzero(np.isfinite(values.ravel()))
    if not len(entries):
        raise DataError(f"plot: every observed value of {name!r} is missing.")
    return values.ravel()[entries], entries


def _points(some: np.ndarray, data: np.ndarray | None) -> np.ndarray:
    """Return the points to draw the functions at: observations, and quantiles of predictions."""
    finite = some[np.isfinite(some)]
    pooled = np.unique(np.quantile(finite, np.linspace(0.0005, 0.9995, _MAX_POINTS // 2), method="nearest"))
    if data is None:
        return pooled
    at = np.unique(data)
    return np.unique(
        np.concatenate([pooled, at[np.linspace(0, len(at) - 1, min(len(at), _MAX_POINTS // 2)).astype(int)]])
    )
