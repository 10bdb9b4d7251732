"""Run PyMC's multi-path Pathfinder on the log density of an accord model."""

import logging
import warnings
from typing import Any

import jax
import numpy as np
import pymc as pm
import pymc_extras
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op


def run(density: Any, paths: int, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unconstrained draws, and log weights of the draws of all paths.

    Paths begin at points of PyMC's own: uniform within two of zero, as everywhere here. They run one after the other.
    """
    for name in ("pymc", "pymc_extras", "pytensor"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    with pm.Model():
        x = pm.Flat("x", shape=density.dim)
        pm.Potential("log_density", _LogDensity(density)(x))
        found = pymc_extras.fit_pathfinder(
            num_paths=paths,
            num_draws=draws,
            random_seed=seed,
            concurrent=None,  # processes would have to send the density to each other
            progressbar=False,
            display_summary=False,
            store_diagnostics=True,
        )
    about = found["sample_stats"]
    log_weights = about["diagnostics_logP_full"].values - about["diagnostics_logQ_full"].values
    return found["posterior"]["x"].values[0], log_weights.ravel()


class _LogDensity(Op):
    """The log density at a vector, which JAX evaluates."""

    def __init__(self, density: Any):
        self.density = density
        self.function = jax.jit(density)

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [pt.as_tensor_variable(x)], [pt.dscalar()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.asarray(self.function(inputs[0]))

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> list[Any]:  # noqa: N802 - PyTensor's name
        return [output_grads[0] * _Gradient(self.density)(inputs[0])]


class _Gradient(Op):
    """Its gradient."""

    def __init__(self, density: Any):
        self.function = jax.jit(lambda x: density.value_and_grad(x)[1])

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [pt.as_tensor_variable(x)], [pt.dvector()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.array(self.function(inputs[0]))
