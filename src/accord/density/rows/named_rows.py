"""Find the arguments of a model that have rows: those that are named, or those with an axis of a plate's size."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core import precision as precision_scope
from ...core.errors import OptionError, suggest
from ..program import AbstractProgram, ModelProgram
from .conditions import Traced, listed
from .row_files import FileRows


def model_of_rows(program: AbstractProgram) -> ModelProgram:
    """Return the model of a program. Raises `OptionError` where it is of a function."""
    if program.whole is None:
        raise OptionError(
            "shard= names arguments of a model, and this density is of a function. Sum over its data with "
            "`accord.density.sharded_sum` there."
        )
    return program.whole


def num_rows_of(program: AbstractProgram, data: Mapping[str, Any], shard: Mapping[str, int]) -> int:
    """Return the common size of what is to be cut. Raises `OptionError` where there is none."""
    sizes: dict[str, int] = {}
    for name, axis in shard.items():
        if name in program.constants:
            raise OptionError(
                f"shard: the model needs the values of {name!r} while it is traced, so they are a constant of the "
                "program and cannot be cut. Compute what depends on them outside of the model."
            )
        if name not in data:
            known = list(data)
            raise OptionError(
                f"shard: the model has no data {name!r}.{suggest(name, known)} There are: {', '.join(known)}."
            )
        shape = np.shape(data[name])
        if isinstance(data[name], FileRows) and axis != 0:
            raise OptionError(
                f"shard: the rows of {name!r} lie in a file, along its first axis; got the axis {axis!r}."
            )
        if not isinstance(axis, int) or not 0 <= axis < len(shape):
            raise OptionError(f"shard: {name!r} has shape {shape}, so that it has no axis {axis!r}.")
        sizes[name] = shape[axis]
    if not sizes:
        raise OptionError('shard: name at least one argument of the model, as in `shard={"X": 0, "y": 0}`.')
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
        raise OptionError(f"shard: all must have the same number of rows, and have: {found}.")
    (num_rows,) = set(sizes.values())
    if num_rows < 2:
        raise OptionError(f"shard: {listed(shard)} has {num_rows} row; there is nothing to share out.")
    return num_rows


def rows_of_plate(program: AbstractProgram, data: Mapping[str, Any], plate: str) -> dict[str, int]:
    """Find every argument with exactly one axis of a plate's size, and that axis.

    **Raises** `OptionError` where there is no such plate, where no argument has such an axis, and where one has two.
    """
    with precision_scope.scope(program.precision):
        sites = Traced.of(model_of_rows(program), data).sites.values()
    sizes = {frame.name: frame.size for site in sites for frame in site.plates}
    if plate not in sizes:
        raise OptionError(
            f"shard: the model has no plate {plate!r}.{suggest(plate, sizes)} There are: {listed(sizes) or 'none'}. "
            'Or name arguments, with the axis of their rows: `shard={"X": 0, "y": 0}`.'
        )
    size = sizes[plate]
    found: dict[str, int] = {}
    for name, value in data.items():
        axes = [axis for axis, length in enumerate(np.shape(value)) if length == size]
        if len(axes) > 1:
            raise OptionError(
                f"the plate {plate!r} has {size} rows, and the argument {name!r} of shape {np.shape(value)} has that "
                "size along several axes. Say which one is cut, and all other arguments with rows: "
                f'`infer.Devices(shard={{"{name}": {axes[0]}, ...}})`.'
            )
        if axes:
            found[name] = axes[0]
    if not found:
        raise OptionError(
            f"the plate {plate!r} has {size} rows, and no argument that can be cut has an axis of that size. An array "
            "that the model closes over is a constant of its program, and so is one whose values the model needs while "
            "it is traced: pass the first as an argument, and compute outside of the model what needs the second. Or "
            'name the arguments with the axis of their rows: `infer.Devices(shard={"X": 0, "y": 0})`.'
        )
    return found
