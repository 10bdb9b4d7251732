"""Tabulate a fit: what the guide says, and two corrections."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OptionError, suggest
from ..core.precision import scope
from ..core.tracebacks import entry_points
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..optimise.surface import in_batches
from ..report.labels import scalar_labels
from ..report.table import lay_out, to_dataframe
from ..report.weights import smoothed
from .evaluate import NUM_DRAWS, Fitted
from .linear_response import linear_response

if TYPE_CHECKING:
    from pandas import DataFrame

    from .result import Fit

_ROWS = 60  # printed
_GOOD = 0.7  # Pareto k, up to which weighted moments are shown


@entry_points
@dataclass(frozen=True, eq=False)
class FitSummary:
    """Table of a fit: one row per latent scalar; `summary["mean"]` is a column.

    **Fields**
    - `labels`: label of each scalar, such as `theta[2]`; length k.
    - `columns`: column name to array of shape `(k,)`: `mean` and `sd` under the guide, by 1000 draws
      or of all particles; `sd_lr`, by
      linear response; `mean_psis` and `sd_psis`, weighted; NaN where they are not known.
    - `title`: what is shown above.

    **Example**

    >>> list(infer.fit(coin(4, heads), quiet=True).summary().columns)
    ['mean', 'sd', 'sd_lr', 'mean_psis', 'sd_psis']
    """

    labels: tuple[str, ...]
    columns: dict[str, np.ndarray]
    title: str

    def __getitem__(self, column: str) -> np.ndarray:
        """Return one column, shape `(k,)`. Raises `OptionError` for an unknown name."""
        if column not in self.columns:
            raise OptionError(f"a summary of a fit has no column {column!r}.{suggest(column, self.columns)}")
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.labels)

    def to_dataframe(self) -> "DataFrame":
        """Return all rows as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        return to_dataframe(self.labels, self.columns)

    def __str__(self) -> str:
        known = [name for name, column in self.columns.items() if np.isfinite(column).any()]
        rows = [
            [label, *(_shown(float(self.columns[name][place])) for name in known)]
            for place, label in enumerate(self.labels)
        ]
        return "\n".join([self.title, lay_out(["", *known], rows, _ROWS)])

    __repr__ = __str__


def summarise(fit: "Fit", density: LogDensity, fitted: Fitted) -> FitSummary:
    """Make the table of a fit, from the draws that judged it."""
    names = [entry.name for entry in density.layout.unknowns]

    def looks(density: LogDensity, positions: object) -> object:
        import jax

        return jax.lax.map(lambda at: (density.program.means(at, density.data), density(at)), positions)

    seed: int = fit.manifest["seed"]
    response = None
    with scope(density.program.precision), one_blas_thread():
        count = fitted.guide.num_points or (1 if fitted.guide.is_point else NUM_DRAWS)
        positions, log_q = fitted.draw(density, count, seed, fit.best)
        sites, log_p = in_batches(density, looks)(positions)
        if fit.objective.is_fixed and fitted.guide.is_factorised:
            response = linear_response(density, fitted, fit.objective, seed, fit.best)
    flat = np.concatenate([sites[name].reshape(count, -1) for name in names], axis=1).astype(float)
    unknown = np.full(flat.shape[1], np.nan)
    mean_psis = sd_psis = unknown
    if not fitted.guide.is_point and fit.pareto_k < _GOOD:
        weights = np.exp(smoothed(np.where(np.isnan(log_p), -np.inf, log_p) - log_q)[0])
        counted = np.where(
            weights[:, None] > 0, flat, 0
        )  # an impossible draw has weight zero, whatever its values
        mean_psis = weights @ counted
        sd_psis = np.sqrt(weights @ (counted - mean_psis) ** 2)
    labels = [
        label
        for entry in density.layout.unknowns
        for label in scalar_labels(entry.name, entry.shape, entry.dims, density.layout.coords)
    ]
    return FitSummary(
        tuple(labels),
        {
            "mean": flat.mean(axis=0),
            "sd": unknown if fitted.guide.is_point else flat.std(axis=0),
            "sd_lr": unknown if response is None else response,
            "mean_psis": mean_psis,
            "sd_psis": sd_psis,
        },
        repr(fit)[1:-1],
    )


def _shown(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3g}"
