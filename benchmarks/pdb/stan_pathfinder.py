"""Run Stan's multi-path Pathfinder on a Stan program.

It is compiled by the toolchain of `accord.interop.stan`, and with its options. As in CmdStan, Stan's headers and what
calls a program (`pathfinder.cpp`) are compiled once, and kept.
"""

import contextlib
import ctypes
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from accord.interop.stan.build import arguments, compiled
from accord.interop.stan.toolchain import Toolchain
from accord.interop.stan.translate import Translation
from database import arrays_of

_CALLS = Path(__file__).with_name("pathfinder.cpp")
_PLACE = re.compile(r"\.([\d.]+)$")  # of `L.2.1`


@dataclass(frozen=True)
class Ran:
    """What Stan gives.

    **Fields**
    - `draws`: resampled, by name, shape `(draw, *parameter)`; `log_weights`: of the draws of all paths.
    - `is_started`: whether paths began at the given starts, and not at Stan's own.
    """

    draws: dict[str, np.ndarray]
    log_weights: np.ndarray
    is_started: bool


@dataclass(frozen=True)
class Program:
    """A compiled program. **Fields**: `folder`, of it and its runs; `ranks`, numbers of axes of its parameters."""

    folder: Path
    ranks: Mapping[str, int]

    def run(self, data: str, starts: Sequence[Mapping[str, Any]], draws: int, seed: int) -> Ran:
        """Run a path for each start. Raises `RuntimeError` with the last that Stan has said, where it fails.

        **Arguments**: `data`, as JSON; `starts`, constrained values by name. Where they do not name all parameters of
        the program, paths begin at starts of Stan's own.
        """
        (self.folder / "data.json").write_text(data)
        is_started = all(
            name in start and np.ndim(start[name]) == rank
            for start in starts
            for name, rank in self.ranks.items()
        )
        for path, start in enumerate(starts if is_started else ()):
            values = {name: np.asarray(start[name]).tolist() for name in self.ranks}
            (self.folder / f"start_{path}.json").write_text(json.dumps(values))
        library = ctypes.CDLL(str(self.folder / "program.so"))
        folder = str(self.folder).encode()
        if library.run_pathfinder(folder, len(starts), draws, ctypes.c_uint(seed)):
            said = (self.folder / "said").read_text().split("\n")
            raise RuntimeError(next((line for line in reversed(said) if line.strip()), "Stan said nothing"))
        names = (self.folder / "names").read_text().split()
        chosen, *paths = (
            np.fromfile(self.folder / file).reshape(-1, len(names))
            for file in ("draws", *(f"path_{path}" for path in range(len(starts))))
        )
        approximate, exact = np.concatenate(paths)[:, :2].T
        columns = {_PLACE.sub(_in_brackets, name): chosen[:, i] for i, name in enumerate(names)}
        return Ran(arrays_of(columns), exact - approximate, is_started)


@contextlib.contextmanager
def built(program: Path, once: Sequence[str]) -> Iterator[Program]:
    """Translate and compile. **Arguments**: `once`, from `compiled_once`."""
    tools = Toolchain.find()
    with tempfile.TemporaryDirectory(prefix="pathfinder-") as place:
        folder = Path(place)
        translation = Translation.of(program, tools)
        (folder / "nothing.cpp").touch()
        compiled(translation.source, folder / "program.so", tools, folder / "nothing.cpp", once)
        yield Program(folder, {name: kind.rank for name, kind in translation.parameters.items()})


def compiled_once(kept: Path) -> list[str]:
    """Compile what all programs have in common, if it is not in the folder `kept`; return arguments that bring it."""
    tools = Toolchain.find()
    header, calls = kept / "stan.hpp", kept / "pathfinder.o"
    command = [tools.compiler, *arguments(tools)]
    if not calls.exists() or calls.stat().st_mtime < _CALLS.stat().st_mtime:
        kept.mkdir(parents=True, exist_ok=True)
        header.write_text("#include <stan/model/model_header.hpp>\n")
        subprocess.run([*command, "-x", "c++-header", "-c", str(header), "-o", f"{header}.gch"], check=True)
        underway = calls.with_suffix(".underway")
        include = ["-include", str(header)]
        subprocess.run([*command, *include, "-c", str(_CALLS), "-o", str(underway)], check=True)
        underway.rename(calls)
    return ["-include", str(header), str(calls)]


def _in_brackets(found: re.Match[str]) -> str:
    return f"[{found[1].replace('.', ',')}]"
