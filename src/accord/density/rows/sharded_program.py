"""Evaluate a model whose data is cut into blocks of rows that lie on several devices.

The model is traced for one piece of a block of rows instead of all of them. Sites within a plate over the rows are
summed over blocks, those outside of it are counted once; an unknown in such a plate has its rows cut as the data are.
What would make the sum something else than the whole model's log density is refused here, by the site's name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...core import precision as precision_scope
from ...core.errors import AccordError, ModelError
from ...core.precision import Precision
from ...core.tree import shapes as abstract
from ...language import Site
from ...language.site import Frame
from ..latent import concrete
from ..layout import Layout
from ..program import AbstractProgram, ModelProgram, Recorded, pieces_of
from ..reduction import term
from .blocks import sum_over_blocks
from .collect import collect, laid_out
from .conditions import Traced, check_independent, listed, plates_over_rows, row_axis, with_rows
from .cutting import Cut

_ROWS = "accord/rows"  # beside the data: which rows of the blocks are no copies


@dataclass(frozen=True, eq=False)
class ShardedProgram(AbstractProgram):
    """A model over blocks of its rows; its data holds what is cut with blocks and pieces along two new first axes.

    **Fields**
    - `base`: of the whole model.
    - `mesh`: the devices. `shard`: by argument, the axis of its rows. `cut`: how the rows are cut.
    - `plates`: those over the rows, by site within one of them. `own`: by unknown among them, the axis of its rows.
    """

    base: ModelProgram
    name: str
    layout: Layout
    precision: Precision
    mesh: Mesh
    shard: Mapping[str, int]
    cut: Cut
    plates: Mapping[str, Frame]
    own: Mapping[str, int]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def of(
        base: ModelProgram, data: Mapping[str, Any], mesh: Mesh, shard: dict[str, int], cut: Cut
    ) -> "ShardedProgram":
        """Compare the sites of the whole model with those of one piece, and verify that they can be summed."""
        part = dict(data)
        for name, axis in shard.items():
            shape = with_rows(np.shape(data[name]), axis, cut.size)
            part[name] = jax.ShapeDtypeStruct(shape, data[name].dtype)
        whole = Traced.of(base, data)
        words = f"{cut.size} of the {cut.num_rows} rows of {listed(shard)}"
        try:
            pieces = Traced.of(base, part)
        except (AccordError, TypeError, ValueError) as error:  # JAX's, of shapes that do not fit
            found = next(
                iter(str(error).splitlines()), type(error).__name__
            )  # without the lines of a diagram
            raise ModelError(
                f"the model does not run on {words}: {found} Every argument with an entry for each row must be cut "
                "too (named in shard, or found by the size of a plate), and sizes must be taken from them, as in "
                '`ac.plate("row", X.shape[0])`. An array that the model closes over is a constant of its program, '
                "which has all rows: make it an argument."
            ) from error
        plates = plates_over_rows(whole, pieces, cut, words)
        own = {name: row_axis(whole.sites[name], plates[name]) for name in plates if name in whole.shapes}
        program = ShardedProgram(
            base=base,
            name=base.name,
            layout=base.layout,
            precision=base.precision,
            mesh=mesh,
            shard=shard,
            cut=cut,
            plates=plates,
            own=own,
            constants=base.constants,
        )
        dtype = precision_scope.float_dtype(base.precision)
        check_independent(
            program.terms_outside,
            {name: jax.ShapeDtypeStruct(shape, dtype) for name, shape in pieces.shapes.items()},
            abstract(part),
            shard,
            {
                name: frame
                for name, site in whole.sites.items()
                for frame in site.plates
                if frame.size == cut.num_rows and name not in plates
            },
        )
        return program

    def blocks_of(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Cut the data of the whole model, or some of it, as this program takes it."""
        blocks = {
            name: self.cut.blocks(data[name], axis) for name, axis in self.shard.items() if name in data
        }
        blocks[_ROWS] = self.cut.is_real
        return {**data, **{name: laid_out(each, self.mesh) for name, each in blocks.items()}}

    def terms_outside(self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate what sites outside of plates over the rows add."""
        with concrete(self.constants):
            sites = self.base.sites(pieces, data)
            terms = {name: term(site) for name, site in sites.items() if name not in self.plates}
        return {name: number for name, number in terms.items() if number is not None}

    def log_density(self, position: jax.Array, data: Mapping[str, Any]) -> jax.Array:
        """Add the terms outside of plates over the rows, once, and the others summed over blocks."""
        parts = self._parts(position, data)

        def of_piece(*arguments: Any) -> jax.Array:
            first, *others = self._terms_inside(*arguments).values()
            return sum(others, start=first)

        total = sum_over_blocks(of_piece, self.mesh, *parts)
        return sum(self._outside(*parts).values(), start=total)

    def summed_terms(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate what each site adds, as `log_density` counts it; without derivatives."""
        parts = self._parts(position, data)
        inside, _ = collect(lambda *each: (self._terms_inside(*each), ()), self.mesh, *parts)
        found = {**self._outside(*parts), **inside}
        return {entry.name: found[entry.name] for entry in self.layout.sites if entry.name in found}

    def terms(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate the terms of the whole model, in one place."""
        return self.base.terms(position, self._joined(data))

    def values(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute the values of the whole model's sites."""
        return self.base.values(position, self._joined(data))

    def recorded(self, position: jax.Array, data: Mapping[str, Any]) -> Recorded:
        """Evaluate the whole model."""
        return self.base.recorded(position, self._joined(data))

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute unconstrained pieces of the whole model's latent sites."""
        return self.base.positions(values, self._joined(data))

    @property
    def cut_data(self) -> tuple[str, ...]:
        """The arguments that are cut, and which rows are not copies."""
        return (*self.shard, _ROWS)

    def _parts(self, position: jax.Array, data: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Separate unknowns that all pieces share, each piece's own ones, each piece's data, and common data."""
        pieces = pieces_of(position, self.layout.entries)
        shared = {name: piece for name, piece in pieces.items() if name not in self.own}
        own = {name: self.cut.blocks(pieces[name], axis) for name, axis in self.own.items()}
        blocks = {name: data[name] for name in self.cut_data}
        return shared, own, blocks, {name: value for name, value in data.items() if name not in blocks}

    def _outside(self, shared: Any, own: Any, blocks: Any, common: Any) -> dict[str, jax.Array]:
        first_own, first = jax.tree.map(lambda leaf: leaf[0, 0], (own, blocks))
        return self.terms_outside({**shared, **first_own}, _without_rows({**common, **first}))

    def _terms_inside(self, shared: Any, own: Any, piece: Any, common: Any) -> dict[str, jax.Array]:
        with concrete(self.constants):
            sites = self.base.sites({**shared, **own}, _without_rows({**common, **piece}))
            terms = {name: term(self._without_copies(sites[name], piece[_ROWS])) for name in self.plates}
        return {name: number for name, number in terms.items() if number is not None}

    def _without_copies(self, site: Site, is_real: jax.Array) -> Site:
        """Hide the entries of copied rows of a site, Jacobians included."""
        if self.cut.is_real.all():
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
        whole = {name: self.cut.joined(blocks[name], axis) for name, axis in self.shard.items()}
        return _without_rows({**data, **whole})


def _without_rows(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model's own data."""
    return {name: value for name, value in data.items() if name != _ROWS}
