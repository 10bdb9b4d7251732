"""Find, by the labels of dims, which entries of draws belong to the entries of a model.

A model that is called with other data may have its groups in another order, fewer of them, or new ones. All of this is
done on the host, with NumPy: a program sees arrays of the shapes that its model needs.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import SiteError, suggest
from ...report.labels import as_labels, written
from ..layout import Entry, Layout

Labels = tuple[Any, ...]
_SHOWN = 3  # labels in a message


@dataclass(frozen=True)
class Held:
    """The shape of a site's value in the draws, the `dims` of its axes, and their `labels`, or None."""

    shape: tuple[int, ...]
    dims: tuple[str, ...]
    labels: tuple[Labels | None, ...]

    @staticmethod
    def of(shape: Iterable[int], dims: Iterable[str] = (), labels: Mapping[str, Any] | None = None) -> "Held":
        """Describe a site by the names of its axes; `labels` by dim, of those with any, in memory or as written."""
        shape, dims = tuple(shape), tuple(dims)
        found = {dim: as_labels(each) for dim, each in (labels or {}).items() if dim in dims}
        of_axes = tuple(found.get(dim) for dim in dims) if dims else (None,) * len(shape)
        return Held(shape, dims or ("",) * len(shape), of_axes)

    def described(self) -> dict[str, Any]:
        """Write it as JSON keeps it."""
        return {
            "shape": list(self.shape),
            "dims": list(self.dims),
            "labels": [None if each is None else written(np.asarray(each)) for each in self.labels],
        }

    @staticmethod
    def stored(described: Mapping[str, Any]) -> "Held":
        """Read what `described` has written."""
        labels = tuple(None if each is None else as_labels(each) for each in described["labels"])
        return Held(tuple(described["shape"]), tuple(described["dims"]), labels)


