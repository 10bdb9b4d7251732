"""Define `accord report`: write the report of a stored run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import infer
from ..core.errors import OptionError, StorageError
from .options import RunFolder

if TYPE_CHECKING:
    from ..report.document.base import Document


def report_command(
    run: RunFolder,
    output: Annotated[
        Path | None,
        typer.Option(help="File to write, in .html or .md; default RUN.html here, and Markdown is printed."),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="html or md; default that of the file, or html.")
    ] = None,
) -> None:
    """Write a report of a stored run, without its model: one page that fetches nothing, or Markdown."""
    from ..report.document.write import text_of, write

    if output is not None and form is not None and output.suffix[1:].lower() != form:
        raise OptionError(f"--format {form} does not fit --output {output}. Leave one out.")
    if form not in (None, "html", "md"):
        raise OptionError(f"--format must be html or md, got {form!r}.")
    document = _document(infer.load(run), run)
    if output is None and form == "md":
        typer.echo(text_of(document, "md"), nl=False)
        return
    path = Path(f"{run.resolve().name}.html") if output is None else output
    write(document, path)
    typer.echo(f"Written to {path}.")


def _document(found: Any, run: Path) -> "Document":
    """Return the report of what a folder holds. **Raises** `StorageError` where there is none."""
    from ..calibration import reported as of_calibration
    from ..calibration.calibration import Calibration
    from ..mcmc import reported as of_draws
    from ..mcmc.draws import Draws
    from ..vi import reported as of_fit
    from ..vi.pathfinder import reported as of_paths
    from ..vi.pathfinder.result import Paths
    from ..vi.result import Fit

    match found:
        case Draws():
            return of_draws.document(found)
        case Fit():
            return of_fit.document(found)
        case Paths():
            return of_paths.document(found)
        case Calibration():
            return of_calibration.document(found)
        case _:
            name = type(found).__name__.lower()
            raise StorageError(
                f"{run} holds a {name}, of which there is no report. `accord summary {run}` prints the {name}."
            )
