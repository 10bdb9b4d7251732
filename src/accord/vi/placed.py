"""Say where the sites of a density lie, to guides that treat sites differently."""

from ..density.layout import Entry, Layout
from ..guides.places import Place, Places


def places_of(layout: Layout) -> Places:
    """Return the places of the latent sites."""
    others: dict[str, list[str]] = {}
    for name, settled in layout.settable.items():
        others.setdefault(settled, []).append(name)
    return Places(tuple(_place(entry, others.get(entry.name, [])) for entry in layout.entries))


def _place(entry: Entry, names: list[str]) -> Place:
    plate = entry.plates[0] if entry.plates else ""
    return Place(
        entry.name,
        entry.start,
        entry.unconstrained_shape,
        plate,
        entry.dims.index(plate) if plate else 0,
        tuple(name for name in names if name != entry.name),
    )
