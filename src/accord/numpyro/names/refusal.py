"""Raise an error with what to write, for names of NumPyro that accord does not have."""

from typing import Any

from ...core.errors import ModelError, suggest
from ...core.tracebacks import entry_point


class NotInAccord(ModelError):  # noqa: N818 - it is read as a sentence
    """A name of NumPyro that accord does not have; the message says what to write in its place."""


def refusal(module: str) -> Any:
    """Return a `__getattr__` for the module that takes the place of `module`.

    It raises `NotInAccord` for names of NumPyro, so that `from ... import` shows the message, and `AttributeError` with
    the nearest name for others.
    """

    @entry_point
    def __getattr__(name: str) -> Any:  # noqa: N807 - the name that Python asks for
        from .tables import TABLES

        rows = TABLES.get(module, {})
        row = rows.get(name)
        if row is not None and row.mark == "missing":
            raise NotInAccord(f"`{module}.{name}` is not in accord: {row.said}")
        hint = "" if name.startswith("_") else suggest(name, rows)
        raise AttributeError(f"{module} of accord has no {name!r}.{hint}", name=name, obj=None)

    return __getattr__
