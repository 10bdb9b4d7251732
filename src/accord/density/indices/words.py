"""Say which number of the data does not fit the axis that it indexes, and what to do."""

from dataclasses import dataclass

import numpy as np

from .uses import Use


@dataclass(frozen=True, eq=False)
class Wrong:
    """A number that is not inside of its axis.

    **Fields**
    - `sources`: the data that the index is computed from: names, and whether they are arguments.
    - `is_computed`: whether the index is other than its source. `value_of_source`: what the source is there.
    - `place`, `value`: where among `numbers`, and which. `num_wrong`: how many there are.
    - `last`: the largest index that fits. `use`: what is indexed. `where`: place and text of the line.
    """

    sources: tuple[tuple[str, bool], ...]
    is_computed: bool
    place: tuple[int, ...]
    value: int
    value_of_source: float | None
    num_wrong: int
    numbers: np.ndarray
    last: int
    use: Use
    where: tuple[str, str]


def message(wrong: Wrong) -> str:
    """Write the message of the error."""
    use = wrong.use
    axis = use.axes.describe(use.axis, use.size) if use.axes else _of_shape(use)
    place, text = wrong.where
    at = f", at {place}" + (f" `{text}`" if text else "") if place else ""
    return f"{_found(wrong)}, and indexes {axis}{at}. {_range(wrong)}{_consequence(wrong)} {_remedy(wrong)}"


def _of_shape(use: Use) -> str:
    of = "" if len(use.shape) == 1 else f" of an array of shape {use.shape}"
    return f"axis {use.axis}, of size {use.size},{of}" if of else f"an axis of size {use.size}"


def _found(wrong: Wrong) -> str:
    """Say which number it is, where, and of which argument."""
    if len(wrong.sources) == 1:
        name, is_argument = wrong.sources[0]
        who = f"argument {name!r}" if is_argument else f"array {name!r}, which the model's code holds"
    else:
        who = "arguments " + " and ".join(repr(name) for name, _ in wrong.sources)
    pairs = zip(wrong.place, wrong.numbers.shape, strict=True)
    place = tuple(i for i, size in pairs if size > 1 or wrong.numbers.ndim == 1)
    row = f"row {place[0]}" if len(place) == 1 else f"entry {place}" if place else ""
    if not wrong.is_computed:
        return f"{who}: {row} is {wrong.value}" if row else f"{who} is {wrong.value}"
    if wrong.value_of_source is not None:
        is_there = f"{row} is" if row else "it is"
        return f"{who}: {is_there} {wrong.value_of_source:g}, from which the model computes {wrong.value}"
    return (
        f"{who}: the model computes an index from {'it' if len(wrong.sources) == 1 else 'them'}, of which "
        + (f"{row} is {wrong.value}" if row else f"the value is {wrong.value}")
    )


def _range(wrong: Wrong) -> str:
    total = wrong.numbers.size
    count = f" ({wrong.num_wrong} of {total} are not)" if total > 1 else ""
    first = "It must be 0" if wrong.last == 0 else f"It must be from 0 to {wrong.last}"
    if wrong.use.length > 1:
        first += f", since {wrong.use.length} entries are taken from there"
    return f"{first}{count}. "


def _consequence(wrong: Wrong) -> str:
    """Say what JAX would do, without a warning."""
    use, value = wrong.use, wrong.value
    entry = value
    if value < 0 and use.is_wrapped:
        entry = value + use.size
    if 0 <= entry <= wrong.last:
        return f"JAX would count from the end and take entry {entry}."
    mode = str(use.step.eqn.params.get("mode", ""))
    if use.step.name.startswith("scatter"):
        return "JAX would leave it out."
    if "FILL" in mode:
        return "JAX would put NaN there."
    return f"JAX would take entry {min(max(entry, 0), wrong.last)} in its place."


def _remedy(wrong: Wrong) -> str:
    numbers, size = wrong.numbers, wrong.use.size
    name = _as_code(wrong.sources[0][0]) if len(wrong.sources) == 1 else ""
    index = name if name and (not wrong.is_computed or wrong.value_of_source == wrong.value) else "index"
    low, high = int(numbers.min()), int(numbers.max())
    if wrong.use.length == 1 and low >= 1 and high == size:
        count = f"The values are {low} to {high}: they count from 1. " if high > low else ""
        return f"{count}Subtract 1{f', as in `{index} - 1`' if index == name else ' from the index'}."
    if wrong.value == -1 and wrong.value_of_source == 0:
        return f"The values of {name!r} count from 0 as they are: subtract nothing."
    if low < 0 and not np.any(numbers[numbers < 0] != -1) and wrong.value == -1:
        return (
            "-1 is the missing code of `pandas.factorize` and of categoricals. Leave these rows out of the data; or "
            f"give them any index, `jnp.where({index} < 0, 0, {index})`, and hide them, "
            f"`with handlers.mask(mask={index} >= 0):`. A constant such as `a[-1]` may count from the end."
        )
    if wrong.value < 0:
        return "An index of data must not count from the end; add the size of the axis where that is meant."
    return (
        f"Number the labels from 0 without gaps, as `np.unique(labels, return_inverse=True)` does, or make the axis "
        f"longer: the largest index is {high}."
    )


def _as_code(name: str) -> str:
    """Write an argument that is in a tree as the user may write it."""
    *before, last = name.split("/")
    return last if last.isidentifier() or not before else f"{before[-1]}[{last}]"
