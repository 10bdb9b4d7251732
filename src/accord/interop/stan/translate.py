"""Translate a Stan program to C++ by stanc."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import ModelError, OptionError
from .toolchain import WORD, Toolchain

TEXT = "program.stan"
"""The name of a program that was given as text, in messages."""


@dataclass(frozen=True)
class Kind:
    """Type of a variable, as stanc tells it. **Fields**: `type` of its entries, "int" or "real" or others; `rank`."""

    type: str
    rank: int


@dataclass(frozen=True)
class Translation:
    """A Stan program in C++.

    **Fields**
    - `name` of its file; `source`, C++.
    - `inputs`, `parameters`, `others`: data, unknowns and what is computed from them, by name. `warnings` of stanc.
    """

    name: str
    source: str
    inputs: Mapping[str, Kind]
    parameters: Mapping[str, Kind]
    others: Mapping[str, Kind]
    warnings: str = ""

    @staticmethod
    def of(program: str | os.PathLike[str], tools: Toolchain) -> "Translation":
        """Translate a file, or the text of a program.

        **Raises** `OptionError` where there is no such file; `ModelError` with what stanc says of an invalid program.
        """
        name, text, folder = _read(program)
        with tempfile.TemporaryDirectory(prefix="accord-stan-") as place:
            path = Path(place, name)
            path.write_text(text)
            command = [str(tools.stanc), "--name=stan_program", f"--filename-in-msg={name}"]
            command += [f"--include-paths={folder}"] if folder else []
            said = _run([*command, f"--o={path.with_suffix('.hpp')}", str(path)], name)
            described = json.loads(_run([*command, "--info", str(path)], name).stdout)
            source = path.with_suffix(".hpp").read_text()
        blocks = {block: _kinds(each) for block, each in described.items() if block in _BLOCKS}
        inputs, parameters, transformed, generated = (blocks[block] for block in _BLOCKS)
        return Translation(name, source, inputs, parameters, transformed | generated, said.stderr.strip())


_BLOCKS = ("inputs", "parameters", "transformed parameters", "generated quantities")


def _read(program: str | os.PathLike[str]) -> tuple[str, str, str]:
    """Return the name of a program, its text, and the folder of files that it includes."""
    if not isinstance(program, str | os.PathLike):
        raise OptionError(
            f"{WORD} takes the path of a Stan program, or its text, got {type(program).__name__}."
        )
    if isinstance(program, str) and re.search(r"[{\n]", program):
        return TEXT, program, ""
    path = Path(program)
    try:
        return path.name, path.read_text(), str(path.resolve().parent)
    except OSError as error:
        raise OptionError(
            f"{WORD}: cannot read the Stan program {str(program)!r}: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise OptionError(f"{WORD}: {str(program)!r} is not a text in UTF-8.") from None


def _run(command: list[str], name: str) -> "subprocess.CompletedProcess[str]":
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        words = (said.stderr or said.stdout).strip()
        raise ModelError(f"{WORD}: stanc does not accept {name!r}. It says:\n\n{words}")
    return said


def _kinds(described: Mapping[str, Mapping[str, object]]) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for name, each in described.items():
        rank = each.get("dimensions", 0)
        kind = each["type"]
        found[name] = Kind(kind if isinstance(kind, str) else "a tuple", rank if isinstance(rank, int) else 0)
    return found
