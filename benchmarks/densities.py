"""Compare every engine's log density with accord's, up to a constant: a race is fair where all sample the same.

    python benchmarks/densities.py [--models a,b] [--peers numpyro,pystan,pymc] [--env FOLDER]

Points come from accord, in the model's own space. A density of the peers' is over that space, without the Jacobians of
maps to unconstrained numbers, which may differ. What counts are differences between points, beside the largest of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from accord.core.precision import scope
from accord.density import LogDensity
from environment import default_folder, kept_environment, python_of
from problems import LARGE_MODELS, MODELS, file_of, model_of

WORKERS = Path(__file__).resolve().parent / "peers"
PEERS = ("numpyro", "pystan", "pymc")
NUM_POINTS = 6
SPREAD = 0.5  # of the points, in unconstrained numbers
TOLERANCE = 1e-8
# Solvers of differential equations differ between engines.
LOOSE = {"lotka_volterra": 1e-4, "one_comp_mm_elim_abs": 1e-4}
# Where random points would be no place for a solver to be.
CENTRES = {
    "lotka_volterra": {
        "theta": np.array([0.55, 0.028, 0.8, 0.024]),
        "z_init": np.array([34.0, 6.0]),
        "sigma": np.array([0.25, 0.25]),
    },
    "one_comp_mm_elim_abs": {"k_a": 0.8, "K_m": 0.5, "V_m": 1.0, "sigma": 0.2},
}
NEAR = 0.1  # the spread around these


def main() -> None:
    """Print a line for each comparison; end with status 1 if one fails."""
    parser = argparse.ArgumentParser(description="Compare every engine's log density with accord's.")
    parser.add_argument("--models", default=",".join([*MODELS, *LARGE_MODELS]), help="separated by commas")
    parser.add_argument("--peers", default="numpyro,pystan", help="and pymc")
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' virtual environment")
    options = parser.parse_args()
    python = python_of(options.env)
    failed = []
    for model in options.models.split(","):
        points, values = points_of(model)
        for peer in options.peers.split(","):
            verdict = compare(python, peer, model, points, values)
            print(f"{model:24s} {peer:8s} {verdict}", flush=True)
            if verdict.startswith("FAILED"):
                failed.append((model, peer))
    if failed:
        raise SystemExit(f"{len(failed)} densities are not accord's: {failed}")


def points_of(model: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Latent sites at several points, shape `(point, *site)`, and accord's log density there, without Jacobians."""
    with scope("float64"):
        density = LogDensity.from_model(model_of(model), "float64")
        generator = np.random.default_rng(7)
        spread, centre = SPREAD, np.zeros(density.dim)
        if model in CENTRES:
            spread, centre = NEAR, np.asarray(density.unconstrain(CENTRES[model]))
        positions = centre + spread * generator.normal(size=(NUM_POINTS, density.dim))
        latent = [entry.name for entry in density.layout.entries]

        def at(position: jax.Array) -> tuple[dict[str, jax.Array], jax.Array]:
            sites = density.constrain(position)
            return {name: sites[name] for name in latent}, density(position) - log_jacobian(density, position)

        points, values = jax.jit(jax.vmap(at))(positions)
        return {name: np.asarray(value) for name, value in points.items()}, np.asarray(values)


def log_jacobian(density: LogDensity, position: jax.Array) -> jax.Array:
    """That of the map from a position to the latent sites."""
    pieces = {
        entry.name: position[entry.start : entry.stop].reshape(entry.unconstrained_shape)
        for entry in density.layout.entries
    }
    sites = density.program.sites(pieces, density.data)
    return sum(jax.numpy.sum(sites[name].log_det) for name in pieces if sites[name].log_det is not None)


def compare(python: Path, peer: str, model: str, points: dict[str, np.ndarray], values: np.ndarray) -> str:
    """One sentence: `agrees` with the largest difference, `none`, or `FAILED` and why."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "points.npz", **points)
        code, errors = _run([str(python), str(WORKERS / "density.py"), peer, model], folder)
        if code:
            last = (errors.strip().splitlines() or ["no message"])[-1]
            return f"none: {last}" if "has no model" in last else f"FAILED: {last[:200]}"
        others = np.asarray(json.loads((folder / "values.json").read_text()), float)
    return verdict_of(values, others, LOOSE.get(model, TOLERANCE))


def verdict_of(values: np.ndarray, others: np.ndarray, tolerance: float) -> str:
    """Compare the differences from the first point, where both are finite; they must be at three points or more."""
    finite = np.isfinite(values) & np.isfinite(others)
    if finite.sum() < 3:
        return f"FAILED: finite at {finite.sum()} of {len(values)} points"
    mine, theirs = values[finite] - values[finite][0], others[finite] - others[finite][0]
    error = np.max(np.abs(mine - theirs)) / max(1.0, np.max(np.abs(mine)))
    return f"{'agrees' if error <= tolerance else 'FAILED'}: {error:.1e} of the largest difference"


def _run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    data = file_of(command[-1], folder)
    caches = default_folder().with_name("densities")  # Stan compiles for half a minute: once is enough
    caches.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [*command, str(data), str(folder)],
        capture_output=True,
        text=True,
        env=kept_environment(caches, is_accord=False),
        cwd=folder,  # httpstan leaves a folder where it is called
        check=False,
    )
    return ran.returncode, ran.stderr


if __name__ == "__main__":
    sys.exit(main())
