"""Write the page of commands from what `accord --help` says, examples included."""

import re
from typing import Any

import typer

from accord.cli.app import app


def commands() -> dict[str, Any]:
    """Return the commands by name, in the order of `accord --help`."""
    found: Any = typer.main.get_command(app)
    return dict(found.commands)


def examples(command: Any) -> list[str]:
    """The lines of shell in the example of a command's help."""
    return re.findall(r"^ *(accord .*)$", command.epilog or "", re.MULTILINE)


def command_page() -> str:
    """The page, without its first line."""
    parts = [
        "# The command line",
        "A model is a Python file, and its data a JSON, CSV, NPZ or Parquet file with arguments by name. "
        "Columns that the model does not take are named and passed over; columns of words become "
        "levels. [Preparing data](../data.md#files-for-the-command-line) says how files are read.",
    ]
    for name, command in commands().items():
        usage = ["accord", name, *(_metavar(each) for each in command.params if not _is_option(each))]
        parts += [f"## `accord {name}`", (command.help or "").strip()]
        parts.append(
            "\n".join(["```text", " ".join([*usage, "[OPTIONS]"]), "```", "", "| | |", "|---|---|"])
            + "".join(f"\n| {_row(each)} |" for each in command.params)
        )
        parts.append("\n".join(["```sh", *examples(command), "```"]))
    return "\n\n".join(parts) + "\n"


def _is_option(parameter: Any) -> bool:
    return parameter.param_type_name == "option"


def _metavar(parameter: Any) -> str:
    return parameter.metavar or parameter.name.upper()


def _row(parameter: Any) -> str:
    name = ", ".join(parameter.opts) if _is_option(parameter) else _metavar(parameter)
    default = parameter.default
    shown = (
        ""
        if default is None or isinstance(default, bool) or not _is_option(parameter)
        else f" Default: {default}."
    )
    return f"`{name}` | {(parameter.help or '').replace('|', chr(92) + '|')}{shown}"
