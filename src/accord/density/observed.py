"""Compare what is observed with the support of its site, on the host and before anything is compiled.

Values, supports and masks are taken out of the trace of the model, and computed in NumPy as far as they follow from
data and constants. Where they depend on unknowns nothing can be said before the run: a value outside of the support
then makes the log density -inf, which starting points and `infer.explain` tell.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.extend.core import Literal

from ..core.errors import SiteError
from ..distributions import AbstractDistribution
from ..distributions.constraint import Complex, Constraint, Independent, Real
from ..distributions.constraint.each_step import EachStep
from ..distributions.mixtures.mixture_general import MixtureGeneral
from ..distributions.univariate.gamma import Gamma
from ..distributions.univariate.interval import is_one
from ..distributions.wrappers.family import family
from ..distributions.wrappers.wrappers import ExpandedDistribution, MaskedDistribution
from ..language import Site
from .checks import may_be_hidden
from .host import Value, computed, on_host, sliced
from .outside import how_to_mend
from .row_files import FileRows, pieces_in_memory


@dataclass(frozen=True)
class Claim:
    """A site whose observed values are to lie in its support.

    **Fields**
    - `name`, `where`, `distribution`: of the site, its statement, and the name of its class.
    - `batch`: its batch shape.
    - `parts`: its value, support and masks; in `Claims`, the structure of these without their arrays.
    """

    name: str
    where: str
    distribution: str
    batch: tuple[int, ...]
    parts: Any


@dataclass(frozen=True, eq=False)
class Claims:
    """What a traced model says of its observations. A copy in another process says nothing: it was judged before.

    **Fields**
    - `claims`: the sites. `names`: of the data.
    - `jaxpr`, `consts`: a function of one number and the data, and what it closes over.
    - `results`: those of its variables that are the arrays of all sites' parts. `equations`: the operations that these
      need.
    """

    claims: tuple[Claim, ...] = ()
    names: tuple[str, ...] = ()
    jaxpr: Any = None
    consts: tuple[Any, ...] = ()
    results: tuple[Any, ...] = ()
    equations: tuple[Any, ...] = ()

    @staticmethod
    def of(claims: Iterable[Claim], names: Iterable[str], traced: Any, num_before: int = 0) -> "Claims":
        """Those of a trace whose arguments are one number and `names`.

        Its results are the arrays in `claims`, after as many others as `num_before`.
        """
        jaxpr = traced.jaxpr
        results = tuple(jaxpr.outvars[num_before:])
        without = (
            replace(claim, parts=eqx.filter(claim.parts, eqx.is_array, inverse=True)) for claim in claims
        )
        equations = sliced(jaxpr, results)
        return Claims(tuple(without), tuple(names), jaxpr, tuple(traced.consts), results, equations)

    def __reduce__(self) -> tuple[Any, ...]:
        return Claims, ()

    def check(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` for the first site that observes values outside of its support."""
        for claim, fault in self.faults(data):
            raise SiteError(f"site {claim.name!r} (at {claim.where}): {fault}")

    def faults(self, data: Mapping[str, Any]) -> Iterator[tuple[Claim, str]]:
        """The sites that observe values outside of their supports, and what is wrong with these.

        What cannot be computed here, is hidden by a mask, or is NaN or infinite, is not looked at.
        """
        if not self.claims:
            return
        files = {name: value for name, value in data.items() if isinstance(value, FileRows)}
        given = [None if name in files else on_host(data.get(name)) for name in self.names]
        found = computed(self.jaxpr, self.consts, [None, *given], self.results, self.equations)
        sources = dict(zip(self.jaxpr.invars[1:], self.names, strict=True))
        atoms = iter(zip(self.results, found, strict=True))
        for claim in self.claims:
            mine = [next(atoms) for _ in range(_num_arrays(claim))]
            source = "" if isinstance(mine[0][0], Literal) else sources.get(mine[0][0], "")
            message = _fault(claim, [value for _, value in mine], source, files.get(source))
            if message:
                yield claim, message


