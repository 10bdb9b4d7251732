"""Turn a graph of PyTensor into a function that JAX traces."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from ...core.errors import ModelError, OptionError
from .library import conversions

# As PyMC compiles its log densities: -inf outside of the range of a parameter, in place of an exception.
_CHECKS = "local_check_parameter_to_ninf_switch"


@dataclass(eq=False)
class Graph:
    """A graph without shared variables, as a function of arrays. It is pickled as the graph, and converted anew.

    **Fields**: `inputs`, `outputs`, variables of PyTensor; `name` of the model.
    """

    inputs: list[Any]
    outputs: list[Any]
    name: str
    _function: Any = field(default=None, init=False, repr=False)

    @staticmethod
    def of(inputs: Sequence[Any], outputs: Sequence[Any], name: str) -> "Graph":
        """Replace shared variables by the values that they have now."""
        return Graph([*inputs], frozen(outputs), name)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Evaluate the outputs.

        **Raises** `ModelError` for an operation that PyTensor cannot convert; `OptionError` in a float32 run.
        """
        if not jax.config.read("jax_enable_x64"):
            raise OptionError(
                f"the PyMC model {self.name!r} computes in float64, and this is float32. Leave out "
                "precision='float32'; outside of a run, evaluate under jax.enable_x64(True)."
            )
        if self._function is None:
            self._function = self._converted()
        with (
            jax.numpy_dtype_promotion("standard"),
            jax.numpy_rank_promotion("allow"),
        ):  # as PyTensor's code needs
            return tuple(self._function(*arrays))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_function": None}

    def _converted(self) -> Any:
        convert = conversions().jax_funcify
        mode = importlib.import_module("pytensor.compile").mode.JAX
        graph = importlib.import_module("pytensor.graph.fg").FunctionGraph(
            self.inputs, self.outputs, clone=True
        )
        mode.including(_CHECKS).optimizer.rewrite(graph)
        try:
            with jax.ensure_compile_time_eval():  # constants of the graph are arrays, also while JAX traces
                return convert(graph)
        except NotImplementedError as error:
            raise ModelError(
                f"the PyMC model {self.name!r} has an operation that PyTensor cannot convert to JAX: {error} Write "
                "that part by operations of pytensor.tensor, or register its conversion with "
                "`pytensor.link.jax.dispatch.jax_funcify`."
            ) from error


def frozen(outputs: Sequence[Any]) -> list[Any]:
    """Return these variables with constants in the place of shared variables."""
    shared = importlib.import_module("pytensor.compile.sharedvalue").SharedVariable
    constant = importlib.import_module("pytensor.tensor").constant
    found = {each for each in ancestors(outputs) if isinstance(each, shared)}
    values = {each: each.get_value() for each in found}
    known = {
        each: constant(value, dtype=each.dtype) for each, value in values.items() if hasattr(value, "dtype")
    }
    return importlib.import_module("pytensor.graph.replace").clone_replace([*outputs], replace=known)


def ancestors(outputs: Sequence[Any]) -> list[Any]:
    """List the variables that these depend on, and these."""
    return [*importlib.import_module("pytensor.graph.traversal").ancestors([*outputs])]
