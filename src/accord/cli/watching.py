"""Define `accord watch` and `accord stop`: look at a run from outside, and end it."""

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import OptionError, StorageError
from ..runs.interrupts import Interrupts
from ..storage import stopping
from ..storage.lock import writer_of
from ..storage.run_folder import manifest_of
from .options import RunFolder

if TYPE_CHECKING:
    from ..watch.watcher import Watcher


def watch_command(
    run: RunFolder,
    terminal: Annotated[bool, typer.Option("--terminal", help="Show the run here, without a page.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page on this machine; 0 is one that is free.")
    ] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what is known now as JSON, and end.")
    ] = False,
) -> None:
    """Show a run as it goes on: progress, convergence, traces and notices, on a page or in the terminal.

    It reads the folder alone, so it needs no model, may begin and end at any time, and changes nothing. The page is for
    browsers of this machine; Ctrl-C closes it, and the run goes on.
    """
    from ..watch.watcher import Watcher

    with Interrupts() as interrupts, interrupts.raising():  # so that the terminal is given back
        if as_json:
            once = Watcher(run, share=1e9)
            while once.step():
                pass
            typer.echo(json.dumps(once.view, indent=2, allow_nan=False))
            return
        watcher = Watcher(run)
        if terminal:
            from rich.console import Console

            from ..watch import terminal as display

            display.show(watcher, Console(), threading.Event())
        else:
            _serve(watcher, run, port)


def _serve(watcher: "Watcher", run: Path, port: int) -> None:
    from ..watch.server import PageServer

    try:
        server = PageServer(watcher, port)
    except OSError as error:
        raise OptionError(
            f"--port {port} cannot be used ({error.strerror or error}). Leave it out."
        ) from error
    typer.echo(f"{run} is shown at\n    {server.url}\nuntil Ctrl-C. The run goes on without it.")
    server.serve(threading.Event())


def stop_command(run: RunFolder) -> None:
    """End a run that goes on in another process: its draws so far are kept, and it can be resumed.

    The run ends once its current block is stored, as it does after Ctrl-C.
    """
    manifest_of(run)
    writer = writer_of(run)
    if writer is None:
        raise StorageError(
            f"no process writes to {run}, so there is nothing to stop. `accord summary {run}` says how far it came."
        )
    stopping.ask(run)
    typer.echo(
        f"Asked {writer} to stop: it ends when its current block is stored, mostly within two seconds.\n"
        f"To continue it: accord resume {run} FILE --data D, with the same model and data."
    )
