"""Compare the numbers by which a model indexes with the axes, and raise where one does not fit."""

import ast
import linecache
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.core import Tracer

from ...core.errors import DataError
from ...core.notice import Notice
from ...core.precision import Precision, scope
from ..host import ROUNDINGS, UnevaluableError
from ..lines import line_of
from ..rows.row_files import pieces_in_memory
from .evaluate import Evaluator
from .find import Uses
from .nodes import Given, Held, Known, Unknown, leaves
from .uses import Condition, Use
from .words import Wrong, message


def check_indices(uses: Uses, data: Mapping[str, Any], precision: Precision) -> tuple[Notice, ...]:
    """Raise `DataError` for the first index that is not inside of its axis.

    Returns a notice for each line of which that is not known: its index is computed from data in a way that cannot be
    followed, or does not fit and stands in a branch of which one cannot say whether it is taken.
    Of data that JAX is tracing nothing is said: who is around has looked at them, or will.

    **Arguments**
    - `data`: all arguments of the model by name.
    """
    found: dict[Notice, None] = {}
    with scope(precision):
        numbers = _OnDemand(data)
        evaluate, *others = (Evaluator(numbers, rounding) for rounding in (None, *ROUNDINGS))
        for use in uses.all:
            if any(isinstance(data.get(name), Tracer) for name in use.index.names):
                continue
            notice = _judged(use, evaluate, others, data)
            if notice is not None:
                found[notice] = None
    return tuple(found)


def _judged(
    use: Use, evaluate: Evaluator, others: Sequence[Evaluator], data: Mapping[str, Any]
) -> Notice | None:
    """Raise where an index does not fit; return a notice where that is not known."""
    if isinstance(use.index, Unknown):
        return None if use.index.is_latent else _not_followed(use)
    try:
        is_taken, wrong = _found(use, use.index, evaluate, data)
        if not _is_exact(use):
            for other in others:
                is_taken_there, wrong_there = _found(use, use.index, other, data)
                if (is_taken_there, wrong_there is None) != (is_taken, wrong is None):
                    return _on_an_edge(use)
    except UnevaluableError:
        return _not_followed(use)
    if wrong is None:
        return None
    if not is_taken:
        return _perhaps_wrong(wrong)
    raise DataError(message(wrong))


def _found(use: Use, index: Known, evaluate: Evaluator, data: Mapping[str, Any]) -> tuple[bool, Wrong | None]:
    """Find what is wrong with an index, and whether it is known that the branches in which it is are taken."""
    wrong = _first_wrong(use, index, evaluate, data, if_unknown=False)
    if wrong is not None or not use.conditions:
        return True, wrong
    return False, _first_wrong(use, index, evaluate, data, if_unknown=True)


def _is_exact(use: Use) -> bool:
    """Return whether NumPy gets the same bits as the program, for an index and for the branches that lead to it."""
    nodes = (use.index, *(condition.which for condition in use.conditions))
    return all(isinstance(node, Unknown) or node.is_exact for node in nodes)


