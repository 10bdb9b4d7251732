"""Run a script that was written for NumPyro."""

import re
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import OptionError

_ASSERTED = re.compile(r"""__version__\s*(?:\.startswith\(|==\s*)["'](\d+\.\d+[^"']*)["']""")


def run_numpyro_command(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(help="A script that imports numpyro.", show_default=False)],
    numpyro_version: Annotated[
        str | None,
        typer.Option(help="What numpyro.__version__ shall be; by default the one that the script asserts."),
    ] = None,
) -> None:
    """Run a script written for NumPyro, unchanged: its `import numpyro` imports `accord.numpyro`.

    What follows SCRIPT are the script's own arguments.
    """
    from ..numpyro import install

    if not script.is_file():
        raise OptionError(f"run-numpyro: there is no file {str(script)!r}. Give the path of a script.")
    found = _ASSERTED.search(script.read_text(encoding="utf-8"))
    version = numpyro_version or (found[1] if found else None)
    arguments, path = sys.argv, sys.path
    sys.argv, sys.path = [str(script), *context.args], [str(script.resolve().parent), *path]
    try:
        with install(version=version):
            runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv, sys.path = arguments, path
