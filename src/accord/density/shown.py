"""Describe what draws show of a user's function: named values, and the names and labels of their axes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.tree_util as jtu
import numpy as np

from ..core.errors import DataError, suggest
from ..language.labels import read_labels
from ..language.messages.places import note_function
from ..language.naming import check_text
from .layout import Entry, Layout

Maps = Callable[[Any], Any]
Labels = tuple[tuple[str, tuple[Any, ...]], ...]


@dataclass(frozen=True, eq=False)
class Shown:
    """What a user gives beside a log density.

    **Fields**
    - `word`: the name of the public function, which begins its messages.
    - `constrain`, from a position to values by name; `unconstrain`, from values by the names of leaves to a position.
    - `dims`, names of axes by the name of a value; `coords`, labels by dim.
    - `observed`, `constant`: arrays that the function holds, by name. They are shown beside the draws.
    - `log_jacobian`, from a position to the part of the log density that comes from `constrain`; None if that is not
      known apart. `said`, from a position to why the function refuses it, in its own words, or an empty string.
    """

    word: str = "from_function"
    constrain: Maps | None = None
    unconstrain: Maps | None = None
    dims: Mapping[str, str | Sequence[str | None]] = field(default_factory=dict)
    coords: Mapping[str, Any] = field(default_factory=dict)
    observed: Mapping[str, np.ndarray] = field(default_factory=dict)
    constant: Mapping[str, np.ndarray] = field(default_factory=dict)
    log_jacobian: Maps | None = None
    said: Callable[[Any], str] | None = None

    def layout(self, leaves: Mapping[str, tuple[int, ...]], position: Any, dtype: np.dtype) -> Layout:
        """Arrange leaves, values and data.

        A leaf that `constrain` names is a latent site with the value of that name. Any other leaf is a `coordinate`,
        which no draw shows. What has no leaf is deterministic.

        **Arguments**: `leaves`, shapes by name; `position`, their tree with abstract values.

        **Raises** `DataError` for values that are no named arrays, and for dims and coords that do not fit them.
        """
        values = self._values(leaves, position, dtype)
        entries: list[Entry] = []
        start = 0
        for name, shape in leaves.items():
            stop = start + int(np.prod(shape))
            value = values.get(name)
            kind = "coordinate" if value is None else "latent"
            own, kept = (shape, str(dtype)) if value is None else (tuple(value.shape), str(value.dtype))
            entries.append(Entry(name, kind, own, kept, self._axes(name, own), start, stop, shape))
            start = stop
        entries += [
            Entry(name, "deterministic", value.shape, str(value.dtype), self._axes(name, value.shape))
            for name, value in values.items()
            if name not in leaves
        ]
        for kind, arrays in (("observed", self.observed), ("constant", self.constant)):
            entries += [
                Entry(name, kind, value.shape, str(value.dtype), self._axes(name, value.shape), source=name)
                for name, value in arrays.items()
            ]
        taken: set[str] = set()
        for entry in entries:
            if entry.name in taken:
                raise DataError(
                    f"{self.word}: {entry.name!r} names two things, of which one is an array of data."
                )
            taken.add(entry.name)
        self._check_dims({entry.name: entry for entry in entries if entry.kind != "coordinate"})
        layout = Layout(tuple(entries))
        return Layout(tuple(entries), self._labels(layout))

    def _values(self, leaves: Mapping[str, Any], position: Any, dtype: np.dtype) -> dict[str, Any]:
        if self.constrain is None:
            return {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape in leaves.items()}
        try:
            found = jax.eval_shape(self.constrain, position)
        except Exception as error:
            note_function(error, self.constrain)
            raise
        if not isinstance(found, Mapping) or not found:
            raise DataError(
                f'{self.word}: `constrain` returns values by name, as {{"tau": jnp.exp(position["tau"])}}; it returned '
                f"{found!r}."
            )
        for name, value in found.items():
            if not isinstance(name, str):
                raise DataError(
                    f"{self.word}: `constrain` names its values by strings; one is named {name!r}."
                )
            check_text(f"{self.word}: the name of a value of `constrain`", name, DataError)
            if np.dtype(getattr(value, "dtype", object)).kind not in "fiub":
                raise DataError(
                    f"{self.word}: the value {name!r} of `constrain` is {value!r}, not an array of real numbers."
                )
        return dict(found)

    def _axes(self, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
        given = self.dims.get(name, (None,) * len(shape))
        names = (given,) if isinstance(given, str) else tuple(given)
        if len(names) != len(shape):
            raise DataError(
                f"{self.word}: dims names {len(names)} ax{'is' if len(names) == 1 else 'es'} of {name!r} "
                f"({', '.join(map(repr, names))}), and its shape is {shape}. Give a name, or None, for each axis."
            )
        for each in names:
            if not isinstance(each, str | None):
                raise DataError(f"{self.word}: dims names axes by strings; of {name!r} it gives {each!r}.")
            check_text(f"{self.word}: a dim of {name!r}", each or "", DataError)
        return tuple(each or f"{name}_dim_{axis}" for axis, each in enumerate(names))

    def _check_dims(self, entries: Mapping[str, Entry]) -> None:
        for name in self.dims:
            if name not in entries:
                raise DataError(
                    f"{self.word}: dims names the axes of {name!r}, which draws do not show.{suggest(name, entries)} "
                    f"They show {', '.join(map(repr, entries))}."
                )
        sizes: dict[str, tuple[int, str]] = {}
        for entry in entries.values():
            for dim, size in zip(entry.dims, entry.shape, strict=True):
                other, owner = sizes.setdefault(dim, (size, entry.name))
                if other != size:
                    raise DataError(
                        f"{self.word}: the dim {dim!r} has size {other} in {owner!r} and {size} in {entry.name!r}. "
                        "Give the two axes different names in dims."
                    )

    def _labels(self, layout: Layout) -> Labels:
        sizes = layout.sizes
        found: list[tuple[str, tuple[Any, ...]]] = []
        for dim, given in self.coords.items():
            labels = read_labels(f"{self.word}: coords of {dim!r}", given)
            if dim not in sizes:
                raise DataError(
                    f"{self.word}: coords labels the dim {dim!r}, which no value has.{suggest(dim, sizes)} The dims "
                    f"are {', '.join(map(repr, sizes)) or 'none'}."
                )
            if len(labels) != sizes[dim]:
                raise DataError(
                    f"{self.word}: coords gives {len(labels)} labels for the dim {dim!r}, whose size is {sizes[dim]}."
                )
            found.append((dim, labels))
        return tuple(found)


def named_leaves(word: str, example: Any) -> tuple[dict[str, tuple[int, ...]], Any]:
    """Name the leaves of an example by their paths, `a/b`, or `x` for a bare array.

    **Returns** shapes by name, and the structure of the tree.

    **Raises** `DataError` for an example without arrays, and for leaves that are not real numbers.
    """
    paths, structure = jtu.tree_flatten_with_path(example)
    leaves: dict[str, tuple[int, ...]] = {}
    for path, leaf in paths:
        words = (str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", k)))) for k in path)
        name = "/".join(words) or "x"
        check_text(f"{word}: the name", name, DataError)
        if np.asarray(leaf).dtype.kind not in "fiu":
            raise DataError(
                f"{word}: leaf {name!r} of the example is {leaf!r}, not real numbers. Of complex ones give the real "
                "and imaginary parts as two leaves."
            )
        if name in leaves:
            raise DataError(f"{word}: two leaves of the example are called {name!r}. Rename one.")
        leaves[name] = np.shape(leaf)
    if not leaves:
        raise DataError(f"{word}: the example has no array; give one array for each unknown.")
    return leaves, structure
