"""Choose the unknowns that a report shows: all, or the worst of as many as can be judged in seconds."""

from collections.abc import Sequence

import numpy as np

from ...core.series import AbstractSeries
from ..digits import formatted
from ..evidence import BUDGET, quotas
from ..figures.by_draws import ENOUGH_ESS, ENOUGH_R_HAT
from ..labels import Coords, Dims, scalar_labels
from ..marginals import DIAGNOSTICS, marginals
from .base import Table

ROWS = 200
_PROBABILITIES = {"5%": 0.05, "50%": 0.5, "95%": 0.95}
_READ = 2**23  # numbers read and judged at a time


def table_of(
    sites: AbstractSeries,
    *,
    dims: Dims,
    coords: Coords,
    superchains: Sequence[int] | None = None,
    only: Sequence[str] | None = None,
) -> tuple[Table, tuple[tuple[str, int], ...]]:
    """Tabulate unknowns; return the table, and site and number of the scalar of each row, the worst first.

    - `sites`: site to draws, shape `(chain, draw, *event)`. `only`: names of those to tabulate; None is all.

    Up to 200 unknowns are all there, in the model's order. Of more, the worst 200 are: of all, or of an even part of
    each site where all are more than 2^24 numbers.
    """
    widths = {name: sites.width(name) for name in (sites if only is None else only)}
    sizes = [sites.shape(name)[:2] for name in widths]
    size = int(np.prod(sizes[0])) if sizes else 0
    total = sum(widths.values())
    judged = min(total, max(len(widths), BUDGET // max(size, 1)))
    places: list[tuple[str, int]] = []
    parts: list[dict[str, np.ndarray]] = []
    sketches: list[str] = []
    for name, quota in quotas(widths, judged).items():
        scalars = np.linspace(0, widths[name] - 1, quota).round().astype(int)
        step = max(_READ // max(size, 1), 1)
        for some in np.split(scalars, range(step, quota, step)):
            found = marginals(sites.columns(name, some), tuple(_PROBABILITIES.values()), None, superchains)
            columns = {"mean": found.mean, "sd": found.sd}
            columns |= dict(zip(_PROBABILITIES, found.quantiles, strict=True))
            parts.append(columns | dict(found.diagnostics))
            sketches += list(found.sketches)
            places += [(name, int(scalar)) for scalar in some]
    names = ("mean", "sd", *_PROBABILITIES, *DIAGNOSTICS)
    values = {name: np.concatenate([part[name] for part in parts] or [np.zeros(0)]) for name in names}
    order = np.argsort(-_badness(values), kind="stable")
    kept = np.sort(order[:ROWS]) if len(places) <= ROWS else order[:ROWS]
    columns = {name: values[name][kept] for name in names}
    labels = _labels(sites, [places[row] for row in kept], dims, coords)
    cells = [
        tuple(
            formatted(
                {name: float(columns[name][row]) for name in names},
                {name: float(columns[name][row]) for name in ("mcse_mean", "mcse_sd")},
            )
        )
        for row in range(len(kept))
    ]
    table = Table(
        tuple(labels),
        tuple(places[row][0] for row in kept),
        columns,
        tuple(cells),
        tuple(sketches[row] for row in kept),
        total,
        len(places),
        f"the worst {len(kept)}",
    )
    return table, tuple(places[row] for row in order[:ROWS])


def _badness(values: dict[str, np.ndarray]) -> np.ndarray:
    """Return how far each unknown is from where rules are silent: infinite if not finite, zero if constant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ess = ENOUGH_ESS / np.minimum(values["ess_bulk"], values["ess_tail"])
        apart = (values["r_hat"] - 1) / (ENOUGH_R_HAT - 1)
    found = np.fmax(np.nan_to_num(ess, nan=0.0, posinf=1e9), np.nan_to_num(apart, nan=0.0, posinf=1e9))
    return np.where(np.isfinite(values["mean"]) & np.isfinite(values["sd"]), found, np.inf)


def _labels(
    sites: AbstractSeries, places: Sequence[tuple[str, int]], dims: Dims, coords: Coords
) -> list[str]:
    known: dict[str, list[str]] = {}
    for name, _ in places:
        if name not in known:
            known[name] = scalar_labels(name, sites.shape(name)[2:], dims.get(name, ()), coords)
    return [known[name][scalar] for name, scalar in places]
