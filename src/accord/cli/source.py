"""Import a model from a Python file, as `python FILE` would run it."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import cloudpickle
import typer

from ..core.errors import OptionError, suggest
from ..language import Model, ModelFunction

_LARGEST = 2**26  # bytes of a file with a model


@contextmanager
def import_model(source: str) -> Iterator[ModelFunction[Model]]:
    """Import the model of `FILE` or `FILE:NAME`; the file can import from its own folder.

    **Raises** `OptionError` if there is no such file, or not exactly one model in it, and if the file ends the process;
    other errors of the file itself pass through.
    """
    path, name = _split(source)
    if not _is_file(path):
        raise OptionError(
            f"there is no file {str(path)!r}. Give a Python file with a model, as FILE or FILE:NAME."
        )
    # The command line has its own use for these: it would end, and with a status that says that all went well.
    try:
        with _imported(path) as module:
            yield _choose(module, path, name)
    except SystemExit as error:
        raise OptionError(_ended(path, f"SystemExit({error.code!r}), as `sys.exit` and `exit` do")) from error
    except EOFError as error:
        raise OptionError(f"{path} read beyond the end of its input (EOFError: {error}).") from error


def _split(source: str) -> tuple[Path, str]:
    """Split `FILE:NAME` at its last colon, unless it belongs to the path, as in `C:/models.py`."""
    file, colon, name = source.rpartition(":")
    if colon and file and (name.isidentifier() or not name) and not _is_file(Path(source)):
        return Path(file), name
    return Path(source), ""


def _ended(path: Path, how: str) -> str:
    return (
        f"{path} ended the process by {how}. Leave it out of the file, or put it behind "
        '`if __name__ == "__main__":`.'
    )


def _is_file(path: Path) -> bool:
    """Return whether there is a regular file; there is none with a name that the system cannot have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def _imported(path: Path) -> Iterator[ModuleType]:
    name = f"accord_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise OptionError(f"{str(path)!r} is not a Python file: its name must end in .py.")
    if path.stat().st_size > _LARGEST:
        raise OptionError(f"{path} has {path.stat().st_size} bytes, which is too large for a Python file.")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    # Entered for as long as the model is used: it may import, and pickle looks for its module.
    sys.path.insert(0, folder)
    sys.modules[name] = module
    # A worker process could not import it by that name.
    cloudpickle.register_pickle_by_value(module)
    try:
        code = _compiled(spec.loader, name, path)
        try:
            exec(code, module.__dict__)
        except (typer.Exit, typer.Abort, BrokenPipeError) as error:
            raise OptionError(_ended(path, type(error).__name__)) from error
        yield module
    finally:
        cloudpickle.unregister_pickle_by_value(module)
        del sys.modules[name]
        if folder in sys.path:
            sys.path.remove(folder)


def _compiled(loader: Any, name: str, path: Path) -> CodeType:
    """Compile a file, apart from running it: what is raised here has no line of the user's in its traceback."""
    try:
        return loader.get_code(name)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError) and error.filename is not None:
            raise
        raise OptionError(
            f"{path} cannot be read as Python: {str(error) or type(error).__name__}."
        ) from error


def _choose(module: ModuleType, path: Path, name: str) -> ModelFunction[Model]:
    models = {key: value for key, value in vars(module).items() if isinstance(value, ModelFunction)}
    if name:
        if name not in models:
            listed = ", ".join(models) or "none"
            raise OptionError(f"{path} has no model {name!r}.{suggest(name, models)} Its models: {listed}.")
        return models[name]
    own = [key for key, value in models.items() if value.function.__module__ == module.__name__]
    if not own:
        raise OptionError(f"{path} defines no model: decorate a function with `@ac.model`.")
    if len(own) > 1:
        # Others are mostly parts of the one that is called as the file, or to be compared with it.
        likely = path.stem if path.stem in own else own[0]
        raise OptionError(
            f"{path} defines {len(own)} models: {', '.join(own)}. Name one, as {path}:{likely}."
        )
    return models[own[0]]
