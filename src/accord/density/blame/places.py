"""Find the line of the user's own code in which an operation of a jaxpr is written."""

import linecache
import os
from pathlib import Path
from typing import Any

from ...language.places import is_library
from .flat import Step

_HERE = str(Path(__file__).parent)
_ACCORD = str(Path(__file__).parents[2]) + os.sep


def line_of(step: Step) -> tuple[str, str]:
    """Place (`file:line`) and text of the line, or two empty strings where no line of the user's is involved.

    A function that JAX compiles by itself is traced once and used by many lines: within one of a library, it is the
    call that counts.
    """
    found = ("", "")
    for frame in step.frames:
        if found[0] and is_library(str(frame.debug_info.func_filename or "")):
            break
        found = _innermost(frame.eqn.source_info.traceback) or found
    return found


def function_of(step: Step) -> str:
    """The function of a library that the user called and that is compiled by itself, such as `norm`, or nothing."""
    for frame in step.frames[1:]:
        if is_library(str(frame.debug_info.func_filename or "")):
            return str(frame.debug_info.func_name).strip("_")
    return ""


def is_accords(step: Step) -> bool:
    """Whether accord itself computes this, not a function of the user's."""
    for frame in step.frames:
        for name, _ in _frames(frame.eqn.source_info.traceback):
            if not is_library(name):
                return False
            if name.startswith(_ACCORD):
                return True
    return False


def _innermost(traceback: Any) -> tuple[str, str] | None:
    for name, number in _frames(traceback):
        if not is_library(name):
            return f"{name}:{number}", linecache.getline(name, number).strip()
    return None


def _frames(traceback: Any) -> list[tuple[str, int]]:
    """File and line of each frame, innermost first, up to where the model is called from."""
    frames: list[tuple[str, int]] = []
    for frame in traceback.frames if traceback is not None else ():
        if frame.file_name.startswith(_HERE):
            break
        frames.append((frame.file_name, frame.line_num))
    return frames