def claims_of(sites: Iterable[Site]) -> list[Claim]:
    """The sites of a model, as it is traced, that observe values which its support may not have."""
    found: list[Claim] = []
    for site in sites:
        distribution = site.distribution
        is_data = site.is_observed and not (site.is_intervened or site.is_computed)
        if distribution is None or not is_data or site.value is None or site.mask is False:
            continue
        support = distribution.support
        if isinstance(_innermost(support), Real | Complex):
            continue
        law, masks = _unwrapped(distribution)
        if masks is None or _has_other_values(law):
            continue
        value = site.value if eqx.is_array(site.value) else np.asarray(site.value)
        masks = tuple(mask for mask in (*masks, site.mask) if mask is not None and mask is not True)
        parts = (value, support, masks)
        found.append(Claim(site.name, site.where, family(law), site.batch_shape, parts))
    return found


def arrays_of(claims: Iterable[Claim]) -> list[Any]:
    """The arrays in the parts of sites, in the order in which `Claims` takes them."""
    return [leaf for claim in claims for leaf in jax.tree.leaves(eqx.filter(claim.parts, eqx.is_array))]


def _unwrapped(
    distribution: AbstractDistribution,
) -> tuple[AbstractDistribution, tuple[Any, ...] | None]:
    """The distribution that the user wrote, and the masks around it; None for masks that do not hide whole events."""
    found: list[Any] = []
    while isinstance(distribution, MaskedDistribution | ExpandedDistribution):
        if isinstance(distribution, MaskedDistribution):
            found.append(distribution.where)
        distribution = distribution.base
    hides = may_be_hidden(Site("sample", "", distribution))
    return distribution, None if hides else tuple(found)


def _has_other_values(law: AbstractDistribution) -> bool:
    """Whether values outside of the support may have a density all the same.

    These are values of a component of a mixture with other bounds, and zero where a gamma distribution is exponential.
    """
    if isinstance(law, Gamma):
        return is_one(law.concentration)
    if not isinstance(law, MixtureGeneral) or law.constraint is not None:
        return False
    bounds = [jax.tree.leaves(component.support) for component in law.component_distributions]
    return any(each != bounds[0] for each in bounds) if _are_numbers(bounds) else True


def _are_numbers(bounds: list[list[Any]]) -> bool:
    return all(isinstance(bound, bool | int | float) for each in bounds for bound in each)


def _innermost(support: Constraint) -> Constraint:
    while isinstance(support, Independent):
        support = support.base
    return support


def _num_arrays(claim: Claim) -> int:
    """How many arrays were taken out of the parts of a site."""
    return sum(leaf is None for leaf in jax.tree.leaves(claim.parts, is_leaf=lambda leaf: leaf is None))


def _filled(claim: Claim, arrays: list[np.ndarray]) -> Any:
    """The parts of a site, with these arrays in them."""
    rest = iter(arrays)
    return jax.tree.map(
        lambda leaf: next(rest) if leaf is None else leaf, claim.parts, is_leaf=lambda leaf: leaf is None
    )


def _fault(claim: Claim, found: list[Value], source: str, rows: FileRows | None) -> str:
    """What is wrong with the values of one site, looked at all at once or as they are read from a file; or nothing."""
    value, *others = found
    arrays = [each.value for each in others if each is not None and each.entries is None]
    if len(arrays) < len(others):
        return ""
    if rows is None:
        if value is None:
            return ""
        _, support, masks = _filled(claim, [value.value, *arrays])
        if isinstance(support, EachStep) and support.aligned(value.value.ndim) is None:
            return ""  # of which NumPy does not know how to ask
        judged = _judged(claim, value.value, value.entries, support, masks)
        return _message(claim, source, [judged], support, value.value.shape)
    _, support, masks = _filled(claim, [np.zeros(0), *arrays])
    if masks or any(np.ndim(leaf) for leaf in jax.tree.leaves(support)):
        return ""  # which rows of these belong to those that are read is not known
    pieces = []
    for piece in pieces_in_memory(rows):
        batch = (len(piece), *claim.batch[1:])
        pieces.append(_judged(replace(claim, batch=batch), piece, None, support, ()))
    return _message(claim, source, pieces, support, rows.shape)


