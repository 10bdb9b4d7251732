"""Convert draws to a wide data frame: one row per draw, one column per parameter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OptionError
from ..core.series import AbstractSeries
from .labels import Coords, Dims, scalar_labels

if TYPE_CHECKING:
    from pandas import DataFrame


def wide_frame(
    sites: AbstractSeries,
    names: Sequence[str],
    *,
    chains: Sequence[int],
    num_draws: int,
    dims: Dims,
    coords: Coords,
    stats: AbstractSeries | None = None,
) -> "DataFrame":
    """Build a data frame of the draws of some sites, and of their statistics if given.

    - `names`: of the sites, whose columns are labelled as rows of a summary are. `chains`: their numbers.

    Raises `ImportError` without pandas; `OptionError` if two columns, or a column and a statistic, share a name.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas. Install it with: pip install pandas") from error
    columns: dict[str, np.ndarray] = {}
    for name in names:
        values = sites[name]
        table = values.reshape(len(chains) * num_draws, -1)
        labels = scalar_labels(name, values.shape[2:], dims.get(name, ()), coords)
        for index, label in enumerate(labels):
            if label in columns:
                raise OptionError(
                    f"to_dataframe: two columns would be called {label!r}. Give the model labels that tell them apart, "
                    "such as without commas, or take one site at a time, by sites=."
                )
            columns[label] = table[:, index]
    if stats is not None:
        for name in stats:
            if name in columns:
                raise OptionError(
                    f"to_dataframe: {name!r} is both a site and a statistic. Leave one out, by sites= or stats=False."
                )
            columns[name] = stats[name].reshape(-1)
    index = pandas.MultiIndex.from_product([list(chains), range(num_draws)], names=["chain", "draw"])
    return pandas.DataFrame(columns, index=index)
