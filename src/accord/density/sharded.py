"""Evaluate a model whose data is cut into blocks of rows that lie on several devices.

The model is traced for one block of rows instead of all of them. Sites within a plate over the rows are summed over
blocks, those outside of it are counted once; an unknown in such a plate has its rows cut as the data are. What would
make the sum something else than the whole model's log density is refused here, by the site's name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..core import precision as precision_scope
from ..core.errors import AccordError, ModelError, OptionError
from ..core.precision import Precision
from ..core.tree import shapes as abstract
from ..language import Site
from ..language.site import Frame
from .blocks import laid_out, sum_over_blocks
from .cutting import cut, is_real_row, joined, rows_of_block
from .layout import Layout
from .logdensity import LogDensity
from .program import AbstractProgram, ModelProgram, pieces_of
from .reduction import term
from .rows import (
    check_independent,
    check_sites,
    listed,
    num_rows_of,
    traced_sites,
    unconstrained_shapes,
    with_rows,
)
from .tracing import concrete

_ROWS = "accord/rows"  # beside the data: which rows of the blocks are no copies


def sharded(density: LogDensity, mesh: Mesh, shard: Mapping[str, int]) -> LogDensity:
    """The same density, with the rows of some of its data cut into blocks that lie on the devices of `mesh`.

    **Arguments**
    - `density`: of a model.
    - `shard`: the axis along which each of these arguments of the model has its rows.

    **Raises** `OptionError` for names, axes and sizes that do not fit; `SiteError` and `ModelError` for a model that
    cannot be summed over rows.
    """
    base = density.program
    if not isinstance(base, ModelProgram):
        raise OptionError(
            "shard= names arguments of a model, and this density is of a function. Sum over its data with "
            "`accord.density.sharded_sum` there."
        )
    num_rows = num_rows_of(density, shard)
    with precision_scope.scope(base.precision):
        program = ShardedProgram.of(base, density.data, mesh, dict(shard), num_rows)
    blocks = {name: laid_out(cut(density.data[name], axis), mesh) for name, axis in shard.items()}
    rows = laid_out(is_real_row(num_rows), mesh)
    return LogDensity({**density.data, **blocks, _ROWS: rows}, program, density.notices)


@dataclass(frozen=True, eq=False)
class ShardedProgram(AbstractProgram):
    """A model over blocks of its rows; the data holds the blocks of what is cut along a new first axis.

    **Fields**
    - `base`: of the whole model.
    - `mesh`: the devices. `shard`: by argument, the axis of its rows. `num_rows`.
    - `plates`: those over the rows, by site within one of them. `own`: by unknown among them, the axis of its rows.
    """

    base: ModelProgram
    name: str
    layout: Layout
    precision: Precision
    mesh: Mesh
    shard: Mapping[str, int]
    num_rows: int
    plates: Mapping[str, Frame]
    own: Mapping[str, int]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def of(
        base: ModelProgram, data: Mapping[str, Any], mesh: Mesh, shard: dict[str, int], num_rows: int
    ) -> "ShardedProgram":
        """Compare the sites of the whole model with those of one block, and see that they can be summed."""
        part = {name: cut(data[name], axis)[0] for name, axis in shard.items()}
        size = rows_of_block(num_rows)
        whole = traced_sites(base, unconstrained_shapes(base), data)
        plates = {
            name: frame for name, site in whole.items() for frame in site.plates if frame.size == num_rows
        }
        latents = {entry.name: entry for entry in base.layout.entries}
        own = {
            name: len(whole[name].batch_shape) + frame.dim
            for name, frame in plates.items()
            if name in latents
        }
        shapes = {
            name: with_rows(shape, own.get(name), size) for name, shape in unconstrained_shapes(base).items()
        }
        words = f"{size} of the {num_rows} rows of {listed(shard)}"
        try:
            cut_sites = traced_sites(base, shapes, {**data, **part})
        except (AccordError, TypeError, ValueError) as error:  # JAX's, of shapes that do not fit
            raise ModelError(
                f"the model does not run on {words}: {error} Every argument with an entry for each row must be named "
                'in shard, and sizes must be taken from them, as in `ac.plate("row", X.shape[0])`.'
            ) from error
        check_sites(whole, cut_sites, plates, size, words)
        program = ShardedProgram(
            base=base,
            name=base.name,
            layout=base.layout,
            precision=base.precision,
            mesh=mesh,
            shard=shard,
            num_rows=num_rows,
            plates=plates,
            own=own,
            constants=base.constants,
        )
        dtype = precision_scope.float_dtype(base.precision)
        check_independent(
            program.terms_outside,
            {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape in shapes.items()},
            abstract({**data, **part}),
            shard,
        )
        return program

    def terms_outside(self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """What sites outside of plates over the rows add."""
        with concrete(self.constants):
            sites = self.base.sites(pieces, data)
            terms = {name: term(site) for name, site in sites.items() if name not in self.plates}
        return {name: number for name, number in terms.items() if number is not None}

    def log_density(self, position: jax.Array, data: Mapping[str, Any]) -> jax.Array:
        """The terms outside of plates over the rows, once, and the sum of the others over blocks."""
        pieces = pieces_of(position, self.layout.entries)
        shared = {name: piece for name, piece in pieces.items() if name not in self.own}
        own = {name: cut(pieces[name], axis) for name, axis in self.own.items()}
        blocks = {name: data[name] for name in (*self.shard, _ROWS)}
        common = {name: value for name, value in data.items() if name not in blocks}
        total = sum_over_blocks(self._of_block, self.mesh, shared, own, blocks, common)
        first_own, first = jax.tree.map(lambda leaf: leaf[0], (own, blocks))
        outside = self.terms_outside({**shared, **first_own}, _without_rows({**common, **first}))
        return sum(outside.values(), start=total)

    def terms(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Those of the whole model, computed in one place."""
        return self.base.terms(position, self._joined(data))

    def values(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites."""
        return self.base.values(position, self._joined(data))

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Unconstrained pieces of the whole model's latent sites."""
        return self.base.positions(values, self._joined(data))

    @property
    def cut_data(self) -> tuple[str, ...]:
        """The arguments that are cut, and which rows are no copies."""
        return (*self.shard, _ROWS)

    def _of_block(self, shared: Any, own: Any, blocks: Any, common: Any) -> jax.Array:
        with concrete(self.constants):
            sites = self.base.sites({**shared, **own}, _without_rows({**common, **blocks}))
            terms = [term(self._without_copies(sites[name], blocks[_ROWS])) for name in self.plates]
        numbers = [number for number in terms if number is not None]
        return sum(numbers[1:], start=numbers[0])

    def _without_copies(self, site: Site, is_real: jax.Array) -> Site:
        """A site whose entries of copied rows are hidden, Jacobians included."""
        if is_real_row(self.num_rows).all():
            return site
        mask = is_real.reshape(-1, *(1,) * (-self.plates[site.name].dim - 1))
        log_det = site.log_det
        return replace(
            site,
            mask=mask if site.mask is None else jnp.logical_and(site.mask, mask),
            log_det=None if log_det is None else jnp.where(mask, log_det, jnp.zeros_like(log_det)),
        )

    def _joined(self, data: Mapping[str, Any]) -> dict[str, Any]:
        # Brought together first: sums over pieces would be in another order for another number of devices.
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        blocks = {name: jax.lax.with_sharding_constraint(data[name], everywhere) for name in self.shard}
        whole = {name: joined(blocks[name], axis, self.num_rows) for name, axis in self.shard.items()}
        return _without_rows({**data, **whole})


def _without_rows(data: Mapping[str, Any]) -> dict[str, Any]:
    """The model's own data."""
    return {name: value for name, value in data.items() if name != _ROWS}
