"""Hold draws beside the true values of simulated data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OptionError, suggest
from ..core.notice import Notice
from ..core.tracebacks import entry_points
from ..mcmc.draws import Draws
from ..report.table import lay_out, to_dataframe
from ..vi.draws import GuideDraws
from .simulator import Values

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 60  # printed


@entry_points
@dataclass(frozen=True, eq=False)
class Recovery:
    """Result of `infer.simulate_and_recover`. Prints a table; `recovery["rank"]` is a column.

    **Fields**
    - `truth`: by latent site, the values that were drawn from the prior.
    - `data`: by observed site, the values that were drawn given them.
    - `draws`: of the posterior given these data, or from a guide that was fitted to it.
    - `labels`: label of each parameter, such as `theta[2]`; length k.
    - `values`: column name to array of shape `(k,)`: truth, mean, sd, 5%, 95%, rank (the share of draws below the
      truth, ties counting half), z (how many standard deviations the truth is above the mean; NaN without any).
    - `notices`: parameters that are far from their truth; `draws.notices` has the diagnostics of the run.

    **Example**

    >>> found = infer.simulate_and_recover(coin(4, heads), draws=200, chains=2, quiet=True)
    >>> list(found.to_dataframe().columns)
    ['truth', 'mean', 'sd', '5%', '95%', 'rank', 'z']
    """

    truth: Values
    data: Values
    draws: Draws | GuideDraws
    labels: tuple[str, ...]
    values: dict[str, np.ndarray]
    notices: tuple[Notice, ...]

    def __getitem__(self, column: str) -> np.ndarray:
        """Return one column, shape `(k,)`. Raises `OptionError` for an unknown name."""
        if column not in self.values:
            raise OptionError(f"a recovery has no column {column!r}.{suggest(column, self.values)}")
        return self.values[column]

    def __len__(self) -> int:
        return len(self.labels)

    def to_dataframe(self) -> "DataFrame":
        """Return all rows as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        return to_dataframe(self.labels, self.values)

    def __str__(self) -> str:
        rows = [
            [
                label,
                *(
                    _cell(name, float(column[i]), self.values["sd"][i])
                    for name, column in self.values.items()
                ),
            ]
            for i, label in enumerate(self.labels[: ROWS + 1])
        ]
        rows += [[""]] * (len(self) - len(rows))
        table = lay_out(["", *self.values], rows, ROWS)
        return "\n".join([table, *map(str, self.notices)])

    __repr__ = __str__


def _cell(column: str, value: float, sd: float) -> str:
    from ..report.digits import rounded

    if np.isnan(value):
        return "-"
    if column == "rank":
        return f"{value:.3f}"
    return f"{value:+.2f}" if column == "z" else rounded(value, 0.01 * sd)
