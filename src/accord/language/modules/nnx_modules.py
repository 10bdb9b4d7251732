"""Take modules of `flax.nnx` apart: their parameters are the variables of type `nnx.Param`."""

from collections.abc import Mapping
from typing import Any

import jax
from flax import nnx

from ...core.errors import OptionError
from .parts import Parts, check_real, in_precision, path_of


def parts_of(where: str, module: nnx.Module) -> Parts:
    """Take apart the parameters of a module by path; other variables are constants of the copy that is built.

    **Raises** `OptionError` for dropout that is at work, and for complex arrays.
    """
    for path, node in nnx.iter_graph(module):
        if isinstance(node, nnx.Dropout) and node.rate > 0 and not node.deterministic:
            raise OptionError(
                f"{where}: the dropout {path_of(path)!r} is at work, and a log density has no random numbers: it would "
                "leave out the same units at every evaluation. Switch it off, outside of the model: `module.eval()`."
            )
    graph, params, others = nnx.split(module, nnx.Param, ...)
    flat = {path_of(path): (path, variable) for path, variable in nnx.to_flat_state(params)}
    arrays = {path: variable.get_value() for path, (_, variable) in flat.items()}
    for path, array in arrays.items():
        check_real(where, path, array)

    def rebuild(values: Mapping[str, Any]) -> Any:
        new = [(keys, variable.replace(values[path])) for path, (keys, variable) in flat.items()]
        return nnx.merge(graph, nnx.from_flat_state(new), jax.tree.map(in_precision, others))

    return Parts(arrays, rebuild)
