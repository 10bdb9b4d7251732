"""Name the line of the user's own code at which something happens, and note it beside an exception.

What the code of a model raises passes through as it is. A note after its message says where in the model that was,
since between the model and the call of the user lie the frames of this package, and after it those of JAX.
"""

import contextlib
import inspect
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from ...core.errors import ModelError
from ...core.tracebacks import PACKAGE, is_library
from ..site import Frame, Site
from .tracers import way_out

_AT_SITE = "At site "
_INSIDE_OF = "Inside of "
_IN_THE_MODEL = "In the model "
_IN_THE_FUNCTION = "In the function "
_NOT_RUN = "The model "


def caller() -> str:
    """Return file and line of the nearest statement that is not this package's own."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "an unknown place"


def user_line(error: BaseException) -> str:
    """Return file, line and text of the innermost frame of a traceback that is the user's own.

    Where a model is itself part of a library that is installed, it is the line of the model.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename, frame.name)]
    if not own:
        # What comes after this package's last frame that called anything: the model's function.
        calls = [
            i for i, at in enumerate(frames[:-1]) if at.name == "run" and at.filename.startswith(PACKAGE)
        ]
        own = [frames[calls[-1] + 1]] if calls else []
    return f"{own[-1].filename}:{own[-1].lineno} `{own[-1].line}`" if own else "an unknown place"


def note_site(error: Exception, site: Site, doing: str) -> None:
    """Note beside an exception, once, at which site it was raised, and what was being done."""
    if not isinstance(error, ModelError):
        _note(error, _AT_SITE, f"{site.name!r} (at {site.where}), while {doing}.")


def note_plates(error: Exception, plates: Iterable[Frame]) -> None:
    """Note beside an exception, once, inside of which plates it was raised."""
    if not isinstance(error, ModelError):
        listed = [f"{plate.name!r} (size {plate.size} at dim {plate.dim})" for plate in plates]
        _note(error, _INSIDE_OF, f"the plate{'s' * (len(listed) > 1)} {', '.join(listed)}.")


def note_model(error: Exception, function: Any, sites: Mapping[str, Site]) -> None:
    """Note beside an exception, once, in which model and line it was raised, after which site, and what to do.

    Errors of the model's structure, which are ours, name site and line in their message.
    """
    if isinstance(error, ModelError):
        return
    after = ""
    if not _has_note(error, _AT_SITE):
        after = f", after site {[*sites][-1]!r}" if sites else ", before its first site"
    _note(error, _IN_THE_MODEL, f"{_name(function)!r}, at {user_line(error)}{after}.{_hint(error)}")


def note_unused(error: Exception, name: str, where: str) -> None:
    """Note beside an exception, once, that a model was given its data and has not been run."""
    if "ac.submodel" in str(error):
        return
    _note(
        error,
        _NOT_RUN,
        f"{name!r} was given its data at {where}, and is not run by that: `ac.submodel({name}(...), prefix={name!r})` "
        "runs it and returns its value.",
    )


def note_function(error: Exception, function: Any) -> None:
    """Note beside an exception, once, the line of a user's log density that raised it, and what to do."""
    _note(error, _IN_THE_FUNCTION, f"{_name(function)!r}, at {user_line(error)}.{_hint(error)}")


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _hint(error: Exception) -> str:
    remedy = way_out(error)
    return f" {remedy}" if remedy else ""


def _note(error: Exception, opening: str, text: str) -> None:
    if not _has_note(error, opening):
        # An exception that is frozen takes no notes, and shall pass all the same.
        with contextlib.suppress(Exception):
            error.add_note(opening + text)


def _has_note(error: Exception, opening: str) -> bool:
    return any(note.startswith(opening) for note in getattr(error, "__notes__", ()))
