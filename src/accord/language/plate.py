"""Declare the entries of a batch dimension independent given what is outside of it."""

import contextlib
import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from jax.core import Tracer

from ..core.errors import ModelError, OptionError, SiteError
from ..core.options import checks_options, positive_count
from ..distributions.wrappers.entries import AbstractEntries
from .handler import AbstractHandler
from .handlers.scope import Scope
from .interpreter import enter, handlers_around, leave, visit
from .labels import read_labels
from .messages.places import caller, note_plates
from .naming import check_text
from .part import Settled, part_of
from .site import Frame, Site


@checks_options
def plate(
    name: str,
    size: int,
    *,
    dim: int | None = None,
    subsample_size: int | None = None,
    coords: Sequence[Any] | None = None,
    chunk: int | None = None,
) -> "Plate":
    """Repeat the statements inside of a `with` as `size` independent copies, along one batch dimension.

    Sample sites inside get the dimension; the draws carry its name and `coords`. `with` gives the indices
    `0 ... size - 1`, shape `(size,)`.

    **Arguments**
    - `name`: of the dimension in the results; different from every site's name.
    - `size`: number of copies, at least 0.
    - `dim`: the batch dimension, counted from the right (-1, -2, ...); by default the first free one.
    - `subsample_size`: take so many of the copies at random, without replacement, and weigh log densities by
      size / subsample_size; `with` gives their indices, and `ac.subsample` their data. For models that are drawn from
      by `handlers.seed`, and for samplers that take a new part at each step, such as `infer.SGLD`; a log density has
      all copies. None, or `size`, is all.
    - `coords`: `size` different labels: strings, numbers or dates; by default 0, 1, ... A list, an array, an index or a
      column of a data frame. The results have them, and draws are matched by them with new data, whose labels may be
      in another order.
    - `chunk`: evaluate at most so many copies at a time, >= 1, which needs less memory; None is all at once. What has
      an entry for each copy must then be an argument of the model, with exactly one axis of this size.

    **Raises** `OptionError` for a size, dim, coords or chunk that cannot be; `ModelError` outside of a model, or for a
    name or dim that a plate around it has taken.

    **Example**

    >>> @ac.model
    ... def counts(y):
    ...     with ac.plate("site", 2, coords=["north", "south"]):
    ...         rate = ac.sample("rate", dist.Gamma(2, 1))
    ...         with ac.plate("day", y.shape[0]):
    ...             ac.sample("y", dist.Poisson(rate), obs=y)
    >>> print(counts(np.array([[1, 0], [3, 2], [2, 2]])).sites())
    site  kind      shape   dims       distribution
    rate  latent    (2,)    site       Gamma
    y     observed  (3, 2)  day, site  Poisson
    """
    if not isinstance(name, str):
        raise OptionError(f"plate: the name must be a string, got {name!r}. Write `ac.plate(name, size)`.")
    check_text("plate: the name", name, OptionError)
    if isinstance(size, bool):
        raise OptionError(f"plate {name!r}: the size must be an integer, got {size!r}.")
    try:
        size = operator.index(size)
    except TypeError as error:
        if _is_traced_integer(size):
            raise  # a traced number: the density makes the argument that it came from a constant
        raise OptionError(f"plate {name!r}: the size must be an integer, got {_described(size)}.") from error
    if size < 0:
        raise OptionError(f"plate {name!r}: the size must be at least 0, got {size}.")
    if dim is not None and (not isinstance(dim, int) or dim >= 0):
        raise OptionError(f"plate {name!r}: dim counts from the right, -1, -2, ...; got {dim!r}.")
    labels = None if coords is None else read_labels(f"plate {name!r}: coords", coords)
    if labels is not None and len(labels) != size:
        raise OptionError(
            f"plate {name!r}: coords has {len(labels)} labels for size {size}. Give one for each entry."
        )
    if chunk is not None:
        chunk = positive_count(f"plate {name!r}: chunk", chunk)
    if (
        subsample_size is not None
        and positive_count(f"plate {name!r}: subsample_size", subsample_size) > size
    ):
        raise OptionError(
            f"plate {name!r}: subsample_size is {subsample_size}, which is more than the size {size}."
        )
    return Plate(name, size, dim, labels, chunk, subsample_size)


