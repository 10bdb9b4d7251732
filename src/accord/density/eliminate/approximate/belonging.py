"""Find which group of entries of the integrated sites each log probability of a model depends on.

A log density that is a sum over groups says what each of them adds only where the model's log probabilities do, entry
by entry. They are followed along random directions that are zero in some groups: the numbers of the groups in binary
digits, and the opposite of these. One that changes along both for some digit depends on two groups. What is found must
hold for other data of the same shapes: so it is tried with the model's own floats, and with such as have no zeros.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....core.errors import SiteError
from ....language import Site
from ...latent import concrete
from ...program import ModelProgram
from ...quick import quickly
from ...reduction import pointwise
from ...rows.conditions import listed
from ...unknowns import pieces_of
from ..normal.groups import Groups

Look = Callable[..., Mapping[str, Any]]
"""From data, a position of the other unknowns, stacked sites, and directions, to what changes along them, by part."""

Index = dict[str, np.ndarray]
"""Groups that entries depend on, by part of the log density and in its shape."""

_SPREADS = (0.3, 0.3, 1.0)  # of all unknowns, where parts are followed
_NONE = -1


@dataclass(frozen=True)
class Belonging:
    """Which group each log probability belongs to, of the parts of a model that depend on any.

    **Fields**: `parts`, by name, each with the axes of its entries over which to sum first, and then the groups of the
    sums, or None where these are all groups in their order.
    """

    parts: tuple[tuple[str, tuple[int, ...], np.ndarray | None], ...]

    @staticmethod
    def of(index: Index, num: int) -> "Belonging":
        """Arrange sums."""
        found = []
        for name, each in index.items():
            axes = tuple(axis for axis in range(each.ndim) if (each == each.take([0], axis)).all())
            rest = each[tuple(0 if axis in axes else slice(None) for axis in range(each.ndim))].reshape(-1)
            are_all = rest.size == num and (rest == np.arange(num)).all()
            found.append((name, axes, None if are_all else rest.astype(np.int32)))
        return Belonging(tuple(found))

    def sums(self, parts: Mapping[str, jax.Array], num: int) -> jax.Array:
        """Sum entries by group, shape `(num,)`."""
        found = None
        for name, axes, index in self.parts:
            rest = jnp.sum(parts[name], axis=axes).reshape(-1)
            each = rest if index is None else jnp.zeros(num, rest.dtype).at[index].add(rest)
            found = each if found is None else found + each
        assert found is not None
        return found


def parts_of(sites: Mapping[str, Site]) -> dict[str, jax.Array]:
    """List what sites add to the log density, entry by entry, with masks and scales."""

    def listed_parts() -> Iterator[tuple[str, Any]]:
        for name, site in sites.items():
            if site.kind == "deterministic" or site.is_intervened:
                continue
            yield name, pointwise(site)
            yield f"{name}/jacobian", site.log_det

    return {name: jnp.asarray(each) for name, each in listed_parts() if each is not None}


def looking(base: ModelProgram, groups: Groups) -> Look:
    """Compile a look at what changes along directions, when it is first called."""
    entries = base.layout.marginal.entries

    def look(data: Any, position: Any, z: Any, along: Any) -> dict[str, jax.Array]:
        others = pieces_of(position, entries)

        def parts(z: Any) -> dict[str, jax.Array]:
            with concrete(base.constants):
                return parts_of(base.sites({**others, **groups.unstack(z)}, data))

        _, changes = jax.linearize(parts, z)
        return jax.tree.map(lambda each: (each != 0) & jnp.isfinite(each), jax.lax.map(changes, along))

    return quickly(look)


def index_of(base: ModelProgram, groups: Groups, look: Look, data: Mapping[str, Any]) -> Index:
    """Find the groups of all log probabilities that depend on any; in the scope of float64.

    **Arguments**: `look`, as `looking` made it; `data`, of the whole model, in memory.

    **Raises** `SiteError` where one depends on several.
    """
    found: Index = {}
    generator = np.random.default_rng(21)
    digits = np.arange(max((groups.num - 1).bit_length(), 1))
    has_digit = (np.arange(groups.num) >> digits[:, None] & 1).astype(bool)
    masks = np.concatenate([has_digit, ~has_digit])[:, :, None]
    # What is hidden with some data may be seen with others.
    for each, spread in zip(_otherwise(data, generator), _SPREADS, strict=True):
        position = spread * generator.standard_normal(base.layout.marginal.dim)
        z = spread * generator.standard_normal((groups.num, groups.size))
        along = masks * generator.uniform(0.5, 1.5, z.shape)
        for name, moved in look(each, position, z, along).items():
            one, other = np.split(np.asarray(moved), 2)
            if (one & other).any():
                raise _interacting(groups, name)
            number = (one.astype(np.int64) << digits.reshape(-1, *[1] * (one.ndim - 1))).sum(axis=0)
            number = np.where((one | other).any(axis=0), number, _NONE)
            known = found.get(name, number)
            if ((known != number) & (known != _NONE) & (number != _NONE)).any():
                raise _interacting(groups, name)
            found[name] = np.where(known == _NONE, number, known)
    # An entry that is the same wherever the sites are may be counted with any group.
    return {name: np.maximum(each, 0) for name, each in found.items() if (each != _NONE).any()}


def _otherwise(data: Mapping[str, Any], generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield data, and what they might have been: floats without zeros, and truth values all one or the other."""
    yield {name: np.asarray(value) for name, value in data.items()}
    for truth in (True, False):
        yield {name: _moved(np.asarray(value), truth, generator) for name, value in data.items()}


def _moved(value: np.ndarray, truth: bool, generator: np.random.Generator) -> np.ndarray:
    if value.dtype.kind == "b":
        return np.full_like(value, truth)
    if value.dtype.kind != "f":
        return value
    shift = 1e-3 * generator.uniform(0.5, 1.5, value.shape)
    return (value * (1 + shift) + np.where(value == 0, shift, 0)).astype(value.dtype)


def _interacting(groups: Groups, part: str) -> SiteError:
    name = part.removesuffix("/jacobian")
    return SiteError(
        f"handlers.collapse: {listed(groups.names)} cannot be integrated out by quadrature: one log probability of "
        f"site {name!r} depends on several entries. If it is a sum over independent entries, write it entry by entry, "
        "in a plate and without `.to_event`; else ask for `by=handlers.Laplace()`."
    )
