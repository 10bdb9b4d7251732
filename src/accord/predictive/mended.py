"""Mend leave-one-out estimates of observations whose importance weights are too uneven, by moving draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import OptionError
from ..mcmc.draws import Draws
from .moment_match import Both, match
from .source import Source
from .unconstrained import density_of_free, over_rows, positions_of


@dataclass(frozen=True)
class Mended:
    """Estimates of some observations. **Fields**: `which`, their flat numbers; `elpd` and `pareto_k` of each."""

    which: np.ndarray
    elpd: np.ndarray
    pareto_k: np.ndarray


def check_movable(draws: Draws) -> None:
    """Raise `OptionError` for a run whose draws cannot be moved: without model, or with more than free numbers."""
    density = density_of_free("infer.loo", draws)
    collapsed = density.layout.collapsed
    if collapsed:
        raise OptionError(
            f"infer.loo: moment_match moves free numbers, and site {collapsed[0]!r} is summed or integrated out and "
            "drawn given these. Leave moment_match out; infer.kfold(draws) samples again for each fold."
        )


def mended(draws: Draws, site: str, entries: np.ndarray, which: np.ndarray, relative_ess: float) -> Mended:
    """Estimate some observations again by moment matching.

    **Arguments**: `entries`, the place in the whole batch of each observation that counts; `which` of these to mend.
    """
    density = density_of_free("infer.loo", draws)
    precision = density.program.precision
    model = Source.of("log_likelihood", draws, None).trace("log_likelihood", draws_others=False)
    positions = positions_of("infer.loo", draws, density)
    positions = positions.reshape(-1, positions.shape[-1])
    dtype = positions.dtype

    def one(both: Both, row: dict[str, Any]) -> Any:
        values = both.density.constrain(row["position"])
        found, _ = both.model.log_likelihood({name: values[name] for name in both.model.read})
        return both.density(row["position"]), found[site].ravel()[row["entry"]]

    def rows(places: np.ndarray, entry: int) -> dict[str, np.ndarray]:
        return {"position": places.astype(dtype), "entry": np.full(len(places), entry, np.int32)}

    program = over_rows(Both(density, model), precision, one, rows(positions, 0))
    elpd, pareto_k = [], []
    for index in which:

        def evaluate(places: np.ndarray, entry: int = int(entries[index])) -> tuple[np.ndarray, np.ndarray]:
            target, heights = program(rows(places, entry))
            return np.asarray(target, np.float64), np.asarray(heights, np.float64)

        found = match(positions.astype(np.float64), evaluate, relative_ess)
        elpd.append(found.elpd)
        pareto_k.append(found.pareto_k)
    return Mended(which, np.array(elpd), np.array(pareto_k))
