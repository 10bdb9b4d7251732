"""Define `accord glm`: sample the model of a formula and a table into a folder."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from .. import infer
from ..core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ..core.errors import DataError, suggest
from ..interop.formulas import columns_of, glm, split
from .data import open_data
from .options import (
    ChainCount,
    DrawCount,
    ExecutorName,
    Out,
    Quiet,
    Seed,
    WarmupCount,
    WorkerCount,
    executor_named,
)
from .running import sample_into


def glm_command(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="Such as 'y ~ x + (x | group)'.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="CSV, JSON, NPZ or Parquet file with the columns.")
    ],
    out: Out = None,
    family: Annotated[str, typer.Option(help="Family of the outcome, such as poisson.")] = "gaussian",
    link: Annotated[str | None, typer.Option(help="Link function; default the first of the family.")] = None,
    missing: Annotated[str, typer.Option(help="Rows with missing entries: error, or drop.")] = "error",
    code: Annotated[
        bool, typer.Option("--code", help="Print the code of the model, and do not run it.")
    ] = False,
    draws: DrawCount = DEFAULT_DRAWS,
    warmup: WarmupCount = None,
    chains: ChainCount = DEFAULT_CHAINS,
    seed: Seed = 0,
    executor: ExecutorName = "threads",
    workers: WorkerCount = None,
    quiet: Quiet = False,
) -> None:
    """Draw from the posterior of a regression written as a formula, store the run, and print a summary."""
    where = executor_named(executor, workers, None)
    target = glm(formula, _columns(formula, data), family, link=link, missing=cast(Any, missing), quiet=quiet)
    if code:
        typer.echo(str(target.source), nl=False)
        return
    sample_into(target, infer.NUTS(), out, draws, warmup, chains, seed, 1, "float64", where, quiet)


def _columns(formula: str, path: Path) -> dict[str, Any]:
    """Read the columns that a formula names, and no others, which may hold anything."""
    offered = open_data(path)
    needed = columns_of(split(formula))
    for name in sorted(needed):
        if name not in offered:
            raise DataError(
                f"{path}: there is no column {name!r}.{suggest(name, offered)} There are: {', '.join(offered)}."
            )
    return {name: offered[name]() for name in needed}
