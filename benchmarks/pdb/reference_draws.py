"""Turn reference draws into values of a model's unknowns."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Draws = Mapping[str, np.ndarray]  # by Stan's names, shape (draw, *parameter)


def unknowns(model: str, draws: Draws, arguments: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Values of the unknowns of a model; where the draws have functions of them alone, they are solved for."""
    return dict(draws) | (_SOLVED[model](draws, arguments) if model in _SOLVED else {})


def _eight_schools(draws: Draws, arguments: Mapping[str, Any]) -> dict[str, np.ndarray]:
    del arguments
    return {"theta_trans": (draws["theta"] - draws["mu"][:, None]) / draws["tau"][:, None]}


def _gp_pois_regr(draws: Draws, arguments: Mapping[str, Any]) -> dict[str, np.ndarray]:
    x = np.asarray(arguments["x"], float)
    squares = (x[:, None] - x) ** 2
    rho, alpha = (draws[name][:, None, None] for name in ("rho", "alpha"))
    covariance = alpha**2 * np.exp(-0.5 * squares / rho**2) + 1e-10 * np.eye(len(x))
    return {"f_tilde": np.linalg.solve(np.linalg.cholesky(covariance), draws["f"][..., None])[..., 0]}


_SOLVED: Mapping[str, Callable[[Draws, Mapping[str, Any]], dict[str, np.ndarray]]] = {
    "eight_schools_noncentered": _eight_schools,
    "gp_pois_regr": _gp_pois_regr,
}
