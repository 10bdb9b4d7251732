"""Take modules of `flax.linen` apart: their parameters are the collection "params" of their variables."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.tree_util as jtu
from flax import linen

from ...core.errors import OptionError
from .parts import Parts, check_real, in_precision, path_of


def parts_of(where: str, module: linen.Module, inputs: Any, variables: Any) -> Parts:
    """Take apart the parameters of a module by path, from its variables or from the shapes that inputs give them.

    **Raises** `OptionError` where neither or both are given, for other collections of which only shapes are known, and
    for complex arrays.
    """
    name = type(module).__name__
    if (inputs is None) == (variables is None):
        raise OptionError(
            f"{where}: the parameters of {name} have shapes only once it is called. Give either `inputs=x`, what it is "
            "called with, or `variables=module.init(key, x)`."
        )
    if variables is not None and (not isinstance(variables, Mapping) or "params" not in variables):
        raise OptionError(
            f"{where}: variables= must be what `module.init` returns, a mapping with the entry 'params'; got "
            f"{type(variables).__name__}{' of ' + str(sorted(variables)) if isinstance(variables, Mapping) else ''}."
        )
    if variables is None:
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        # Nothing is computed, so that the key plays no part.
        variables = jax.eval_shape(lambda: module.init(jax.random.key(0), *given))
    variables = linen.meta.unbox(variables)
    others = {word: values for word, values in variables.items() if word != "params"}
    if others and inputs is not None:
        raise OptionError(
            f"{where}: {name} keeps state beside its parameters ({', '.join(map(repr, others))}), which has no "
            "density: it is a constant, and its values count. Give `variables=`, of `module.init` or of training, in "
            "place of `inputs=`, and call the module so that it does not change it (`use_running_average=True`)."
        )
    leaves, structure = jtu.tree_flatten_with_path(variables.get("params", {}))
    arrays = {path_of(keys): leaf for keys, leaf in leaves}
    for path, array in arrays.items():
        check_real(where, path, array)

    def rebuild(values: Mapping[str, Any]) -> Any:
        params = jtu.tree_unflatten(structure, [values[path_of(keys)] for keys, _ in leaves])
        return module.bind({"params": params, **jax.tree.map(in_precision, others)})

    return Parts(arrays, rebuild)