@dataclass(frozen=True)
class Judged:
    """What was found of some events: `indices` of those outside, and these `events`; the `shown` ones; all of them."""

    indices: np.ndarray
    events: np.ndarray
    shown: np.ndarray
    batch: tuple[int, ...]


def _judged(
    claim: Claim, value: np.ndarray, entries: np.ndarray | None, support: Constraint, masks: tuple[Any, ...]
) -> Judged:
    event = tuple(range(len(claim.batch), value.ndim))
    is_shown = np.isfinite(value).all(event)
    if entries is not None:
        is_shown = is_shown & entries.all(event)
    for mask in masks:
        is_shown = is_shown & np.broadcast_to(mask, claim.batch)
    with np.errstate(all="ignore"):
        is_inside = np.broadcast_to(np.asarray(support(value)), claim.batch)
    bounds = [leaf for leaf in jax.tree.leaves(support) if isinstance(leaf, np.ndarray)]
    if any(np.isnan(bound).any() for bound in bounds if bound.dtype.kind == "f"):
        is_inside = np.ones(claim.batch, bool)  # a bound that is NaN is none, and found elsewhere
    is_outside = is_shown & ~is_inside
    return Judged(np.argwhere(is_outside), value[is_outside], value[is_shown], claim.batch)


def _message(
    claim: Claim, source: str, pieces: list[Judged], support: Constraint, shape: tuple[int, ...]
) -> str:
    """How many events are outside if any, which is first, what it must be, and what to do."""
    count = sum(len(piece.indices) for piece in pieces)
    if not count:
        return ""
    start = 0
    first: tuple[int, ...] = ()
    for piece in pieces:
        if len(piece.indices):
            first = tuple(int(each) for each in piece.indices[0])
            first = (start + first[0], *first[1:]) if first else ()
            break
        start += piece.batch[0]
    events = np.concatenate([piece.events for piece in pieces])
    shown = np.concatenate([piece.shown for piece in pieces])
    total = int(np.prod(claim.batch))
    is_scalar = events.ndim == 1
    what = "observed values" if is_scalar else "observed events"
    place = "" if not first else f" at index {first[0] if len(first) == 1 else first}"
    of = f" of argument {source!r}" if source and place else ""
    here = _at(support, first, claim.batch, shape)
    found = _printed(events[0])
    is_are = "is" if count == 1 else "are"
    return (
        f"{count} of {total} {what} {is_are} outside of the support of "
        f"{claim.distribution}. The first is {found}{place}{of}; it must be {here.describe()}. "
        f"{how_to_mend(claim.name, claim.distribution, _innermost(here), events, shown)}"
    )


def _at(
    support: Constraint, first: tuple[int, ...], batch: tuple[int, ...], shape: tuple[int, ...]
) -> Constraint:
    """A support with the bounds that it has for one event, as numbers."""

    def number(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic):
            return leaf
        if not np.ndim(leaf):
            return leaf.item()
        for whole in (batch, shape):
            try:
                found = np.broadcast_to(leaf, whole)[first]
            except ValueError:
                continue
            return found.item() if not np.ndim(found) else found
        return leaf

    if isinstance(support, EachStep):
        support = support.aligned(len(shape)) or support
    return jax.tree.map(number, support)


def _printed(event: Any) -> str:
    if not np.ndim(event):
        return f"{event.item():g}" if np.asarray(event).dtype.kind == "f" else str(event.item())
    return np.array2string(np.asarray(event), precision=4, threshold=12, edgeitems=3).replace("\n", "")
