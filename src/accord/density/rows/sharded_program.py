"""Evaluate a model whose data is cut into blocks of rows that lie on several devices.

The model is traced for one piece of a block of rows instead of all of them. Sites within a plate over the rows are
summed over blocks, those outside of it are counted once; an unknown in such a plate has its rows cut as the data are.
What would make the sum something else than the whole model's log density is refused here, by the site's name.
"""

import functools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...core import precision as precision_scope
from ...core.errors import AccordError, ModelError
from ...core.notice import Notice
from ...core.tree import shapes as abstract
from ...language import Site
from ...language.site import Frame
from ..layout import Layout
from ..program import AbstractProgram, View
from ..stage import AbstractStage, AbstractStaged
from ..support import EachAt
from ..unknowns import Unknowns, pieces_at
from ..weights import Parts, Weights
from .blocks import sum_over_blocks
from .collect import collect, laid_out
from .conditions import Traced, check_independent, listed, plates_over_rows, row_axis, with_rows
from .cutting import Cut
from .eliminated import check_apart, discrete_of, first_where_not, normal_where_not
from .file_blocks import FileBlocks
from .named_rows import model_of_rows, num_rows_of

_ROWS = "accord/rows"  # beside the data: which rows of the blocks are no copies


@dataclass(frozen=True)
class Shard(AbstractStage):
    """Share the rows of some of the data out over devices.

    **Fields**: `mesh`, the devices; `shard`, by argument of the model, the axis of its rows; `chunk`, how many rows at
    most a device evaluates at a time, or None.
    """

    mesh: Mesh
    shard: Mapping[str, int]
    chunk: int | None = None

    def is_wanted(self, layout: Layout) -> bool:
        """Return whether there is anything to share out."""
        del layout
        return bool(self.shard)

    def applied(self, program: AbstractProgram, data: Mapping[str, Any]) -> "ShardedProgram":
        """Cut the rows, of which `ShardedProgram.blocks_of` makes blocks."""
        cut = Cut.of(num_rows_of(program, data, self.shard), self.chunk)
        words = f"shard= shares the rows of {listed(self.shard)} out"
        with precision_scope.scope(program.precision):
            return ShardedProgram.of(program, data, self.mesh, dict(self.shard), cut, words)