@checks_options
@contextlib.contextmanager
def plate_stack(prefix: str, sizes: Sequence[int], *, rightmost_dim: int = -1) -> Iterator[None]:
    """Enter one plate for each of `sizes`: their batch dimensions are the axes of an array of that shape.

    **Arguments**
    - `prefix`: the plates are `{prefix}_0`, `{prefix}_1`, ..., counted from the right.
    - `sizes`: from left to right.
    - `rightmost_dim`: the batch dimension of the last one, counted from the right (-1, -2, ...).

    **Raises** as `plate` does.

    **Example**

    >>> @ac.model
    ... def image():
    ...     with ac.plate_stack("pixel", (2, 3)):
    ...         ac.sample("brightness", dist.Gamma(2, 1))
    >>> print(image().sites())
    site        kind    shape   dims              distribution
    brightness  latent  (2, 3)  pixel_1, pixel_0  Gamma
    """
    with contextlib.ExitStack() as stack:
        for i, size in enumerate(reversed(tuple(sizes))):
            stack.enter_context(plate(f"{prefix}_{i}", size, dim=rightmost_dim - i))
        yield


class Plate(AbstractHandler):
    """A plate that can be entered any number of times; without a `dim` it takes the first free one each time.

    On the stack, one that takes some of its entries has their number as its `size`, that of all as its `whole`.
    """

    name: str
    size: int
    dim: int | None = None
    coords: tuple[Any, ...] | None = None
    chunk: int | None = None
    subsample_size: int | None = None
    whole: int | None = None
    index: Any = None

    def process(self, site: Site) -> Site:
        """Add the plate's dimension to the site, unless it is one row of entries that are not in their places."""
        if isinstance(site.distribution, AbstractEntries):
            return site
        site = replace(site, plates=(*site.plates, self.frame))
        if self.whole is not None and site.kind in ("sample", "factor"):
            weight = self.whole / self.size
            return replace(site, scale=weight if site.scale is None else site.scale * weight)
        return site

    def __enter__(self) -> Any:
        around = handlers_around()
        if not around:
            raise ModelError(
                f"plate {self.name!r} was entered outside of any model (at {caller()}). Write it in a function "
                "decorated with `@ac.model`."
            )
        plates: dict[int | None, Plate] = {}
        prefix, names = "", set[str]()  # as they are known outside of all prefixes
        for other in around:
            if isinstance(other, Scope):
                prefix += other.prefixed("")
            elif isinstance(other, Plate):
                plates[other.dim] = other
                names.add(prefix + other.name)
        dim = self.dim
        if dim is None:
            dim = next(d for d in range(-1, -len(plates) - 2, -1) if d not in plates)
        if prefix + self.name in names:
            raise SiteError(f"plate {self.name!r} (at {caller()}) is inside of a plate of the same name.")
        if dim in plates:
            raise SiteError(
                f"plate {self.name!r} (at {caller()}): dim {dim} is taken by the plate {plates[dim].name!r} around it. "
                "Give another dim, or leave it out to get the first free one."
            )
        size = self.size if self.subsample_size is None else self.subsample_size
        if size < self.size:
            value = visit(Site("subsample", self.name, where=caller())).value
            key, step = (value.key, value.step) if isinstance(value, Settled) else (value, None)
            if key is not None:
                index = part_of(key, self.size, size, step)
                enter(Plate(self.name, size, dim, chunk=self.chunk, whole=self.size, index=index))
                return index
        enter(Plate(self.name, self.size, dim, self.coords, self.chunk))
        # NumPy, so that unused indices leave no operation in the program.
        return np.arange(self.size)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        del kind, trace
        if isinstance(error, Exception):
            plates = [other for other in handlers_around() if isinstance(other, Plate)]
            note_plates(error, [other.frame for other in plates])
        leave()

    def __iter__(self) -> NoReturn:
        raise ModelError(
            f"plate {self.name!r} (at {caller()}) is not a loop: its statements are written once, for all {self.size} "
            f'entries. Write `with ac.plate("{self.name}", {self.size}) as i:`, and index by `i`.'
        )

    @property
    def frame(self) -> Frame:
        """The plate as a site sees it."""
        dim = -1 if self.dim is None else self.dim
        return Frame(self.name, self.size, dim, self.coords, self.chunk, whole=self.whole)


def _described(size: Any) -> str:
    if isinstance(size, Tracer):
        return f"a value of dtype {size.dtype} that is not known beforehand. Take it from a shape, as in `y.shape[0]`"
    return repr(size)


def _is_traced_integer(size: Any) -> bool:
    return isinstance(size, Tracer) and not size.shape and np.issubdtype(size.dtype, np.integer)