@dataclass(frozen=True, eq=False)
class Taking:
    """The entries of draws that a site takes: along each axis their places, -1 for new ones, or None for all."""

    axes: tuple[np.ndarray | None, ...]

    @property
    def is_new(self) -> bool:
        """Return whether the site has entries that the draws do not hold."""
        return any(places is not None and bool((places < 0).any()) for places in self.axes)

    def is_known(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return which entries of a site of this shape the draws hold."""
        known = np.ones(shape, bool)
        for axis, places in enumerate(self.axes):
            if places is not None:
                known &= (places >= 0).reshape((-1,) + (1,) * (len(shape) - axis - 1))
        return known

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Take the entries out of values, whose last axes are those of the site; an entry that they lack is zero."""
        first = values.ndim - len(self.axes)
        for axis, places in enumerate(self.axes, start=first):
            if places is None:
                continue
            if not values.shape[axis]:
                shape = (*values.shape[:axis], len(places), *values.shape[axis + 1 :])
                values = np.zeros(shape, values.dtype)
                continue
            values = np.take(values, np.maximum(places, 0), axis=axis)
            values[(slice(None),) * axis + (places < 0,)] = 0
        return values


def taking_of(entry: Entry, layout: Layout, held: Held) -> Taking:
    """Find the entries of the draws that a site of the model takes, by the labels that both have, else by place.

    **Raises** `SiteError` where the entries that it would take make no value of the site: some of an event that is one
    thing, or steps of a scan in another order.
    """
    if len(entry.shape) != len(held.shape):
        return Taking((None,) * len(held.shape))
    given = dict(layout.labels)
    axes = tuple(map(_places, held.labels, map(given.get, entry.dims)))
    first_event = len(entry.shape) - entry.num_event
    for axis, places in enumerate(axes):
        if places is None:
            continue
        if axis < entry.num_steps:
            _check_steps(entry, axis, places, held)
        elif axis >= first_event and (places >= 0).all():
            _check_event(entry, axis, axes, held)
    return Taking(axes)


def check_follows(layout: Layout, held: Mapping[str, Held], taken: Collection[str]) -> None:
    """Refuse reparameterised sites whose labels moved, unless their auxiliaries move with them.

    `taken`: the latent sites that have values of draws.

    **Raises** `SiteError`.
    """
    latents = layout.settable
    for entry in layout.sites:
        if entry.kind != "deterministic" or not entry.distribution or entry.name not in held:
            continue  # it does not follow from another by a map of the handlers'
        if len(held[entry.name].shape) != len(entry.shape) or (
            entry.auxiliary and latents.get(entry.name) not in taken
        ):
            continue
        _check_follows(entry, layout, held)


def _check_follows(entry: Entry, layout: Layout, held: Mapping[str, Held]) -> None:
    given, auxiliary = dict(layout.labels), held.get(entry.auxiliary)
    first_event = len(entry.shape) - entry.num_event
    for axis, (dim, known) in enumerate(zip(entry.dims, held[entry.name].labels, strict=True)):
        if _places(known, given.get(dim)) is None:
            continue
        # Along the axes of an event the map from the auxiliary may mix entries, as a matrix does.
        apart = zip(auxiliary.dims, auxiliary.labels, strict=True) if auxiliary and axis < first_event else ()
        for other, labels in apart:
            if other == dim and labels == known:
                break
        else:
            raise SiteError(
                f"site {entry.name!r}: it is sampled by way of {entry.auxiliary or 'another site'!r}, whose entries "
                f"are not those of {dim!r} one by one. So the draws cannot be put into another order of its labels: "
                f"call the model with those of the draws, in their order: {_listed(known or ())}."
            )


def unknown_labels(entry: Entry, layout: Layout, held: Held, taking: Taking) -> str:
    """Say which labels of a site the draws do not know, and which ones they know; without a remedy."""
    axis, places = next((i, p) for i, p in enumerate(taking.axes) if p is not None and (p < 0).any())
    dim = entry.dims[axis]
    labels: Labels = dict(layout.labels)[dim]
    known: Labels = held.labels[axis] or ()
    new = [label for label, place in zip(labels, places.tolist(), strict=True) if place < 0]
    near = next((hint for label in new[:_SHOWN] if (hint := suggest(str(label), map(str, known)))), "")
    kinds = ""
    if {type(each) for each in new}.isdisjoint(map(type, known)) and {*map(str, new)} & {*map(str, known)}:
        kinds = f" They are of type {type(new[0]).__name__} here and {type(known[0]).__name__} there."
        near = ""
    word = (
        "scan" if axis < entry.num_steps else "dim" if axis >= len(entry.shape) - entry.num_event else "plate"
    )
    return (
        f"the {word} {dim!r} has {len(new)} label{'s' * (len(new) != 1)} that the draws do not know: {_listed(new)}. "
        f"They know {len(known)}: {_listed(known)}.{near}{kinds}"
    )


def words_of(labels: Sequence[Any]) -> np.ndarray:
    """Compute two words for each label, shape `(label, 2)`, by which its random numbers are keyed."""
    digests = (hashlib.sha256(_canonical(label).encode()).digest()[:8] for label in labels)
    return np.frombuffer(b"".join(digests), "<u4").reshape(-1, 2).astype(np.uint32)


def _places(known: Labels | None, wanted: Labels | None) -> np.ndarray | None:
    if known is None or wanted is None or known == wanted:
        return None
    index = {label: place for place, label in enumerate(known)}
    return np.array([index.get(label, -1) for label in wanted], int)


def _check_steps(entry: Entry, axis: int, places: np.ndarray, held: Held) -> None:
    known = places[places >= 0]
    if np.array_equal(known, np.arange(len(known))) and (places[: len(known)] >= 0).all():
        return
    raise SiteError(
        f"site {entry.name!r}: the labels of the scan {entry.dims[axis]!r} must be the first labels of the draws, in "
        f"their order ({_listed(held.labels[axis] or ())}). A step depends on the steps before it, so none can be left "
        "out or moved: call the model with the steps of the draws, in their order."
    )


def _check_event(entry: Entry, axis: int, axes: tuple[np.ndarray | None, ...], held: Held) -> None:
    places = axes[axis]
    is_whole = places is not None and len(places) == held.shape[axis]
    if entry.taken == "any" or (entry.taken == "all" and is_whole):
        return
    first, second = axes[-2:] if len(axes) > 1 else (None, None)
    if entry.taken == "alike" and first is not None and second is not None and np.array_equal(first, second):
        return
    raise SiteError(
        f"site {entry.name!r}: its value is a whole, so its entries along {entry.dims[axis]!r} cannot be left out or "
        f"moved ({entry.distribution}). Call the model with the labels of the draws, in their order: "
        f"{_listed(held.labels[axis] or ())}."
    )


def _canonical(label: Any) -> str:
    """Write a label as a text that is the same for equal labels."""
    if isinstance(label, str):
        return repr(label)
    if isinstance(label, np.datetime64):
        return str(label.astype("datetime64[us]"))
    return repr(int(label)) if float(label).is_integer() else repr(float(label))


def _listed(labels: Iterable[Any]) -> str:
    every = [*labels]
    shown = [str(each) if isinstance(each, np.datetime64) else repr(each) for each in every[:_SHOWN]]
    return ", ".join(shown) + (", ..." if len(every) > _SHOWN else "")
