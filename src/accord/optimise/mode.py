"""Hold a mode: its values, standard errors, and how it was found."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import OptionError, suggest
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..density import LogDensity
from ..report.digits import rounded
from ..report.table import lay_out, to_dataframe
from .laplace import Laplace, approximate

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 60  # printed
Z_OF_95 = 1.959963984540054
_TITLES = {"map": "Posterior mode (MAP)", "mle": "Maximum likelihood (MLE)"}
_HEIGHTS = {"map": "log density", "mle": "log likelihood"}


@entry_points
@dataclass(frozen=True, eq=False)
class Mode:
    """Mode or maximum found by `infer.find_mode`. Prints a table of coefficients; `mode["z"]` is a column.

    A standard error is the square root of the inverse of the observed information: of minus the second derivatives of
    `log_density` by the values of the latent sites. It is NaN if undefined, and `notes` explain why.

    **Fields**
    - `model`: its name. `estimator`: `"map"` or `"mle"`.
    - `values`: by latent site, in the model's space, read-only; `deterministics`: by deterministic site; for
      collapsed sites, their mean given the others.
    - `log_density`: log joint density at the mode in the model's space, without Jacobians; log likelihood for `"mle"`.
    - `labels`: label of each parameter, such as `theta[2]`; length k.
    - `columns`: column name to array of shape `(k,)`: estimate, standard_error, z (estimate by standard error), lower
      and upper (1.96 standard errors to each side, 95%, also where a support ends in between).
    - `notes`: for each parameter the reason for a missing standard error, or an empty string.
    - `covariance`: of the scalars, shape `(k, k)`; NaN in rows and columns without a standard error. None in more than
      1000 dimensions.
    - `position`: shape `(dim,)`, unconstrained. `position_covariance`: of that, shape `(dim, dim)`, likewise.
    - `is_converged`: whether no step could gain more.
    - `heights`: by start, shape `(starts,)`, the log density that it reached; NaN if it could not begin.
    - `num_reached`: how many starts reached this mode.
    - `notices`: warnings about the result.
    - `density`: of the model with its data; None in a mode that was pickled.

    **Example**

    >>> mode = infer.find_mode(coin(4, heads), "mle")
    >>> mode.labels, mode.num_reached
    (('p',), 8)
    >>> print(f"{mode.values['p']:.3f} +- {mode.standard_errors['p']:.3f}")
    0.750 +- 0.217
    """

    model: str
    estimator: str
    values: Mapping[str, np.ndarray]
    deterministics: Mapping[str, np.ndarray]
    log_density: float
    labels: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    notes: tuple[str, ...]
    covariance: np.ndarray | None
    position: np.ndarray
    position_covariance: np.ndarray | None
    is_converged: bool
    heights: np.ndarray
    num_reached: int
    notices: tuple[Notice, ...]
    density: LogDensity | None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "density": None}  # which may be of a function of no module

    def __copy__(self) -> "Mode":
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Mode":
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "density"}
        return replace(self, **copy.deepcopy(own, memo))

    @property
    def standard_errors(self) -> dict[str, np.ndarray]:
        """Standard errors by latent site, in its shape."""
        flat, found = self.columns["standard_error"], {}
        for name, value in self.values.items():
            found[name], flat = flat[: value.size].reshape(value.shape), flat[value.size :]
        return found

    @checks_options
    def laplace(self, *, draws: int = 1000, seed: int = 0) -> Laplace:
        """Draw from Laplace's approximation of the posterior: a normal over unconstrained numbers.

        It climbs from this mode to the maximum of the density in unconstrained space, which is another point: a normal
        fits best there, and it exists also for scales whose own mode is zero. The covariance is the inverse of minus
        the second derivatives there. Weights and a notice show how far it is from the posterior.

        **Arguments**: `draws`, >= 1; `seed`, in [0, 2**64).

        **Raises** `OptionError` for a maximum of a likelihood, which is no posterior, and for a pickled mode, which has
        no model; `SamplingError` if there is no such maximum, or if the density does not fall in some direction.

        **Source**: Tierney & Kadane (1986), J. Am. Stat. Assoc. 81, 82-86.
        """
        if self.estimator != "map":
            raise OptionError(
                'laplace approximates a posterior, and this is the maximum of a likelihood: find_mode(model, "map").'
            )
        if self.density is None:
            raise OptionError(
                "this mode was pickled, without its model. Call `infer.find_mode(model)` again."
            )
        return approximate(self.density, self.position, draws, seed)

    def __getitem__(self, column: str) -> np.ndarray:
        """Return one column, shape `(k,)`. Raises `OptionError` for an unknown name."""
        if column not in self.columns:
            raise OptionError(f"a mode has no column {column!r}.{suggest(column, self.columns)}")
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.labels)

    def to_dataframe(self) -> "DataFrame":
        """Return all rows as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        return to_dataframe(self.labels, self.columns)

    def __str__(self) -> str:
        rows = [self._row(index) for index in range(min(len(self), ROWS + 1))]
        rows += [[""]] * (len(self) - len(rows))
        head = ["", *self.columns]
        if any(self.notes):
            head, rows = [*head, "note"], [[*row, self.notes[i]] for i, row in enumerate(rows)]
        state = "" if self.is_converged else ", not converged"
        height = f"{_HEIGHTS[self.estimator]} {self.log_density + 0.0:.8g}"
        title = (
            f"{_TITLES[self.estimator]} of {self.model}: {height}, reached by {self.num_reached} of "
            f"{len(self.heights)} starts{state}"
        )
        return "\n".join([title, lay_out(head, rows, ROWS), *map(str, self.notices)])

    __repr__ = __str__

    def _row(self, index: int) -> list[str]:
        error = float(self.columns["standard_error"][index])
        cells = [self.labels[index]]
        for name, column in self.columns.items():
            value = float(column[index])
            if np.isnan(value):
                cells.append("-")
            else:
                cells.append(f"{value:+.2f}" if name == "z" else rounded(value, 0.01 * error))
        return cells
