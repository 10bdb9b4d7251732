"""Shorten tracebacks to the user's own lines, with the message last.

Dozens of frames of this package and of JAX lie between a user's call and the line of a model. A public function removes
them from the traceback just before an exception reaches the caller. No hook is installed, and a call that raises
nothing costs nothing: the call frames show which function is the outermost one. `JAX_TRACEBACK_FILTERING=off` shows all
frames.
"""

import functools
import inspect
import os
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

import equinox as eqx
import jax
import numpy as np

from .errors import AccordError

P = ParamSpec("P")
T = TypeVar("T")

PACKAGE = str(Path(__file__).parents[1]) + os.sep
_CORE = str(Path(__file__).parent) + os.sep

# File prefixes of frames that are not the user's. Generated code has no file.
_LIBRARIES = (
    *{path + os.sep for kind, path in sysconfig.get_paths().items() if kind.endswith("lib")},
    *(str(Path(str(module.__file__)).parent) + os.sep for module in (jax, eqx, np)),
    PACKAGE,
    "<frozen",
    "<@",
    "<attrs",
)
# JAX's additions to an exception: a note after it, or exceptions before it that were never raised.
_NOTE_OF_JAX = "--------------------\nFor simplicity, JAX has removed"
# This one holds the source location of an operation that failed when JAX transformed it.
_ORIGIN = "JaxStackTraceBeforeTransformation"
_KEPT_BY_JAX = ("UnfilteredStackTrace", _ORIGIN)
_CALLED = ("__call__", "__getattr__", "__getitem__", "__or__")


def entry_point(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a public function so that tracebacks of its errors show only the user's frames."""

    @functools.wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            leave(error)
            raise

    return entered


def entry_points(cls: type[T]) -> type[T]:
    """Decorate a class so that each of its own public methods is an entry point."""
    for name, member in [*vars(cls).items()]:
        if name.startswith("_") and name not in _CALLED:
            continue
        if isinstance(member, staticmethod):
            setattr(cls, name, staticmethod(entry_point(member.__func__)))
        elif inspect.isfunction(member) and not hasattr(member, "__wrapped__"):  # by `checks_options`
            setattr(cls, name, entry_point(member))
    return cls


def leave(error: Exception) -> None:
    """Shorten the traceback of an exception that the caller re-raises, if it goes to the user.

    A bare `raise` after this uses the exception's traceback and adds no frame for its own function.
    """
    frame = inspect.currentframe()
    entry = frame.f_back if frame is not None else None
    if entry is not None and not _is_below_another(entry):
        shorten(error)


def shorten(error: BaseException) -> None:
    """Remove frames that are not the user's from a traceback, unless JAX was told to show all frames.

    Earlier exceptions that the user's own code caught stay, shortened too. Exceptions that this package or JAX caught
    are implementation: they stay in `__context__` but are not printed.
    """
    if jax.config.jax_traceback_filtering == "off":  # pyright: ignore[reportAttributeAccessIssue]
        return
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        _forget_notes(at)
        shortened = _own(at)  # while its cause is still there
        before = _before(at)
        at.with_traceback(shortened)
        at = before


def in_words(error: BaseException) -> str:
    """Format the frames of a traceback and earlier exceptions, for a place that shows the message separately."""
    if _linked(error) is None:
        return "".join(traceback.format_tb(error.__traceback__)).rstrip()
    return "".join(traceback.format_exception(error)).strip()


def is_library(file_name: str, function: str = "") -> bool:
    """Return whether a function of this file is library code; code typed into a console is the user's."""
    is_generated = file_name == "<string>" and function == "__init__"
    return is_generated or file_name.startswith(_LIBRARIES)


def _is_below_another(entry: FrameType) -> bool:
    """Return whether an outer call of this package will shorten the traceback itself."""
    frame = entry.f_back
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            return True
        frame = frame.f_back
    return False


def _own(error: BaseException) -> TracebackType | None:
    """Return the traceback of an exception without library frames.

    An exception without user frames that was not raised on purpose, and has no note with a place, keeps the last frame
    of this package: it may be a bug here. `core` raises only on purpose, and its entry points carry no information.
    """
    frames = _frames(error)
    own = [at for at in frames if not _is_of_library(at)]
    if not own and type(error.__cause__).__name__ == _ORIGIN:
        own = [at for at in _frames(error.__cause__) if not _is_of_library(at)][-1:]
    is_meant = isinstance(error, AccordError) or (frames and _is_of(_CORE, frames[-1]))
    if not (own or is_meant or getattr(error, "__notes__", None)):
        own = [at for at in frames if _is_of(PACKAGE, at) and not _is_of(_CORE, at)][-1:]
    shortened = None
    for at in reversed(own):
        shortened = TracebackType(shortened, at.tb_frame, at.tb_lasti, at.tb_lineno)
    return shortened


def _frames(error: BaseException | None) -> list[TracebackType]:
    frames: list[TracebackType] = []
    at = error.__traceback__ if error is not None else None
    while at is not None:
        frames.append(at)
        at = at.tb_next
    return frames


def _before(error: BaseException) -> BaseException | None:
    """Return the exception to print before this one, after unlinking implementation exceptions between them."""
    before = first = _linked(error)
    while before is not None and _is_implementation(before):
        before = _linked(before)
    if before is not first:
        # Set through the base class, since an exception may be a frozen dataclass.
        if first is error.__cause__:
            BaseException.__setattr__(error, "__cause__", None)  # which also suppresses the context
            BaseException.__setattr__(error, "__context__", before or first)
        elif before is not None:
            BaseException.__setattr__(error, "__context__", before)
        BaseException.__setattr__(error, "__suppress_context__", before is None)
    return before


def _linked(error: BaseException) -> BaseException | None:
    """Return the exception that Python prints before this one."""
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _is_implementation(error: BaseException) -> bool:
    """Return whether an exception was caught by this package or a library, not by the user's code.

    A traceback begins where the exception was caught. JAX stores frames that it removed in its own exceptions.
    """
    caught = error.__traceback__
    return type(error).__name__ in _KEPT_BY_JAX or (caught is not None and _is_of_library(caught))


def _is_of(folder: str, at: TracebackType) -> bool:
    return at.tb_frame.f_code.co_filename.startswith(folder)


def _is_of_library(at: TracebackType) -> bool:
    code = at.tb_frame.f_code
    return is_library(code.co_filename, code.co_name)


def _forget_notes(error: BaseException) -> None:
    notes: Any = getattr(error, "__notes__", None)
    if isinstance(notes, list):
        notes[:] = [note for note in notes if not str(note).startswith(_NOTE_OF_JAX)]
