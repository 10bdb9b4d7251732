"""Print what went wrong in one line, or in the lines of the user's own code, without frames of accord."""

import re
import traceback
from types import TracebackType

import jax
import typer

from ..core.errors import AccordError
from ..core.tracebacks import PACKAGE, is_library, shorten

REFUSED = 2
"""Exit status for commands that could not be carried out."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells report it."""

_MOST_FRAMES = 8  # the innermost, of a recursion without end
_MOST_LETTERS = 4000
_LONGEST_LINE = 200
_LONG_WORD = re.compile(r"\S{400,}")


def tell(error: BaseException) -> None:
    """Print an error to stderr."""
    typer.echo(clipped(_words(error)), err=True)


def clipped(text: str) -> str:
    """Shorten a message that repeats long names or values of the input."""
    text = _LONG_WORD.sub(lambda found: f"{found[0][:80]}... ({len(found[0])} letters)", text)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}... ({len(text)} letters)"


def _words(error: BaseException) -> str:
    if isinstance(error, AccordError):
        return f"error: {error}"
    if jax.config.jax_traceback_filtering == "off":  # pyright: ignore[reportAttributeAccessIssue]
        return "".join(traceback.format_exception(error))
    shorten(error)
    own = [at for at in _frames(error) if not is_library(at.tb_frame.f_code.co_filename)]
    if own or (isinstance(error, SyntaxError) and error.filename and not is_library(error.filename)):
        return _of_the_users(error, own)
    if isinstance(error, MemoryError):
        return f"error: the memory is not sufficient{f' ({error})' if str(error) else ''}."
    if isinstance(error, OSError) and error.filename is not None:
        return f"error: {error.filename}: {error.strerror}."
    return f"error: {_summary(error)}{_place(error)}. JAX_TRACEBACK_FILTERING=off in the environment shows all lines."


def _of_the_users(error: BaseException, own: list[TracebackType]) -> str:
    """Write the message, and the user's lines that led to it: the innermost last."""
    frames = [line.rstrip("\n") for at in own[-_MOST_FRAMES:] for line in traceback.format_tb(at, limit=1)]
    lines = [f"error: {_summary(error)}", *frames]
    if isinstance(error, SyntaxError):  # which knows its own place
        lines += [f'  File "{error.filename}", line {error.lineno}']
        if error.text and len(error.text) <= _LONGEST_LINE:
            start = len(error.text) - len(error.text.lstrip())
            lines += [f"    {error.text.strip()}", f"    {' ' * max((error.offset or 1) - 1 - start, 0)}^"]
    return "\n".join([*lines, *(str(note) for note in getattr(error, "__notes__", ()))])


def _summary(error: BaseException) -> str:
    try:
        words = str(error.msg if isinstance(error, SyntaxError) else error).rstrip(".")
    except Exception:  # a `__str__` of the user's that is wrong itself
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _place(error: BaseException) -> str:
    """Name the line of accord that raised, for a report."""
    for at in reversed(_frames(error)):
        file = at.tb_frame.f_code.co_filename
        if file.startswith(PACKAGE):
            return f" (accord/{file.removeprefix(PACKAGE)}, line {at.tb_lineno})"
    return ""


def _frames(error: BaseException) -> list[TracebackType]:
    found: list[TracebackType] = []
    at = error.__traceback__
    while at is not None:
        found.append(at)
        at = at.tb_next
    return found
