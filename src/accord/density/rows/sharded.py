"""Cut the data of a density into blocks of rows, which may lie on several devices."""

from collections.abc import Mapping

from jax.sharding import Mesh

from ...core import precision as precision_scope
from ...core.errors import OptionError
from ..eliminate.collapsed import CollapsedProgram
from ..logdensity import LogDensity
from ..program import ModelProgram
from .chunked import ChunkedProgram
from .collect import num_laid_out
from .conditions import listed
from .cutting import NUM_BLOCKS, Cut
from .file_blocks import FileBlocks
from .named_rows import num_rows_of, rows_of_plate
from .row_files import FileRows
from .sharded_program import ShardedProgram

Pairs = tuple[tuple[str, int], ...]
"""Arguments of a model, each with the axis of its rows."""


def cut_arguments(density: LogDensity, shard: Pairs | str) -> Pairs:
    """Choose the arguments to cut: those given, those along the named plate, or along one with a chunk.

    **Raises** `OptionError` for a plate that the model does not have, or whose size does not tell which arguments are
    along it.
    """
    if isinstance(shard, str):
        plate = shard
    elif not shard and isinstance(density.program, ChunkedProgram):
        plate = density.program.plate
    else:
        return shard
    return tuple(sorted(rows_of_plate(whole_program(density), density.data, plate).items()))


def sharded(density: LogDensity, mesh: Mesh, shard: Mapping[str, int]) -> LogDensity:
    """Return a density with the rows of some of its data cut into blocks that lie on the devices of `mesh`.

    **Arguments**
    - `density`: of a model; where a plate has a `chunk`, blocks are evaluated in pieces of at most so many rows.
    - `shard`: the axis along which each of these arguments of the model has its rows.

    **Raises** `OptionError` for names, axes and sizes that do not fit; `SiteError` and `ModelError` for a model that
    cannot be summed over rows.
    """
    program = density.program
    return _cut(density, mesh, shard, program.chunk if isinstance(program, ChunkedProgram) else None)


def cut_otherwise(density: LogDensity, mesh: Mesh, shard: Mapping[str, int]) -> LogDensity:
    """Return the density summed in another way, to be compared: all rows at once, or in other chunks."""
    program = density.program
    if not isinstance(program, ChunkedProgram):
        return density
    num_rows = num_rows_of(program.base, density.data, shard)
    if num_rows <= NUM_BLOCKS:
        return LogDensity(density.data, program.base, density.notices)
    size = Cut.of(num_rows, program.chunk).size
    return _cut(density, mesh, shard, size // 2 if size > 1 else 2)


def whole_program(density: LogDensity) -> ModelProgram:
    """Return the model of a density. Raises `OptionError` where it is of a function."""
    program = density.program
    if isinstance(program, CollapsedProgram):
        raise OptionError(
            f"shard= shares rows out, and {listed(program.groups.names)} are collapsed, for which all rows are needed "
            "in one place. Leave `shard=` out, or the sites out of `handlers.collapse`."
        )
    if program.whole is None:
        raise OptionError(
            "shard= names arguments of a model, and this density is of a function. Sum over its data with "
            "`accord.density.sharded_sum` there."
        )
    return program.whole


def _cut(density: LogDensity, mesh: Mesh, shard: Mapping[str, int], chunk: int | None) -> LogDensity:
    base, given = whole_program(density), density.program
    num_rows = num_rows_of(base, density.data, shard)
    with precision_scope.scope(base.precision):
        program = ShardedProgram.of(base, density.data, mesh, dict(shard), Cut.of(num_rows, chunk))
    plates = {frame.name for frame in program.plates.values()}
    if isinstance(given, ChunkedProgram) and given.plate not in plates:
        raise OptionError(
            f"the plate {given.plate!r} has chunk={given.chunk}, and the rows of {listed(shard)} are those of "
            f"{listed(plates)}. What is shared out must be along the plate with the chunk: give the chunk to the other "
            f'plate, or write `shard="{given.plate}"`.'
        )
    in_files = {
        name: FileBlocks(density.data[name], program.cut, num_laid_out(mesh))
        for name in shard
        if isinstance(density.data[name], FileRows)
    }
    in_memory = {name: value for name, value in density.data.items() if name not in in_files}
    return LogDensity({**program.blocks_of(in_memory), **in_files}, program, density.notices)