@dataclass(frozen=True, eq=False)
class ShardedProgram(AbstractStaged):
    """A program over blocks of rows; its data holds what is cut with blocks and pieces along two new first axes.

    **Fields**
    - `base`: of all rows.
    - `mesh`: the devices. `shard`: by argument, the axis of its rows. `cut`: how the rows are cut.
    - `plates`: those over the rows, by site within one of them. `own`: by unknown among them, the axis of its rows.
    - `inside`, `outside`: the base for the sites of a piece that are in one of these plates, and for the others.
    - `hidden`: shapes, in a piece, of the sites that are integrated or summed out. `discrete`: those summed out.
    """

    mesh: Mesh
    shard: Mapping[str, int]
    cut: Cut
    plates: Mapping[str, Frame]
    own: Mapping[str, int]
    inside: AbstractProgram
    outside: AbstractProgram
    hidden: Mapping[str, tuple[int, ...]]
    discrete: frozenset[str]

    @staticmethod
    def of(
        base: AbstractProgram,
        data: Mapping[str, Any],
        mesh: Mesh,
        shard: dict[str, int],
        cut: Cut,
        reason: str,
    ) -> "ShardedProgram":
        """Compare the sites of the whole model with those of one piece, and verify that they can be summed.

        **Arguments**: `reason`, in words, why the rows are cut.
        """
        part = dict(data)
        for name, axis in shard.items():
            shape = with_rows(np.shape(data[name]), axis, cut.size)
            part[name] = jax.ShapeDtypeStruct(shape, data[name].dtype)
        model = model_of_rows(base)
        whole = Traced.of(model, data)
        words = f"{cut.size} of the {cut.num_rows} rows of {listed(shard)}"
        try:
            pieces = Traced.of(model, part)
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
        rows = {name: row_axis(whole.sites[name], plates[name]) for name in plates if name in whole.shapes}
        hidden = {name: pieces.shapes[name] for name in base.layout.collapsed}
        program = ShardedProgram(
            base=base,
            mesh=mesh,
            shard=shard,
            cut=cut,
            plates=plates,
            own={name: axis for name, axis in rows.items() if name not in hidden},
            inside=base.of_part({name: hidden[name] for name in hidden if name in rows}, rows, reason),
            outside=base.of_part({name: hidden[name] for name in hidden if name not in rows}, {}, reason),
            hidden=hidden,
            discrete=discrete_of(whole.sites, hidden),
        )
        dtype = precision_scope.float_dtype(base.precision)
        shapes = {
            name: jax.ShapeDtypeStruct(shape, np.int32 if name in program.discrete else dtype)
            for name, shape in pieces.shapes.items()
        }

        def chosen(pieces: Mapping[str, jax.Array]) -> dict[str, Any]:
            return {name: EachAt(each) if name in program.discrete else each for name, each in pieces.items()}

        def terms_outside(pieces: Mapping[str, jax.Array], data: Mapping[str, Any]) -> dict[str, jax.Array]:
            return model.terms_at(chosen(pieces), data, program.view_outside)

        check_independent(
            terms_outside,
            shapes,
            abstract(part),
            shard,
            {
                name: frame
                for name, site in whole.sites.items()
                for frame in site.plates
                if frame.size == cut.num_rows and name not in plates
            },
        )
        if hidden:

            def terms_inside(
                pieces: Mapping[str, jax.Array], data: Mapping[str, Any]
            ) -> dict[str, jax.Array]:
                return model.terms_at(chosen(pieces), data, program.view_inside(np.ones(cut.size, bool)))

            for terms, names in (
                (terms_inside, hidden.keys() - rows.keys()),
                (terms_outside, hidden.keys() & rows.keys()),
            ):
                check_apart(terms, shapes, abstract(part), names, reason, are_discrete=bool(program.discrete))
        return program

    def blocks_of(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Cut the data of the whole model, or some of it, as this program takes it."""
        blocks = {
            name: self.cut.blocks(data[name], axis) for name, axis in self.shard.items() if name in data
        }
        blocks[_ROWS] = self.cut.is_real
        return {**data, **{name: laid_out(each, self.mesh) for name, each in blocks.items()}}

    def log_density(self, position: Unknowns, data: Mapping[str, Any]) -> jax.Array:
        """Add the terms outside of plates over the rows, once, and the others summed over blocks."""
        arguments = self._arguments(position, data)
        inside = self.inside.arranged(self._terms_inside)

        def of_piece(*arguments: Any) -> jax.Array:
            # From the first one, not from 0, which would be an addition in the sums of models of one term.
            return functools.reduce(operator.add, inside(*arguments).values())

        total = sum_over_blocks(of_piece, self.mesh, *arguments)
        return sum(self._outside(*arguments).values(), start=total)

    def summed_terms(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate what each site adds, as `log_density` counts it; without derivatives."""
        arguments = self._arguments(position, data)
        inside, _ = collect(lambda *each: (self._terms_inside(*each), ()), self.mesh, *arguments)
        found = self._outside(*arguments)
        for name, number in inside.items():
            found[name] = found[name] + number if name in found else number
        order = [entry.name for entry in self.layout.sites if entry.name in found]
        return {name: found[name] for name in dict.fromkeys([*order, *found])}

    def parts(self, position: Unknowns, data: Mapping[str, Any]) -> Parts:
        """Evaluate the parts: each is a sum over blocks of its own, which leaves it its derivatives."""
        arguments = self._arguments(position, data)
        drawn = {
            entry.name for entry in self.layout.drawn if entry.distribution and entry.kind != "collapsed"
        }
        has_rows = (bool(drawn & self.plates.keys()), bool(self.own), True)
        outside = self.outside.parts_at(*self._seen_outside(*arguments))

        def inside(which: int) -> jax.Array:
            def of_piece(*each: Any) -> jax.Array:
                return self.inside.parts_at(*self._seen_inside(*each))[which]

            return sum_over_blocks(of_piece, self.mesh, *arguments)

        sums = (part + inside(i) if has_rows[i] else part for i, part in enumerate(outside))
        return Parts(*sums)

    def weighted(self, position: Unknowns, data: Mapping[str, Any], weights: Weights) -> jax.Array:
        """Sum the weighted parts, in one pass over the rows unless a weight is an array."""
        if not weights.are_constant:
            return super().weighted(position, data, weights)
        arguments = self._arguments(position, data)

        def of_piece(*each: Any) -> jax.Array:
            return weights.sum(self.inside.parts_at(*self._seen_inside(*each)))

        outside = weights.sum(self.outside.parts_at(*self._seen_outside(*arguments)))
        return outside + sum_over_blocks(of_piece, self.mesh, *arguments)

    def data_of_base(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Join the blocks."""
        # Brought together first: sums over pieces would be in another order for another number of devices.
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        blocks = {name: jax.lax.with_sharding_constraint(data[name], everywhere) for name in self.shard}
        whole = {name: self.cut.joined(blocks[name], axis) for name, axis in self.shard.items()}
        return _without_rows({**data, **whole})

    def whole_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Join the blocks on the host, unless JAX traces them; rows of files are read."""

        def joined(blocks: Any, axis: int) -> Any:
            if isinstance(blocks, FileBlocks):
                return np.asarray(blocks.rows)
            return self.cut.joined(blocks if isinstance(blocks, Tracer) else np.asarray(blocks), axis)

        whole = {name: joined(data[name], axis) for name, axis in self.shard.items()}
        return self.base.whole_data(_without_rows({**data, **whole}))

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count nothing: this was done before the rows were cut, and so was `check`."""
        del position, data
        return {}

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Check nothing."""
        del data
        return ()

    @property
    def can_check(self) -> bool:
        """Return that nothing is missing."""
        return True

    @property
    def cut_data(self) -> tuple[str, ...]:
        """The arguments that are cut, and which rows are not copies."""
        return (*self.shard, _ROWS)

    def _arguments(self, position: Unknowns, data: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Separate unknowns that all pieces share, each piece's own ones, each piece's data, and common data."""
        pieces = pieces_at(position, self.layout)
        shared = {name: piece for name, piece in pieces.items() if name not in self.own}
        own = {name: self.cut.blocks(pieces[name], axis) for name, axis in self.own.items()}
        blocks = {name: data[name] for name in self.cut_data}
        return shared, own, blocks, {name: value for name, value in data.items() if name not in blocks}

    def view_outside(self, sites: Mapping[str, Site]) -> Iterator[tuple[str, Site]]:
        """Take the sites outside of plates over the rows."""
        return ((name, site) for name, site in sites.items() if name not in self.plates)

    def view_inside(self, is_real: Any) -> View:
        """Take the sites of a piece that are in plates over the rows, without those of its rows that are copies."""
        return lambda sites: ((name, self._without_copies(sites[name], is_real)) for name in self.plates)

    def _outside(self, *arguments: Any) -> dict[str, jax.Array]:
        return self.outside.terms_at(*self._seen_outside(*arguments))

    def _terms_inside(self, *arguments: Any) -> dict[str, jax.Array]:
        return self.inside.terms_at(*self._seen_inside(*arguments))

    def _seen_outside(self, shared: Any, own: Any, blocks: Any, common: Any) -> tuple[Any, Any, View]:
        """Return what `outside` takes, from the first piece."""
        first_own, first = jax.tree.map(lambda leaf: leaf[0, 0], (own, blocks))
        pieces, data = {**shared, **first_own}, _without_rows({**common, **first})
        return {**pieces, **self._zeros(pieces, is_inside=False)}, data, self.view_outside

    def _seen_inside(self, shared: Any, own: Any, piece: Any, common: Any) -> tuple[Any, Any, View]:
        """Return what `inside` takes."""
        pieces, data = {**shared, **own}, _without_rows({**common, **piece})
        view = self.view_inside(piece[_ROWS])
        return {**pieces, **self._zeros(pieces, is_inside=True)}, data, view

    def _zeros(self, pieces: Mapping[str, jax.Array], *, is_inside: bool) -> dict[str, jax.Array]:
        """Give values to the sites that are integrated out of the other part, on which this one does not depend.

        Discrete ones have the first of their values without.
        """
        dtype = next(iter(pieces.values())).dtype
        others = {
            name: shape
            for name, shape in self.hidden.items()
            if (name in self.plates) != is_inside and name not in self.discrete
        }
        return {name: jnp.zeros(shape, dtype) for name, shape in others.items()}

    def _without_copies(self, site: Site, is_real: Any) -> Site:
        """Hide the entries of copied rows of a site, Jacobians included."""
        if self.cut.is_real.all():
            return site
        mask = is_real.reshape(-1, *(1,) * (-self.plates[site.name].dim - 1))
        if site.name in self.discrete:
            return first_where_not(mask, site)
        if site.name in self.hidden:
            return normal_where_not(mask, site)
        log_det = site.log_det
        return replace(
            site,
            mask=mask if site.mask is None else jnp.logical_and(site.mask, mask),
            log_det=None if log_det is None else jnp.where(mask, log_det, jnp.zeros_like(log_det)),
        )


def _without_rows(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model's own data."""
    return {name: value for name, value in data.items() if name != _ROWS}
