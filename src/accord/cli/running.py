"""Run a model into a folder, and print its summary."""

from pathlib import Path
from typing import Any, cast

import typer

from .. import infer
from ..core.errors import StorageError
from ..core.precision import Precision
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..language import Model, ModelFunction
from ..language.binding import check_given, check_misspelt, choose
from ..mcmc.draws import Draws
from ..runs.stopping.base import AbstractRule
from .data import open_data
from .failing import INTERRUPTED, clipped

FAILED = 1
"""Exit status for draws that must not be used, as after a failed chain or an error."""


def bind(function: ModelFunction[Model], path: Path | None) -> Model:
    """Match data to the model's arguments by name; extra data is named on stderr and ignored.

    **Raises** `DataError` for missing arguments, and for data that cannot be read.
    """
    if path is None:
        return function()
    offered = open_data(path)
    taken, passed = choose(function.function, offered)
    check_given(function.name, function.function, taken, passed)
    check_misspelt(function.name, function.function, taken, passed)
    if passed:
        others = ", ".join(map(repr, passed))
        note = f"note: {path}: the model {function.name!r} takes no {others}: passed over."
        typer.echo(clipped(note), err=True)
    return function(**{name: offered[name]() for name in taken})


def sample_into(
    target: Model,
    sampler: AbstractKernel,
    out: Path | None,
    draws: int,
    warmup: int | None,
    chains: int,
    seed: int,
    thinning: int,
    precision: str,
    executor: AbstractExecutor,
    quiet: bool,
    until: AbstractRule | None = None,
) -> None:
    """Run into a new folder, and print the summary."""
    folder = next_folder(target.name) if out is None else out
    found = infer.sample(
        target,
        sampler,
        draws=draws,
        warmup=warmup,
        chains=chains,
        seed=seed,
        thinning=thinning,
        precision=cast(Precision, precision),
        executor=executor,
        store=infer.RunFolder(folder),
        until=until,
        quiet=quiet,
    )
    conclude(found, folder)


def conclude(found: Any, folder: Path) -> None:
    """Print the summary of any run, its folder, and how to read or resume it."""
    if not isinstance(found, Draws):
        from ..vi.pathfinder.result import Paths
        from ..vi.result import Fit

        has_table = (isinstance(found, Fit) and found.density is not None and found.fitted is not None) or (
            isinstance(found, Paths) and found.num_draws > 0
        )
        typer.echo(str(found.summary() if has_table else found))
        name, is_short = type(found).__name__.lower(), not found.complete
    else:
        typer.echo(str(found.summary()))
        if found.stopping is not None:
            typer.echo(f"\n{found.stopping}.")
        name, is_short = "draws", found.num_draws < found.requested
    typer.echo(f"\nStored in {folder}. To read it again: accord summary {folder}, or in Python")
    typer.echo(f"    from accord import infer\n    {name} = infer.load({str(folder)!r})")
    if is_short:
        typer.echo(
            f"It is not complete. To continue it: accord resume {folder} FILE --data D, with the same model and data."
        )
        raise typer.Exit(INTERRUPTED)
    refuse_unusable(found)
    if not found.complete:
        raise typer.Exit(FAILED)


def refuse_unusable(found: Any) -> None:
    """Exit with status 1, and print the notice, if the draws must not be used, or another run has failed."""
    errors = [notice for notice in found.notices if notice.severity == "error"]
    if errors:
        name = type(found).__name__.lower()
        what = "do not use these draws" if isinstance(found, Draws) else f"the {name} has failed"
        typer.echo(f"error: {what} ({errors[0].code}): {errors[0].message}", err=True)
        raise typer.Exit(FAILED)


def draws_in(folder: Path, command: str) -> Draws:
    """Read the draws of a stored run. **Raises** `StorageError` for a run of something else."""
    found = infer.load(folder)
    if not isinstance(found, Draws):
        name = type(found).__name__.lower()
        raise StorageError(
            f"{folder} holds a {name} of the model {found.manifest['model']!r}, and no draws from its posterior, which "
            f"`accord {command}` needs. `accord summary {folder}` prints the {name}."
        )
    return found


def next_folder(name: str) -> Path:
    """Return the first folder of this name that does not exist."""
    number = 1
    while (folder := Path("runs") / f"{name}-{number}").exists():
        number += 1
    return folder
