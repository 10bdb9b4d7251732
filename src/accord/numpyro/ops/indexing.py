"""Index arrays by arrays with batches on their left, as `numpyro.ops.indexing`."""

from typing import Any

import jax.numpy as jnp

from ..names.refusal import refusal as _refusal

__getattr__ = _refusal("numpyro.ops.indexing")


def vindex(tensor: Any, args: Any) -> Any:
    """Return entries of `tensor`, whose indices are broadcast against each other; axes of slices come last.

    **Arguments**: `args`, for each axis an integer, an array of integers or a full slice; `...` stands for the axes on
    its side that are left, which are batches where it comes first.
    """
    tensor = jnp.asarray(tensor)
    args = args if isinstance(args, tuple) else (args,)
    if not args:
        return tensor
    if args[0] is Ellipsis:
        # Batches on the left are indexed along with the others.
        batch = tensor.ndim - (len(args) - 1)
        events = sum(isinstance(each, slice) for each in args[1:])
        axes = tuple(
            jnp.arange(size).reshape((size,) + (1,) * (batch - 1 - i))
            for i, size in enumerate(tensor.shape[:batch])
        )
        del events
        args = (*axes, *args[1:])
    elif args[-1] is Ellipsis:
        args = args[:-1]
    args = (*args, *(slice(None),) * (tensor.ndim - len(args)))
    slices = [i for i, each in enumerate(args) if isinstance(each, slice)]
    if any(args[i] != slice(None) for i in slices):
        raise ValueError("Vindex takes full slices alone, such as `x[..., i, :]`.")
    event = len(slices)
    found: list[Any] = []
    for i, each in enumerate(args):
        if isinstance(each, slice):
            place = event - 1 - slices.index(i)
            found.append(jnp.arange(tensor.shape[i]).reshape((-1,) + (1,) * place))
        else:
            index = jnp.asarray(each)
            found.append(index.reshape(index.shape + (1,) * event))
    return tensor[tuple(found)]


class Vindex:
    """An array that is indexed by `vindex`: `Vindex(x)[..., i, :]`."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, args: Any) -> Any:
        return vindex(self._tensor, args)
