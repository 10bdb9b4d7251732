"""Find the line to write where the shapes of a site do not fit each other."""

import itertools
import math
from dataclasses import replace

from ..site import Frame, Site

Shape = tuple[int, ...]


def for_value(site: Site, found: Shape, batch: Shape, event: Shape) -> str:
    """Say what to write where a value has shape `found` and the site needs `batch + event`."""
    site = replace(site, name=site.name.rpartition("/")[2])  # as the model that holds the statement has it
    wanted, extra = (*batch, *event), len(found) - len(batch) - len(event)
    if extra > 0 and found[extra:] == wanted:
        return (
            f"If the entries are independent, say so: `{_plates_line(site.name, found[:extra], len(batch))}`."
        )
    if extra < 0 and wanted[-extra:] == found and _is_outer(wanted, len(found)):
        return (
            f"Parameters of shape {(*found, 1)} and {found} make {wanted} between them: drop the trailing dimension of "
            "1 where they are computed, by `[:, 0]`."
        )
    if math.prod(found) == math.prod(wanted):
        return _rearranged(site, found, wanted)
    if not found:
        return (
            f"Nothing is broadcast into a log density: give one value for each entry, `jnp.full({wanted}, value)` if "
            "all are the same."
        )
    if extra == 0 and event and found[: len(batch)] == batch:
        return f"One event has shape {event} by the parameters and {found[len(batch) :]} in the value: make them agree."
    if extra == 0:
        return _resized(site, found, batch)
    if extra > 0:
        return (
            "The value has more dimensions than the site: reshape the parameters, or add plates of its sizes."
        )
    return "Nothing is broadcast into a log density: give one value for each entry, or index the parameters."


def for_parameters(plates: tuple[Frame, ...], own: Shape) -> str:
    """Say what to write where the batch shape that the parameters make, `own`, does not fit the plates."""
    found = []
    dims = _dims_of(plates, own)
    if dims:
        line = ", ".join(
            f'ac.plate("{plate.name}", {plate.size}, dim={dim})'
            for plate, dim in zip(plates[::-1], dims[::-1], strict=True)
        )
        found.append(f"If the plates are to follow the parameters, give them their dims: `with {line}:`.")
    num_event = next((n for n in range(1, len(own) + 1) if _fits(plates, own[: len(own) - n])), 0)
    if num_event:
        axes = f"axis, of {own[-1]}," if num_event == 1 else f"{num_event} axes, of {own[-num_event:]},"
        found.append(
            f"If the last {axes} {'is' if num_event == 1 else 'are'} one event for each entry of the plates, end the "
            f"distribution with `.to_event({num_event})`."
        )
    if not dims:
        wrong = next(plate for plate in plates if not _fits((plate,), own))
        size = own[wrong.dim]
        found.append(
            f"If entries share parameters, index them, `theta[group]`, by {wrong.size} integers below {size}. If the "
            f"plate is wrong, give the plate the size {size}."
        )
    return " ".join(found)


def for_factor(found: Shape, wanted: Shape) -> str:
    """Say what to write where a factor has shape `found` inside of plates that make `wanted`."""
    if len(found) > len(wanted) and found[: len(wanted)] == wanted:
        axes = tuple(range(len(wanted) - len(found), 0))
        return f"Sum over the axes that no plate has: `.sum({axes[0] if len(axes) == 1 else axes})`."
    return "Move it out of the plate, or give it one value for each entry."


def _plates_line(name: str, sizes: Shape, num_batch: int) -> str:
    """Write a statement that adds dimensions to the left of the existing ones."""
    if len(sizes) == 1 and not num_batch:
        return f'with ac.plate("{name}_plate", {sizes[0]}):'
    names = [f"{name}_plate"] if len(sizes) == 1 else [f"{name}_plate_{i}" for i in range(len(sizes))]
    each = [
        f'ac.plate("{plate}", {size}, dim={i - len(sizes) - num_batch})'
        for i, (plate, size) in enumerate(zip(names, sizes, strict=True))
    ]
    return f"with {', '.join(each)}:"


def _is_outer(wanted: Shape, length: int) -> bool:
    """Return whether a shape is that of a table of rows by rows."""
    return length == 1 and len(wanted) == 2 and wanted[0] == wanted[1]


def _rearranged(site: Site, found: Shape, wanted: Shape) -> str:
    """Say what to write for as many entries in another shape."""
    same = f"Both have {math.prod(found)} entries in another arrangement: "
    if tuple(n for n in found if n != 1) == tuple(n for n in wanted if n != 1):
        if len(found) > len(wanted):
            return f"{same}reshape the value, `{site.name}.reshape({wanted})`, or give the parameters shape {found}."
        return f"{same}make the parameters' shape {found} (drop a trailing dimension of 1, for instance by `[:, 0]`)."
    if found == wanted[::-1]:
        swap = (
            " or enter the plates the other way round: the first one is the last axis" if site.plates else ""
        )
        return f"{same}transpose the value, `{site.name}.T`,{swap}."
    if sorted(found) == sorted(wanted):
        return f"{same}bring its axes into the order of the plates by `jnp.transpose`."
    return f"{same}reshape the value or the parameters."


def _resized(site: Site, found: Shape, batch: Shape) -> str:
    """Say what to write for other sizes of as many axes."""
    own = () if site.distribution is None else tuple(site.distribution.batch_shape)
    for plate in site.plates:
        axis = len(batch) + plate.dim
        # A distribution that was expanded has the plate's size; the value's is then the one to ask for.
        if found[axis] != plate.size and (own == batch or -plate.dim > len(own)):
            return (
                f"If the data are right, take the plate's size from them: "
                f'`ac.plate("{plate.name}", {site.name}.shape[{axis}])`. If the plate is, give it {plate.size} values.'
            )
    return (
        "Nothing is broadcast into a log density: give one value for each entry, or index the parameters by an array "
        f"of {found} integers, as in `theta[group]`."
    )


def _fits(plates: tuple[Frame, ...], own: Shape) -> bool:
    return all(-plate.dim > len(own) or own[plate.dim] in (1, plate.size) for plate in plates)


def _dims_of(plates: tuple[Frame, ...], own: Shape) -> tuple[int, ...]:
    """Return the dims at which all plates have their size in `own`, if there is one way only."""
    sizes = [plate.size for plate in plates]
    ways = [
        dims
        for dims in itertools.permutations(range(-len(own), 0), len(plates))
        if [own[dim] for dim in dims] == sizes
    ]
    return ways[0] if len(ways) == 1 else ()
