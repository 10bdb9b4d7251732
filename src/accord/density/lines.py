"""Find the line of the user's own code in which an operation of a jaxpr is written."""

import linecache
import os
from pathlib import Path
from typing import Any

import jax

from ..language.messages.places import is_library
from .flat import Step

_BLAME = str(Path(__file__).parent / "blame")
_JAX = str(Path(str(jax.__file__)).parent) + os.sep
_INSIDE = _JAX + "_src" + os.sep
_RUNNING = tuple(str(Path(__file__).parents[1] / room) + os.sep for room in ("language", "density", "core"))
_ACCORD = str(Path(__file__).parents[1]) + os.sep


def line_of(step: Step) -> tuple[str, str]:
    """Return place (`file:line`) and text of the line; two empty strings where no line of the user's is involved.

    A function that JAX compiles by itself is traced once and used by many lines: within one of a library, it is the
    call that counts.
    """
    found = ("", "")
    for frame in step.frames:
        owner = str(frame.debug_info.func_filename or "")
        if found[0] and is_library(owner) and not owner.startswith(_RUNNING):
            break
        found = _innermost(frame.eqn.source_info.traceback) or found
    return found


def function_of(step: Step) -> str:
    """Name the library function that the user called and JAX compiles by itself, such as `norm`; else ""."""
    for frame in step.frames[1:]:
        if is_library(str(frame.debug_info.func_filename or "")):
            return str(frame.debug_info.func_name).strip("_")
    return ""


def calls_of(step: Step, own_file: str) -> list[str]:
    """List the functions of libraries that the user's code calls at this step, outermost first.

    There are several where one that is compiled by itself calls another. What runs a user's functions does
    not count.

    **Arguments**
    - `own_file`: of the model, which is the user's wherever it is installed.
    """

    def is_users(name: str) -> bool:
        return name == own_file or not is_library(name)

    owners = [is_users(str(frame.debug_info.func_filename or _JAX)) for frame in step.frames]
    first = max((number for number, is_own in enumerate(owners) if is_own), default=0)
    found: list[str] = []
    for frame in step.frames[first:]:
        called = ""
        for each in frame.eqn.source_info.traceback.frames if frame.eqn.source_info.traceback else ():
            if is_users(each.file_name):
                break
            if not _is_machinery(each.file_name):
                called = each.function_name
        found.append(called)
    return found


def is_accords(step: Step) -> bool:
    """Return whether accord itself computes this, not a function of the user's."""
    for frame in step.frames:
        for name, _ in _frames(frame.eqn.source_info.traceback):
            if not is_library(name):
                return False
            if name.startswith(_ACCORD):
                return True
    return False


def _is_machinery(file_name: str) -> bool:
    """Return whether a file is of JAX's or accord's machinery, which runs a user's functions."""
    if file_name.startswith(_RUNNING):
        return True
    inside = file_name.removeprefix(_INSIDE)
    return inside != file_name and (os.sep not in inside or inside.startswith("interpreters" + os.sep))


def _innermost(traceback: Any) -> tuple[str, str] | None:
    for name, number in _frames(traceback):
        if not is_library(name):
            return f"{name}:{number}", linecache.getline(name, number).strip()
    return None


def _frames(traceback: Any) -> list[tuple[str, int]]:
    """List file and line of each frame, innermost first, up to where the model is called from."""
    frames: list[tuple[str, int]] = []
    for frame in traceback.frames if traceback is not None else ():
        if frame.file_name.startswith(_BLAME):
            break
        frames.append((frame.file_name, frame.line_num))
    return frames
