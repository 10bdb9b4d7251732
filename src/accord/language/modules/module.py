"""Turn the parameters of a neural network into sites of a model, and return the network that has them."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...core.errors import OptionError, SiteError
from ...core.options import checks_options
from ...distributions import AbstractDistribution
from ..interpreter import handlers_around
from ..messages.places import caller
from ..param import param
from ..plate import Plate
from ..primitives import sample
from .parts import Parts, in_precision
from .priors import FIXED, Prior, fitted, read_prior


@checks_options
def module(
    name: str,
    module: Any,
    prior: Prior = None,
    *,
    inputs: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> Any:
    """Return `module` with its floating-point arrays replaced by values of sites, one site for each array.

    In a guide that is a model, and in the model beside it, parameters without a prior are fitted by `infer.fit`.

    A site is called as its array is in Python: `net.layers[0].weight` is `module.layers[0].weight` under the name
    "net". What is not a parameter stays as it is, in the precision of the run; `module` itself is never changed.

    **Arguments**
    - `name`: comes before the names of the sites.
    - `module`: of Equinox, or of Flax (`flax.linen` or `flax.nnx`).
    - `prior`: a distribution for all parameters, which is repeated over the shape of each; or by path,
      `{"layers[0].*": dist.Normal(0, 1), "*": dist.Normal(0, 0.1)}`, where `*` is any run of characters and, after an
      exact path, the first pattern that fits counts; or a function of path and shape. In the place of a distribution,
      None is no prior, as of `ac.param`, and `"fixed"` keeps the values that the module has.
    - `inputs`: of a linen module, what it is called with, an array or a tuple: its shapes follow from that, and nothing
      is computed.
    - `variables`: of a linen module in place of `inputs`, what `module.init` or training has returned. It is needed
      where values count: for parameters that are fixed or have no prior, and other collections (`batch_stats`).

    **Returns** an Equinox or nnx module; of a linen module one that is bound to its variables. It is called as the
    original is. State that a module keeps (running means) is a constant of the log density, which is to be the same
    function at every evaluation: an nnx module writes it into this copy alone, a linen module refuses to, and Equinox
    passes it in and out of the call.

    **Raises** `SiteError` for a path that is none of the module's, a parameter that the mapping leaves out, a prior of
    another shape, and inside of a plate; `OptionError` for what is no module, or not ready to be one of a density.

    **Example**

    >>> import equinox as eqx
    >>> linear = eqx.nn.Linear(2, "scalar", key=jax.random.key(0))
    >>> @ac.model
    ... def regression(x, y):
    ...     net = ac.module("net", linear, {"weight": dist.Normal(0, 1), "bias": dist.Normal(0, 10)})
    ...     with ac.plate("row", len(x)):
    ...         ac.sample("y", dist.Normal(jax.vmap(net)(x), 0.1), obs=y)
    >>> print(regression(np.ones((3, 2)), np.array([0.0, 0.8, 0.9])).sites())
    site        kind      shape   dims                                distribution
    net.weight  latent    (1, 2)  net.weight_dim_0, net.weight_dim_1  Independent
    net.bias    latent    (1,)    net.bias_dim_0                      Independent
    y           observed  (3,)    row                                 Normal
    """
    where = f"ac.module {name!r} (at {caller()})"
    if not isinstance(name, str) or not name:
        raise SiteError(
            f"ac.module (at {caller()}): the first argument is the name before those of its sites; got {name!r}."
        )
    for handler in handlers_around():
        if isinstance(handler, Plate):
            raise SiteError(
                f"{where} stands inside of the plate {handler.name!r}, which would give every parameter an axis that "
                "the module does not know. Put it before the plate. For one module by entry, build the prototype by "
                "`eqx.filter_vmap(make)(keys)` and call what is returned by `eqx.filter_vmap`."
            )
    parts = _parts_of(where, module, inputs, variables)
    if not parts.arrays:
        raise OptionError(f"{where}: {type(module).__name__} has no floating-point array to be a parameter.")
    priors = read_prior(where, prior, {path: tuple(array.shape) for path, array in parts.arrays.items()})
    values: dict[str, Any] = {}
    for path, array in parts.arrays.items():
        given = priors[path]
        if isinstance(given, AbstractDistribution):
            values[path] = sample(f"{name}.{path}", fitted(where, path, given, tuple(array.shape)))
            continue
        if isinstance(array, jax.ShapeDtypeStruct):
            raise OptionError(
                f"{where}: {path!r} has no prior, and no value either, since `inputs=` says shapes alone. Give "
                "`variables=module.init(key, ...)` in its place."
            )
        values[path] = in_precision(array) if given == FIXED else param(f"{name}.{path}", array)
    return parts.rebuild(values)


def with_values(
    name: str, module: Any, values: Mapping[str, Any], *, variables: Mapping[str, Any] | None = None
) -> Any:
    """Return a module with values of its sites, by their names; its other arrays stay as they are.

    **Raises** `OptionError` where it has none of the sites, or a value has another shape.
    """
    where = f"module {name!r}"
    parts = _parts_of(where, module, None, variables)
    found = {path: values[f"{name}.{path}"] for path in parts.arrays if f"{name}.{path}" in values}
    if not found:
        raise OptionError(
            f"{where}: there is no value of {name}.{next(iter(parts.arrays), '')}. There is: "
            f"{', '.join(map(repr, values)) or 'none'}."
        )
    for path, value in found.items():
        if jnp.shape(value) != jnp.shape(parts.arrays[path]):
            raise OptionError(
                f"{where}: {path!r} has shape {jnp.shape(parts.arrays[path])} in the module given, and the value has "
                f"{jnp.shape(value)}."
            )
    return parts.rebuild({path: in_precision(found.get(path, array)) for path, array in parts.arrays.items()})


def _parts_of(where: str, module: Any, inputs: Any, variables: Any) -> Parts:
    """Take a module apart; Flax is imported only for one of its modules."""
    library = _library_of(module)
    if library != "linen" and not (inputs is None and variables is None):
        raise OptionError(
            f"{where}: inputs= and variables= are for modules of flax.linen; {type(module).__name__} has its arrays."
        )
    match library:
        case "equinox":
            from .equinox_modules import parts_of

            return parts_of(where, module)
        case "linen":
            from .linen_modules import parts_of

            return parts_of(where, module, inputs, variables)
        case "nnx":
            from .nnx_modules import parts_of

            return parts_of(where, module)
    if isinstance(module, type):
        raise OptionError(
            f"{where}: {module.__name__} is a class. Build it first: `{module.__name__}(...)`, outside of the model."
        )
    raise OptionError(
        f"{where} takes a module of Equinox or Flax, got {type(module).__name__}. A function of parameters needs no "
        "module: draw them by `ac.sample` and call it."
    )


def _library_of(module: Any) -> str | None:
    if isinstance(module, eqx.Module):
        return "equinox"
    for base in type(module).__mro__:
        if base.__name__ == "Module" and base.__module__.startswith("flax."):
            return base.__module__.split(".")[1]
    return None
