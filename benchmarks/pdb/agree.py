"""Compare the log density that NumPyro has of each model with accord's, up to a constant, without Jacobians.

Both run one source, so that a difference is one of the stand-in, or of a distribution.
"""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from accord import LogDensity
from database import Database
from densities import log_jacobian, verdict_of
from environment import fresh_environment
from launch import STAND_IN
from reference_draws import unknowns
from registry import Problem, bind

HERE = Path(__file__).resolve().parent
OURS = "FAILED: accord: "  # how a verdict begins where accord has no density
NUM_POINTS = 6
TOLERANCE = (
    1e-6  # of the largest difference: NumPyro moves probabilities of 0 and 1 by the size of a rounding error
)
SPREAD = 0.5  # of points around 0, in unconstrained numbers


def agree(chosen: Sequence[Problem], database: Database, python: Path) -> dict[str, str]:
    """Compare densities, in float64; by posterior, `agrees` with the largest difference, or `FAILED` and why."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, verdicts, plan = {}, {}, []
        for problem in chosen:
            try:
                points, ours[problem.posterior] = _points(problem, database)
            except Exception as error:
                verdicts[problem.posterior] = f"{OURS}{type(error).__name__}: {error}"[:300]
                continue
            np.savez(folder / f"{problem.posterior}.npz", allow_pickle=False, **points)
            data = None if problem.data is None else str(problem.data.resolve())
            plan.append([problem.posterior, problem.module, problem.model, data])
        (folder / "plan.json").write_text(json.dumps(plan))
        (folder / "caches").mkdir()
        variables = fresh_environment(folder / "caches") | {"PYTHONPATH": str(STAND_IN)}
        subprocess.run([str(python), str(HERE / "numpyro_densities.py"), name], env=variables, check=True)
        theirs = json.loads((folder / "values.json").read_text())
    return verdicts | {name: _verdict(values, theirs[name]) for name, values in ours.items()}


def _points(problem: Problem, database: Database) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Unknowns at several points, shape `(point, *site)`, and accord's log density there."""
    model = bind(problem.module, problem.model, problem.data)
    density = LogDensity.from_model(model)
    names = [entry.name for entry in density.layout.entries]
    if problem.reference is None:
        positions = SPREAD * np.random.default_rng(7).normal(size=(NUM_POINTS, density.dim))
    else:
        draws = {
            name: values[:NUM_POINTS, 0] for name, values in database.reference(problem.reference).items()
        }
        known = unknowns(problem.model, draws, model.arguments)
        positions = jax.vmap(density.unconstrain)({name: known[name] for name in names})

    def at(position: jax.Array) -> tuple[dict[str, jax.Array], jax.Array]:
        sites = density.constrain(position)
        return {name: sites[name] for name in names}, density(position) - log_jacobian(density, position)

    points, values = jax.jit(jax.vmap(at))(positions)
    return {name: np.asarray(value) for name, value in points.items()}, np.asarray(values)


def _verdict(ours: np.ndarray, theirs: list[float] | str) -> str:
    if isinstance(theirs, str):
        return f"FAILED: {theirs[:200]}"
    return verdict_of(ours, np.asarray(theirs, float), TOLERANCE)
