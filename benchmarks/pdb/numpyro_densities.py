"""Evaluate NumPyro's log densities at given points: a worker of `agree.py`, in NumPyro's environment.

Reads `plan.json` in a folder, and for each posterior `POSTERIOR.npz` with sites of shape `(point, *site)`; writes
`values.json`, which has the log densities, or an error, by posterior.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer.util import log_density

from registry import bind


def evaluate(module: str, model: str, data: str | None, points: dict[str, np.ndarray]) -> list[float]:
    """The joint log density at each point, without Jacobians."""
    bound = bind(module, model, None if data is None else Path(data))
    arguments = {
        name: jnp.asarray(value) if isinstance(value, np.ndarray) else value
        for name, value in bound.arguments.items()
    }

    @jax.jit
    def at(point: dict[str, Any]) -> Any:
        return log_density(bound.function, (), arguments, point)[0]

    count = len(next(iter(points.values())))
    return [float(at({name: value[i] for name, value in points.items()})) for i in range(count)]


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    folder = Path(sys.argv[1])
    values: dict[str, list[float] | str] = {}
    for posterior, module, model, data in json.loads((folder / "plan.json").read_text()):
        with np.load(folder / f"{posterior}.npz") as file:
            points = dict(file)
        try:
            values[posterior] = evaluate(module, model, data, points)
        except Exception as error:
            values[posterior] = f"{type(error).__name__}: {error}"
    (folder / "values.json").write_text(json.dumps(values))
