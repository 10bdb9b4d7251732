"""Evaluate a peer's log density at given points: a worker of `../densities.py`, in the peers' environment.

    python density.py ENGINE MODEL DATA FOLDER

Reads `points.npz` in FOLDER, each site of shape `(point, *site)`, and writes `values.json` there.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from worker import read_data

Point = Mapping[str, np.ndarray]


def numpyro(name: str, data: dict[str, Any]) -> Callable[[Point], float]:
    """The joint density of a NumPyro model at constrained values."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from numpyro.infer.util import log_density

    import models_numpyro

    model = getattr(models_numpyro, name)
    evaluate = jax.jit(lambda point: log_density(model, (), data, point)[0])
    return lambda point: float(evaluate(dict(point)))


def pystan(name: str, data: dict[str, Any]) -> Callable[[Point], float]:
    """Stan's log density, which leaves constants out, with respect to constrained values."""
    import stan
    from run_pystan import PROGRAMS, stan_data

    model = stan.build((PROGRAMS / f"{name}.stan").read_text(), data=stan_data(data))

    def evaluate(point: Point) -> float:
        position = model.unconstrain_pars({name: value.tolist() for name, value in point.items()})
        return model.log_prob(position, adjust_transform=False)

    return evaluate


def pymc(name: str, data: dict[str, Any]) -> Callable[[Point], float]:
    """The joint density of a PyMC model; its own maps take constrained values to those that it wants."""
    import models_pymc

    if not hasattr(models_pymc, name):
        raise SystemExit(f"pymc has no model {name}")
    model = getattr(models_pymc, name)(**data)
    inputs = {site.name: site for site in model.free_RVs}
    forward = {}
    for site in model.free_RVs:
        value = model.rvs_to_values[site]
        transform = model.rvs_to_transforms[site]
        forward[value.name] = site if transform is None else transform.forward(site, *site.owner.inputs)
    import pytensor

    to_values = pytensor.function(
        list(inputs.values()), list(forward.values()), on_unused_input="ignore", mode="FAST_COMPILE"
    )
    density = model.compile_logp(jacobian=False, mode="FAST_COMPILE")

    def evaluate(point: Point) -> float:
        values = to_values(*[point[name] for name in inputs])
        return float(density(dict(zip(forward, values, strict=True))))

    return evaluate


def points(path: Path) -> Iterator[Point]:
    """One point after the other."""
    with np.load(path) as file:
        sites = dict(file)
    for index in range(len(next(iter(sites.values())))):
        yield {name: value[index] for name, value in sites.items()}


if __name__ == "__main__":
    engine, model, data, folder = sys.argv[1:]
    evaluate = {"numpyro": numpyro, "pystan": pystan, "pymc": pymc}[engine](model, read_data(Path(data)))
    values = [evaluate(point) for point in points(Path(folder) / "points.npz")]
    (Path(folder) / "values.json").write_text(json.dumps(values))
