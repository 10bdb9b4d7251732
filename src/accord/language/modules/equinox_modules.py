"""Take modules of Equinox apart: they are pytrees, and their floating-point arrays are parameters."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.tree_util as jtu

from ...core.errors import OptionError
from .parts import Parts, check_real, in_precision, path_of


def parts_of(where: str, module: eqx.Module) -> Parts:
    """Take apart the arrays of a module, by path.

    **Raises** `OptionError` for a module that still holds its state, and for complex arrays.
    """
    for index in jax.tree.leaves(module, is_leaf=_is_state):
        if _is_state(index) and any(map(eqx.is_array, jax.tree.leaves(index))):
            raise OptionError(
                f"{where}: {type(module).__name__} holds state, such as running means, which has no density and which "
                "a log density cannot change. Take it out, outside of the model: `net, state = "
                "eqx.nn.make_with_state(...)(...)`, then `eqx.nn.inference_mode(net)`, and call `net(x, state)`."
            )
    leaves, structure = jtu.tree_flatten_with_path(module)
    arrays = {path_of(keys): leaf for keys, leaf in leaves if eqx.is_inexact_array(leaf)}
    for path, array in arrays.items():
        check_real(where, path, array)

    def rebuild(values: Mapping[str, Any]) -> Any:
        paths = [path_of(keys) for keys, _ in leaves]
        new = [
            values[path] if path in values else in_precision(leaf)
            for path, (_, leaf) in zip(paths, leaves, strict=True)
        ]
        return jtu.tree_unflatten(structure, new)

    return Parts(arrays, rebuild)


def _is_state(node: Any) -> bool:
    return isinstance(node, eqx.nn.StateIndex)
