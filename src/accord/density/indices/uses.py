"""Find which numbers index which axes of one operation, and what happens to those that do not fit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..flat import Step, aval_of
from .axes import Axes
from .nodes import Column, Held, Made, Node, Unknown, is_equal

Excuse = Literal["no", "said", "perhaps"]
"""An answer: has the user said by `mode=` what becomes of an index beyond its axis? At times only the line tells."""

_SCATTERS = (
    "scatter",
    "scatter-add",
    "scatter-mul",
    "scatter-min",
    "scatter-max",
    "scatter-sub",
    "scatter_sub",
)
_RESHAPES = (
    "broadcast_in_dim",
    "reshape",
    "squeeze",
    "convert_element_type",
    "copy",
    "copy_p",
    "pvary",
    "expand_dims",
)
_BY_DEFAULT = (
    "_take",
    "take_along_axis",
    "take",
)  # functions of JAX with a mode that others have to be given


@dataclass(frozen=True, eq=False)
class Condition:
    """A branch that is taken where `which` is `number`, of `count`.

    A branch that only sites choose counts as taken, since a sampler goes into all of them. With `is_of_rows`, it is
    the turns of a loop that it speaks of, and so of an index only that has a row for each turn.
    """

    which: Node
    number: int
    count: int
    is_of_rows: bool = False


@dataclass(frozen=True, eq=False)
class Use:
    """Numbers that index an axis.

    **Fields**
    - `index`: the numbers as the user wrote them. `size`: of the axis. `length`: how much of it is taken from there.
    - `is_wrapped`: whether JAX counts negative ones from the end. `excuse`: what `mode=` says of those beyond.
    - `axis`, `axes`, `shape`: number of the axis, whose it is if that is known, and the shape of the array.
    - `conditions`: branches in which it stands.
    """

    step: Step
    index: Node
    size: int
    length: int
    is_wrapped: bool
    excuse: Excuse
    axis: int
    axes: Axes | None
    shape: tuple[int, ...]
    conditions: tuple[Condition, ...]


def of_step(
    step: Step,
    given: Sequence[Node],
    axes: Sequence[Axes | None],
    conditions: tuple[Condition, ...],
    resolved: Callable[[Held, int | None], Held],
) -> Iterator[Use]:
    """Find where an operation indexes by anything but what is written in the code."""
    parameters = step.eqn.params
    shape = aval_of(step.eqn.invars[0]).shape if step.eqn.invars else ()
    if step.name in ("dynamic_slice", "dynamic_update_slice"):
        is_slice = step.name == "dynamic_slice"
        lengths = parameters["slice_sizes"] if is_slice else aval_of(step.eqn.invars[1]).shape
        starts = given[1 : 1 + len(shape)] if is_slice else given[2 : 2 + len(shape)]
        columns = [(axis, start, lengths[axis]) for axis, start in enumerate(starts)]
        excuse: Excuse = "no"
    elif step.name == "gather":
        numbers = parameters["dimension_numbers"]
        columns = _columns(given[1], numbers.start_index_map, parameters["slice_sizes"])
        excuse = _excuse(step, bool(numbers.collapsed_slice_dims))
    elif step.name in _SCATTERS:
        numbers = parameters["dimension_numbers"]
        columns = _columns(given[1], numbers.scatter_dims_to_operand_dims, _windows(step, numbers, shape))
        excuse = _excuse(step, is_indexing=True)
    else:
        return
    for axis, column, length in columns:
        index, is_wrapped = _as_written(column, shape[axis], resolved)
        if index.names:
            yield Use(
                step, index, shape[axis], length, is_wrapped, excuse, axis, axes[0], tuple(shape), conditions
            )


def _columns(node: Node, axes: Sequence[int], lengths: Sequence[int]) -> list[tuple[int, Node, int]]:
    """List the numbers for each axis, which are put side by side."""
    parts: Sequence[Node] = (node,)
    if len(axes) > 1:
        parts = _parts(node)
        if len(parts) != len(axes):
            parts = [node if isinstance(node, Unknown) else Column(node, n) for n in range(len(axes))]
    return [(axis, part, lengths[axis]) for axis, part in zip(axes, parts, strict=True)]


def _parts(node: Node) -> Sequence[Node]:
    """List what a node is put together from, where it is a concatenation."""
    node = _bare(node)
    if isinstance(node, Unknown):
        return node.parts
    return node.inputs if isinstance(node, Made) and node.step.name == "concatenate" else ()


def _windows(step: Step, numbers: Any, shape: Sequence[int]) -> list[int]:
    """Return how many entries along each axis a scatter changes at one place."""
    single = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    updates = aval_of(step.eqn.invars[2]).shape
    sizes = iter([updates[axis] for axis in numbers.update_window_dims])
    return [1 if axis in single else next(sizes) for axis in range(len(shape))]


def _excuse(step: Step, is_indexing: bool) -> Excuse:
    """Read what `mode=` says; some functions of JAX, and `.at`, have the same mode without one."""
    mode = str(step.eqn.params["mode"])
    if "PROMISE" in mode:
        return "no"
    if "CLIP" in mode:  # which is also how JAX writes several `dynamic_slice` in one
        return "said" if is_indexing else "no"
    if step.name != "gather":
        return "perhaps"
    calls = {frame.eqn.params.get("name") for frame in step.frames}
    return "perhaps" if calls & {*_BY_DEFAULT} else "said"


def _as_written(node: Node, size: int, resolved: Callable[[Held, int | None], Held]) -> tuple[Node, bool]:
    """Return the numbers before JAX counts negative ones from the end of an axis, and whether it does."""
    bare = _bare(node)
    is_wrapped = False
    if isinstance(bare, Made) and bare.step.name == "select_n" and len(bare.inputs) == 3:
        _, written, moved = map(_bare, bare.inputs)
        if isinstance(moved, Made) and moved.step.name == "add":
            first, second = moved.inputs
            if _bare(first) is written and is_equal(second, size):
                bare, is_wrapped = _bare(written), True
    if isinstance(bare, Held) and not bare.name:
        found = resolved(bare, size)
        return found, is_wrapped or found.value is not bare.value
    return bare, is_wrapped


def _bare(node: Any) -> Node:
    """Return the node without changes of shape and width, which leave its numbers as they are."""
    while isinstance(node, Made) and node.step.name in _RESHAPES:
        if np.dtype(aval_of(node.step.eqn.invars[0]).dtype).kind not in "iu":
            break
        node = node.inputs[0]
    return node
