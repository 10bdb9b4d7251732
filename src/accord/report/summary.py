"""Tabulate a posterior: one row per scalar, no more digits than the draws support."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OptionError, suggest
from ..core.series import as_series
from ..core.tracebacks import entry_points
from .arviz import judge
from .diagnostics import mcse_sd
from .labels import Coords, Dims, Sites, scalar_labels
from .sketch import BLOCKS, sketch, terminal_ramp

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 60  # printed unless more are asked for: a screen or two
_TOGETHER = 2**23  # numbers that are read and judged at a time


@entry_points
@dataclass(frozen=True, eq=False)
class Summary:
    """The marginals of a posterior as a table. Prints itself; `summary["mean"]` is a column.

    **Fields**
    - `labels`: of each scalar, such as `theta[Choate]`; length k.
    - `values`: column name to array of shape `(k,)`: mean, sd, 5%, 50%, 95%, ess_bulk, ess_tail, r_hat,
      mcse_mean, mcse_sd. From 64 chains on `r_hat` is the nested one. NaN where the draws cannot tell, as the R-hat of
      one chain.
    - `sketches`: one line of text per scalar, the shape of its distribution.

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

    def __getitem__(self, column: str) -> np.ndarray:
        """One column, shape `(k,)`. Raises `OptionError` for a name that is none."""
        if column not in self.values:
            raise OptionError(f"a summary has no column {column!r}.{suggest(column, self.values)}")
        return self.values[column]

    def __len__(self) -> int:
        return len(self.labels)

    def to_dataframe(self) -> "DataFrame":
        """Every row as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_dataframe needs pandas. Install it with: pip install pandas") from error
        return pandas.DataFrame(self.values, index=pandas.Index(self.labels, name="scalar"))

    def text(self, rows: int | None = ROWS, ramp: str = BLOCKS) -> str:
        """The table as plain text, its first `rows` rows, or all for None; `ramp` draws the sketches."""
        cells, left_out = self._cells(rows)
        plain = str.maketrans(BLOCKS, ramp)
        lines = [_line(row, widths) for widths in [_widths(cells)] for row in cells]
        lines = [lines[0]] + [line.translate(plain) if ramp != BLOCKS else line for line in lines[1:]]
        return "\n".join([*lines, left_out] if left_out else lines)

    def __str__(self) -> str:
        return self.text(ramp=terminal_ramp())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        cells, left_out = self._cells(ROWS)
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in cells[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells[1:]
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"{table}<p>{html.escape(left_out)}</p>"

    def _cells(self, rows: int | None) -> tuple[list[list[str]], str]:
        """The head and the rows as text, and a sentence on the rows that are not among them."""
        count = len(self) if rows is None else min(rows, len(self))
        cells = [["", *self.values, "shape"]]
        for index in range(count):
            row = {name: float(column[index]) for name, column in self.values.items()}
            cells.append([self.labels[index], *_formatted(row), self.sketches[index]])
        more = len(self) - count
        left_out = (
            f"... and {more} more rows: `.to_dataframe()` has them all, `.text(rows=None)` prints them."
            if more
            else ""
        )
        return cells, left_out


def summarise(
    sites: Sites,
    *,
    dims: Dims | None = None,
    coords: Coords | None = None,
    only: Sequence[str] | None = None,
    superchains: Sequence[int] | None = None,
) -> Summary:
    """Tabulate the draws of every site, or of those named in `only`.

    - `sites`: site to draws, shape `(chain, draw, *event)`; reals, integers or booleans.
    - `dims`, `coords`: names of a site's leading event axes, and the labels along a dim.
    - `superchains`: that of each chain, where several began at one place.

    Raises `OptionError` for a name in `only` that is no site.
    """
    for name in only or ():
        if name not in sites:
            raise OptionError(f"there is no site {name!r} among the draws.{suggest(name, sites)}")
    labels: list[str] = []
    sketches: list[str] = []
    parts: list[dict[str, np.ndarray]] = []
    series = as_series(sites)
    for name in series if only is None else only:
        num_chains, num_draws, *shape = series.shape(name)
        labels.extend(scalar_labels(name, shape, (dims or {}).get(name, ()), coords))
        step = max(_TOGETHER // max(num_chains * num_draws, 1), 1)
        scalars = np.arange(series.width(name))
        for some in np.split(scalars, range(step, len(scalars), step)):
            draws = series.columns(name, some)
            sketches.extend(sketch(draws[:, :, index]) for index in range(draws.shape[2]))
            parts.append(_columns(draws, superchains))
    empty = np.zeros(0)
    values = {column: np.concatenate([part[column] for part in parts] or [empty]) for column in _COLUMNS}
    return Summary(tuple(labels), values, tuple(sketches))


def _columns(draws: np.ndarray, superchains: Sequence[int] | None) -> dict[str, np.ndarray]:
    """Every column for draws of shape `(chain, draw, k)`."""
    pooled = draws.reshape(-1, draws.shape[2]) if draws.size else np.zeros((0, draws.shape[2]))
    pooled = pooled.astype(np.float64)
    nothing = np.full(draws.shape[2], np.nan)
    # A draw that is not finite makes its own row so, and a notice tells of it.
    with np.errstate(invalid="ignore", over="ignore"):
        mean = pooled.mean(axis=0) if len(pooled) else nothing
        sd = pooled.std(axis=0, ddof=1) if len(pooled) > 1 else nothing
        quantiles = np.quantile(pooled, (0.05, 0.5, 0.95), axis=0) if len(pooled) else [nothing] * 3
    marginals = {"mean": mean, "sd": sd, **dict(zip(("5%", "50%", "95%"), quantiles, strict=True))}
    # arviz-stats 0.8 takes the error of the sd from the ESS of the draws; ours is that of squared deviations.
    return marginals | judge(draws, superchains) | {"mcse_sd": mcse_sd(draws)}


_COLUMNS = ("mean", "sd", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd")


def _formatted(row: dict[str, float]) -> list[str]:
    """Round each number to the first digit that its Monte Carlo error leaves in doubt."""
    error_mean, error_sd = row["mcse_mean"], row["mcse_sd"]
    errors = {"mean": error_mean, "sd": error_sd}
    # A quantile is known less well than the mean; the larger of the two errors is near enough for a digit.
    errors.update(dict.fromkeys(("5%", "50%", "95%"), np.fmax(error_mean, error_sd)))
    cells: list[str] = []
    for name, value in row.items():
        if np.isnan(value):
            cells.append("-")
        elif name.startswith("ess"):
            cells.append(f"{value:.0f}")
        elif name.startswith("mcse"):
            cells.append(f"{value:.2g}")
        elif name == "r_hat":
            cells.append(f"{value:.3f}" if value < 1000 else f"{value:.3g}")
        else:
            cells.append(rounded(value, errors[name]))
    return cells


def rounded(value: float, error: float) -> str:
    """Write a number to the place of the first digit of its error; to three digits without one."""
    if not np.isfinite(value):
        return str(value)
    place = np.floor(np.log10(error)) if np.isfinite(error) and error > 0 else None
    size = np.floor(np.log10(abs(value))) if value else (place if place is not None else 0.0)
    if place is None:
        place = size - 2
    if size >= 7 or (size < -4 and value):
        return f"{value:.{int(np.clip(size - place, 0, 9))}e}"
    return f"{value:.{int(np.clip(-place, 0, 12))}f}"


def _widths(cells: list[list[str]]) -> list[int]:
    return [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]


def _line(row: list[str], widths: list[int]) -> str:
    """Labels and sketches to the left, numbers to the right."""
    middle = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *middle, row[-1].ljust(widths[-1])]).rstrip()
