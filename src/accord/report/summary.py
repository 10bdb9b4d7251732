"""Tabulate a posterior: one row per parameter, no more digits than the draws support."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OptionError, suggest
from ..core.series import as_series
from ..core.tracebacks import entry_points
from .digits import formatted
from .labels import Coords, Dims, Sites, scalar_labels
from .marginals import marginals
from .markup import table_as_html
from .selecting import columns_of, picked_names
from .sketch import BLOCKS, terminal_ramp
from .table import to_dataframe

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 60  # printed unless more are asked for: a screen or two
ERRORS = ("mcse_mean", "mcse_sd")


@entry_points
@dataclass(frozen=True, eq=False)
class Summary:
    """Table of marginal posterior summaries: one row per parameter; `summary["mean"]` is a column.

    **Fields**
    - `labels`: label of each parameter, such as `theta[Choate]`; length k.
    - `values`: column name to array of shape `(k,)`: mean, sd, 5%, 50%, 95%, ess_bulk, ess_tail, r_hat,
      mcse_mean, mcse_sd, or the columns you asked for. `ess_tail` always judges the 5% and 95% quantiles. From 64
      chains on, `r_hat` is nested R-hat. NaN if a value is undefined, as R-hat of one chain. `mcse_sd` uses the
      effective sample size of the squared deviations from the mean, as R's posterior package does; ArviZ uses that of
      the draws, which is too large for antithetic chains.
    - `sketches`: one line of text per parameter, the shape of its distribution.
    - `errors`: Monte Carlo errors of mean and sd, shape `(k,)`; printed numbers are rounded by them.

    **Example**

    >>> table = draws.summary()
    >>> table["mean"].shape, len(table)  # one entry for each scalar
    ((18,), 18)
    >>> table.to_dataframe().loc["mu", ["mean", "r_hat"]].shape
    (2,)
    """

    labels: tuple[str, ...]
    values: dict[str, np.ndarray]
    sketches: tuple[str, ...]
    errors: dict[str, np.ndarray]

    def __getitem__(self, column: str) -> np.ndarray:
        """Return one column, shape `(k,)`. Raises `OptionError` for an unknown name."""
        if column not in self.values:
            raise OptionError(f"a summary has no column {column!r}.{suggest(column, self.values)}")
        return self.values[column]

    def __len__(self) -> int:
        return len(self.labels)

    def to_dataframe(self) -> "DataFrame":
        """Return all rows as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        return to_dataframe(self.labels, self.values)

    def text(self, rows: int | None = ROWS, ramp: str = BLOCKS) -> str:
        """Return the first `rows` rows as plain text, all for None; `ramp` has the characters of the sketches."""
        cells, left_out = self._cells(rows)
        plain = str.maketrans(BLOCKS, ramp)
        lines = [_line(row, widths) for widths in [_widths(cells)] for row in cells]
        lines = [lines[0]] + [line.translate(plain) if ramp != BLOCKS else line for line in lines[1:]]
        return "\n".join([*lines, left_out] if left_out else lines)

    def __str__(self) -> str:
        return self.text(ramp=terminal_ramp())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        cells, left_out = self._cells(ROWS)
        return table_as_html(cells, left_out)

    def cells(self, rows: int) -> list[list[str]]:
        """Return the head and the first rows as text, with labels."""
        return self._cells(rows)[0]

    def _cells(self, rows: int | None) -> tuple[list[list[str]], str]:
        """Return the head and the rows as text, and a sentence about omitted rows."""
        count = len(self) if rows is None else min(rows, len(self))
        cells = [["", *self.values, "shape"]]
        for index in range(count):
            row = {name: float(column[index]) for name, column in self.values.items()}
            errors = {name: float(column[index]) for name, column in self.errors.items()}
            cells.append([self.labels[index], *formatted(row, errors), self.sketches[index]])
        more = len(self) - count
        left_out = (
            f"... and {more} more row{'s' * (more > 1)}: `.to_dataframe()` has them all, "
            "`.text(rows=None)` prints them."
            if more
            else ""
        )
        return cells, left_out


def summarise(
    sites: Sites,
    *,
    dims: Dims | None = None,
    coords: Coords | None = None,
    only: str | Sequence[str] | None = None,
    prob: float = 0.9,
    kind: str = "all",
    interval: str = "quantiles",
    superchains: Sequence[int] | None = None,
    most: int | None = None,
    most_read: int = 2**23,
) -> Summary:
    """Tabulate the draws of every site, or of the sites in `only`.

    - `sites`: site to draws, shape `(chain, draw, *event)`; reals, integers or booleans.
    - `dims`, `coords`: names of a site's leading event axes, and the labels along a dim.
    - `only`: names or patterns, as `picked_names` takes them.
    - `prob`, `kind`, `interval`: which columns, as `columns_of` takes them.
    - `superchains`: superchain of each chain, if several chains share a starting point.
    - `most`: make only this many rows; None is all.
    - `most_read`: how many numbers to read and judge at a time, unless one scalar has more.

    Raises `OptionError` for a name in `only` that is no site, and for an unknown column.
    """
    columns = columns_of(prob, kind, interval)
    labels: list[str] = []
    sketches: list[str] = []
    parts: list[dict[str, np.ndarray]] = []
    errors: list[dict[str, np.ndarray]] = []
    series = as_series(sites)
    for name in picked_names(only, series):
        num_chains, num_draws, *shape = series.shape(name)
        count = series.width(name) if most is None else min(series.width(name), most - len(labels))
        labels.extend(scalar_labels(name, shape, (dims or {}).get(name, ()), coords)[:count])
        step = max(most_read // max(num_chains * num_draws, 1), 1)
        scalars = np.arange(count)
        for some in np.split(scalars, range(step, len(scalars), step)):
            found = marginals(
                series.columns(name, some),
                columns.probabilities,
                columns.mass,
                superchains,
            )
            sketches.extend(found.sketches)
            parts.append(columns.of(found))
            errors.append({name: found.diagnostics[name] for name in ERRORS})
    empty = np.zeros(0)

    def joined(parts: list[dict[str, np.ndarray]], names: Sequence[str]) -> dict[str, np.ndarray]:
        found = {name: np.concatenate([part[name] for part in parts] or [empty]) for name in names}
        for column in found.values():
            column.flags.writeable = False  # since draws keep their summaries
        return found

    return Summary(tuple(labels), joined(parts, columns.names), tuple(sketches), joined(errors, ERRORS))


def _widths(cells: list[list[str]]) -> list[int]:
    return [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]


def _line(row: list[str], widths: list[int]) -> str:
    """Align labels and sketches left, numbers right."""
    middle = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *middle, row[-1].ljust(widths[-1])]).rstrip()