class _OnDemand(Mapping[str, Any]):
    """Data in memory; data in files are read when they are asked for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, name: str) -> Any:
        pieces = [*pieces_in_memory(self._data[name])]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def __iter__(self) -> Any:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)


def _first_wrong(
    use: Use, index: Known, evaluate: Evaluator, data: Mapping[str, Any], *, if_unknown: bool
) -> Wrong | None:
    """Find the first number that is not inside of its axis, with what there is to say about all of them.

    `if_unknown`: whether branches count as taken of which that is not known.
    """
    numbers = evaluate(index)
    if numbers.dtype.kind not in "iu" or not numbers.size:
        return None
    last = use.size - use.length
    if numbers.min() >= 0 and numbers.max() <= last:
        return None
    is_negative, is_beyond = numbers < 0, numbers > last
    if use.excuse == "said" or (use.excuse == "perhaps" and _says_mode(use)):
        # What happens beyond an axis has been said. JAX counts negative numbers from the end before that.
        is_negative, is_beyond = is_negative & use.is_wrapped, np.zeros_like(is_beyond)
    is_wrong = (is_negative | is_beyond) & _is_reached(use, index, evaluate, numbers.ndim, if_unknown)
    if not is_wrong.any():
        return None
    sources = leaves(index)
    source = evaluate(sources[0]) if len(sources) == 1 else None
    is_computed = source is None or not _is_padded(numbers, source)
    if source is not None and not is_computed:
        is_wrong_there = is_wrong.ravel()[: source.size].reshape(source.shape)
        is_computed = not is_wrong_there.any()
        if not is_computed:  # each row once, as the user has them
            numbers, is_wrong = source, is_wrong_there
    place = tuple(int(i) for i in np.argwhere(is_wrong)[0])
    has_row = source is not None and is_computed and source.shape == numbers.shape
    return Wrong(
        sources=tuple((each.name, _is_argument(each, data)) for each in sources),
        is_computed=is_computed,
        place=place,
        value=int(numbers[place]),
        value_of_source=source[place].item() if has_row and source is not None else None,
        num_wrong=int(is_wrong.sum()),
        numbers=numbers,
        last=last,
        use=use,
        where=line_of(use.step),
    )


def _is_padded(numbers: np.ndarray, source: np.ndarray) -> bool:
    """Return whether numbers are those of an argument in another shape, with padding behind them."""
    return numbers.size >= source.size and np.array_equal(numbers.ravel()[: source.size], source.ravel())


def _is_reached(use: Use, index: Known, evaluate: Evaluator, rank: int, if_unknown: bool) -> np.ndarray:
    """Return where the branches are taken in which an index stands, with one entry for each of its turns."""
    is_reached = np.ones([1] * rank, bool)
    for condition in use.conditions:
        which = condition.which
        if isinstance(which, Unknown):
            is_reached = is_reached & (if_unknown or which.is_of_sites)
            continue
        taken, loops = _is_taken(condition, which, evaluate, if_unknown), list(which.loops)
        for loop in [loop for loop in loops if loop not in index.loops]:
            taken = np.logical_or.reduce(taken, axis=loops.index(loop))
            loops.remove(loop)
        shape = [1] * rank
        for size, loop in zip(taken.shape, loops, strict=True):
            shape[index.loops.index(loop)] = size
        is_reached = is_reached & taken.reshape(shape)
    return is_reached


def _is_taken(condition: Condition, which: Known, evaluate: Evaluator, if_unknown: bool) -> np.ndarray:
    try:
        number = evaluate(which)
    except UnevaluableError:
        return np.full([1] * len(which.loops), if_unknown)
    return np.clip(number.astype(int), 0, condition.count - 1) == condition.number


def _is_argument(source: Given | Held, data: Mapping[str, Any]) -> bool:
    return isinstance(source, Given) or source.name in data


def _says_mode(use: Use) -> bool:
    """Return whether the user's line has a call with `mode=`; the trace cannot tell that from JAX's default."""
    file, _, number = line_of(use.step)[0].rpartition(":")
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return False
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.lineno <= int(number or 0) <= (node.end_lineno or 0)
    ]
    return any(keyword.arg == "mode" for call in calls for keyword in call.keywords)


def _perhaps_wrong(wrong: Wrong) -> Notice:
    return Notice(
        "info",
        "index_not_checked",
        "An index does not fit its axis, in a branch or loop of which is not known before the run whether it is gone "
        f"through. If it is: {message(wrong)}",
        "Where it never is, leave it out by a Python `if`, or give it an index that fits.",
    )


def _on_an_edge(use: Use) -> Notice:
    return Notice(
        "info",
        "index_not_checked",
        f"The index of {_axis(use)} is computed from {_names(use)}, and the rounding of the last digit decides whether "
        "it is inside of the axis. The check before the run may round otherwise than the run does.",
        "Round it in the model, as by `jnp.round`, or compute the index outside of the model and pass it.",
    )


def _not_followed(use: Use) -> Notice:
    by = f", by `{use.index.by}`," if isinstance(use.index, Unknown) and use.index.by else ""
    return Notice(
        "info",
        "index_not_checked",
        f"The index of {_axis(use)} is computed from {_names(use)}{by} in a way that is not followed "
        "before the run, so whether it is inside of the axis is not known.",
        "Compute the index outside of the model and pass it, and it is checked.",
    )


def _axis(use: Use) -> str:
    axis = use.axes.describe(use.axis, use.size) if use.axes else f"an axis of size {use.size}"
    return f"{axis} at {line_of(use.step)[0]}"


def _names(use: Use) -> str:
    return ", ".join(map(repr, sorted(use.index.names)))
