"""Define `accord report`: write the report of a stored run."""

from pathlib import Path
from typing import Annotated

import typer

from .. import infer
from ..core.errors import OptionError, StorageError
from ..mcmc import reported as of_draws
from ..mcmc.draws import Draws
from ..report.document.write import text_of, write
from ..vi import reported as of_fit
from ..vi.result import Fit
from .options import RunFolder


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
    if output is not None and form is not None and output.suffix[1:].lower() != form:
        raise OptionError(f"--format {form} does not fit --output {output}. Leave one out.")
    if form not in (None, "html", "md"):
        raise OptionError(f"--format must be html or md, got {form!r}.")
    found = infer.load(run)
    if isinstance(found, Draws):
        document = of_draws.document(found)
    elif isinstance(found, Fit):
        document = of_fit.document(found)
    else:
        name = type(found).__name__.lower()
        raise StorageError(
            f"{run} holds a {name}, and accord report writes reports of draws and fits. `accord summary {run}` prints "
            f"the {name}."
        )
    if output is None and form == "md":
        typer.echo(text_of(document, "md"), nl=False)
        return
    path = Path(f"{run.resolve().name}.html") if output is None else output
    write(document, path)
    typer.echo(f"Written to {path}.")
