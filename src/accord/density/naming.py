"""Name the axes of sites, and collect the labels of their entries."""

from typing import Any

from ..core.errors import ModelError, SiteError
from ..language import Site
from ..language.site import Frame
from .layout import Entry


def dims_of(site: Site, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Name each axis of a site's value: by scan or plate, by the site's own dims, else `{site}_dim_{axis}`.

    The batch axes of a deterministic site are not known: they are the rightmost place where all plates around it fit.

    **Raises** `SiteError` where a site's dims are not one for each axis without a plate, or have other labels than
    entries.
    """
    whole, first = shape, len(site.steps)
    shape = shape[first:]  # of one step
    if site.distribution is not None:
        num_event = len(site.distribution.event_shape)
    else:
        num_event = next((n for n in range(len(shape) + 1) if _fit(site.plates, shape, n)), len(shape))
    names = {frame.dim: frame.name for frame in site.plates}
    num_batch = len(shape) - num_event
    free = [axis for axis in range(len(shape)) if axis - num_batch not in names or axis >= num_batch]
    if site.dims and len(site.dims) != len(free):
        sizes = ", ".join(str(shape[axis]) for axis in free) or "none"
        raise SiteError(
            f"site {site.name!r} (at {site.where}): dims names {len(site.dims)} axes, but the value has shape {whole}, "
            f"of which no plate{' or scan' * bool(first)} has {len(free)} (sizes: {sizes}). Give one "
            "name for each of these, from left to right."
        )
    own: dict[int, str] = {}
    for axis, (name, labels) in zip(free, site.dims, strict=False):
        if labels is not None and len(labels) != shape[axis]:
            raise SiteError(
                f"site {site.name!r} (at {site.where}): the dim {name!r} has {len(labels)} labels for {shape[axis]} "
                "entries. Give one for each."
            )
        own[axis] = name
    of_step = tuple(
        own.get(axis, f"{site.name}_dim_{first + axis}") if axis in free else names[axis - num_batch]
        for axis in range(len(shape))
    )
    return (*(frame.name or f"{site.name}_dim_{axis}" for axis, frame in enumerate(site.steps)), *of_step)


def labels_of(sites: list[Site]) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Collect the labels that plates, scans and sites gave to their dims.

    **Raises** `SiteError` when two plates or scans of one name differ in size or labels, a dim has two sets of labels,
    or a plate, scan or dim has the name of a site.
    """
    frames: dict[str, Frame] = {}
    names = {site.name for site in sites}
    for site in sites:
        for frame in (*site.plates, *(frame for frame in site.steps if frame.name)):
            known, word = frames.setdefault(frame.name, frame), "plate" if frame.dim else "scan"
            if known.size != frame.size or known.coords != frame.coords:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): the {word} {frame.name!r} has size {frame.size} here and "
                    f"{known.size} before, or other coords. Give different {word}s different names."
                )
            if frame.name in names:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): the {word} {frame.name!r} has the name of a site, and "
                    f"would be both a dimension and a variable of the draws. Rename it, say to '{frame.name}_{word}'."
                )
    found = {name: frame.coords for name, frame in frames.items() if frame.coords is not None}
    for site in sites:
        for dim, labels in site.dims:
            if dim in names:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): the dim {dim!r} has the name of a site, and would be both "
                    f"a dimension and a variable of the draws. Rename it, say to '{dim}_dim'."
                )
            if labels is not None and found.setdefault(dim, labels) != labels:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): the dim {dim!r} has other labels here than before. Give "
                    "them once; the same name elsewhere has them too."
                )
    return tuple(found.items())


def check_dims(entries: tuple[Entry, ...]) -> None:
    """Raise `ModelError` if a dim has two sizes, which would leave draws without one set of coords."""
    sizes: dict[str, int] = {}
    for entry in entries:
        for dim, size in zip(entry.dims, entry.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ModelError(
                    f"site {entry.name!r}: the dim {dim!r} has size {size} here and {sizes[dim]} elsewhere. "
                    "Rename one of them."
                )


def _fit(plates: tuple[Frame, ...], shape: tuple[int, ...], num_event: int) -> bool:
    axes = [(len(shape) - num_event + frame.dim, frame.size) for frame in plates]
    return all(axis >= 0 and shape[axis] == size for axis, size in axes)
