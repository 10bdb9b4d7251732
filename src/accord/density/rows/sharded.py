"""Cut the data of a density into blocks of rows, which may lie on several devices."""

from collections.abc import Mapping

from jax.sharding import Mesh

from ...core.errors import OptionError
from ..logdensity import LogDensity
from .chunked import ChunkedProgram
from .collect import num_laid_out
from .conditions import listed
from .cutting import NUM_BLOCKS, Cut
from .file_blocks import FileBlocks
from .named_rows import model_of_rows, num_rows_of, rows_of_plate
from .row_files import FileRows
from .sharded_program import Shard

Pairs = tuple[tuple[str, int], ...]
"""Arguments of a model, each with the axis of its rows."""


def cut_arguments(density: LogDensity, shard: Pairs | str) -> Pairs:
    """Choose the arguments to cut: those given, those along the named plate, or along one with a chunk.

    **Raises** `OptionError` for a plate that the model does not have, or whose size does not tell which arguments are
    along it.
    """
    if shard and density.layout.whole:
        raise OptionError(
            f"site {density.layout.whole[0].name!r} is sampled as whole numbers, and rows cannot be shared out over "
            "devices with such sites yet. Leave `shard=` out."
        )
    chunked = density.program.stage(ChunkedProgram)
    if isinstance(shard, str):
        plate = shard
    elif not shard and chunked is not None:
        plate = chunked.plate
    else:
        return shard
    return tuple(sorted(rows_of_plate(density.program, density.data, plate).items()))


def sharded(density: LogDensity, mesh: Mesh, shard: Mapping[str, int]) -> LogDensity:
    """Return a density with the rows of some of its data cut into blocks that lie on the devices of `mesh`.

    **Arguments**
    - `density`: of a model; where a plate has a `chunk`, blocks are evaluated in pieces of at most so many rows.
    - `shard`: the axis along which each of these arguments of the model has its rows.

    **Raises** `OptionError` for names, axes and sizes that do not fit; `SiteError` and `ModelError` for a model that
    cannot be summed over rows.
    """
    chunked = density.program.stage(ChunkedProgram)
    return _cut(density, Shard(mesh, shard, None if chunked is None else chunked.chunk))


def cut_otherwise(density: LogDensity, mesh: Mesh, shard: Mapping[str, int]) -> LogDensity:
    """Return the density summed in another way, to be compared: all rows at once, or in other chunks."""
    chunked = density.program.stage(ChunkedProgram)
    if chunked is None:
        return density
    num_rows = num_rows_of(chunked, density.data, shard)
    if num_rows <= NUM_BLOCKS:
        return LogDensity(density.data, chunked.base, density.notices)
    size = Cut.of(num_rows, chunked.chunk).size
    return _cut(density, Shard(mesh, shard, size // 2 if size > 1 else 2))


def _cut(density: LogDensity, stage: Shard) -> LogDensity:
    model_of_rows(density.program)
    program = stage.applied(density.program, density.data)
    plates, given = {frame.name for frame in program.plates.values()}, density.program.stage(ChunkedProgram)
    if given is not None and given.plate not in plates:
        raise OptionError(
            f"the plate {given.plate!r} has chunk={given.chunk}, and the rows of {listed(stage.shard)} are those of "
            f"{listed(plates)}. What is shared out must be along the plate with the chunk: give the chunk to the other "
            f'plate, or write `shard="{given.plate}"`.'
        )
    in_files = {
        name: FileBlocks(density.data[name], program.cut, num_laid_out(stage.mesh))
        for name in stage.shard
        if isinstance(density.data[name], FileRows)
    }
    in_memory = {name: value for name, value in density.data.items() if name not in in_files}
    return LogDensity({**program.blocks_of(in_memory), **in_files}, program, density.notices)
