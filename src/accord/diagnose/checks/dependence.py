"""Find what each part of a model depends on, by one trace of its sites."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ...core import precision as precisions
from ...core.tree import shapes
from ...density import LogDensity
from ...density.dependence.provenance import arguments_seen
from ...density.latent import bijector_of, concrete
from ...density.program import ModelProgram
from ...density.reduction import term
from ...density.rows.conditions import Traced
from ...density.rows.row_files import FileRows
from ...density.support import AllAt

_LATENT, _DATA, _TERM, _VALUE, _SUPPORT = "latent/", "data/", "term/", "value/", "support/"


@dataclass(frozen=True)
class Dependence:
    """Dependences of the parts of a model. Names of arguments and latent sites, sorted.

    **Fields**
    - `terms`: by site, the latent sites and the arguments that its term depends on.
    - `values`: by deterministic site, the arguments that it depends on.
    - `supports`: by latent site, the arguments that its support depends on.
    """

    terms: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    values: Mapping[str, tuple[str, ...]]
    supports: Mapping[str, tuple[str, ...]]

    @property
    def arguments(self) -> frozenset[str]:
        """Arguments on which anything depends."""
        seen = [*(data for _, data in self.terms.values()), *self.values.values(), *self.supports.values()]
        return frozenset(name for names in seen for name in names)

    @staticmethod
    def of(density: LogDensity) -> "Dependence | None":
        """Trace the model of a density; None where it is of a function, which has no data."""
        base = model_program(density)
        if base is None:
            return None
        dtype = precisions.float_dtype(base.precision)
        pieces = {
            _LATENT + entry.name: jax.ShapeDtypeStruct(entry.unconstrained_shape, dtype)
            for entry in base.layout.entries
        }
        for name in (*base.layout.collapsed, *(entry.name for entry in base.layout.whole)):  # discrete ones
            pieces[_LATENT + name] = jax.ShapeDtypeStruct((), jnp.int32)
        data = {_DATA + name: shape for name, shape in shapes(density.data).items()}

        def parts(_: Any, given: Mapping[str, Any]) -> dict[str, jax.Array]:
            return _parts(base, *(_of_kind(given, kind) for kind in (_LATENT, _DATA)))

        with precisions.scope(base.precision):
            seen = arguments_seen(parts, {}, {**pieces, **data})
        by_part = {name: (_of_kind(names, _LATENT), _of_kind(names, _DATA)) for name, names in seen.items()}
        supports: dict[str, tuple[str, ...]] = {}
        for key, (_, names) in _of_kind(by_part, _SUPPORT).items():
            site = key.rpartition("/")[0]
            supports[site] = tuple(sorted({*supports.get(site, ()), *names}))
        return Dependence(
            {
                name: (tuple(latents), tuple(names))
                for name, (latents, names) in _of_kind(by_part, _TERM).items()
            },
            {name: tuple(names) for name, (_, names) in _of_kind(by_part, _VALUE).items()},
            supports,
        )


def model_program(density: LogDensity) -> ModelProgram | None:
    """Return the model of a density without shards; None for the density of a function."""
    return density.program.whole


def has_files(density: LogDensity) -> bool:
    """Return whether some of the data lies in files, and may be too large for memory."""
    return any(isinstance(value, FileRows) for value in density.data.values())


def matters_by_shape(base: ModelProgram, data: Mapping[str, Any], name: str) -> bool:
    """Return whether the model changes, or fails, if this argument has one more entry along some axis."""
    with precisions.scope(base.precision):
        known = _shapes_of(Traced.of(base, data))
        shape, dtype = data[name].shape, data[name].dtype
        for axis in range(len(shape)):
            longer = (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])
            try:
                found = Traced.of(base, {**data, name: jax.ShapeDtypeStruct(longer, dtype)})
            except Exception:  # the model's own, or what JAX says of shapes that do not fit
                return True
            if _shapes_of(found) != known:
                return True
    return False


def _parts(base: ModelProgram, pieces: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
    """Return terms, values of deterministic sites, and numbers in the maps onto supports, by name."""
    found: dict[str, jax.Array] = {}
    free = {entry.name for entry in base.layout.entries}
    choices = {name: piece if name in free else AllAt(piece) for name, piece in pieces.items()}
    with concrete(base.constants):
        for name, site in base.sites(choices, data).items():
            number = term(site)
            if number is not None:
                found[_TERM + name] = number
            if site.kind == "deterministic":
                found[_VALUE + name] = jnp.asarray(site.value)
            if name in free:
                leaves = [leaf for leaf in jax.tree.leaves(bijector_of(site)) if isinstance(leaf, jax.Array)]
                found |= {f"{_SUPPORT}{name}/{i}": leaf for i, leaf in enumerate(leaves)}
    return found


def _shapes_of(traced: Traced) -> Any:
    """Return the properties of sites that can change with the shape of data."""
    sites = {
        name: (site.kind, site.batch_shape, jnp.shape(site.value)) for name, site in traced.sites.items()
    }
    return sites, dict(traced.shapes)


def _of_kind(named: Any, kind: str) -> Any:
    """Select entries of one kind from a mapping or names, and strip the kind's prefix."""
    if isinstance(named, Mapping):
        return {name.removeprefix(kind): each for name, each in named.items() if name.startswith(kind)}
    return [name.removeprefix(kind) for name in named if name.startswith(kind)]
