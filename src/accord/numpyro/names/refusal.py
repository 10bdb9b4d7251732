"""Raise an error with what to write, for names of NumPyro that accord does not have."""

from typing import Any

from ...core.errors import ModelError, suggest
from ...core.tracebacks import entry_point


class NotInAccord(ModelError):  # noqa: N818 - it is read as a sentence
    """A name of NumPyro that accord does not have; the message says what to write in its place."""


class Missing:
    """What stands in the place of a name that accord does not have: an error where it is used, not where imported."""

    def __init__(self, name: str, said: str) -> None:
        self.__name__ = name
        self._said = said

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise `NotInAccord`."""
        raise self._refusal()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self._refusal()

    def _refusal(self) -> NotInAccord:
        return NotInAccord(f"`{self.__name__}` is not in accord: {self._said}")


def refusal(module: str) -> Any:
    """Return a `__getattr__` for the module that takes the place of `module`.

    Names of NumPyro that accord lacks can be imported, and raise `NotInAccord` where they are used; others are an
    `AttributeError` with the nearest name.
    """

    @entry_point
    def __getattr__(name: str) -> Any:  # noqa: N807 - the name that Python asks for
        from .tables import TABLES

        rows = TABLES.get(module, {})
        row = rows.get(name)
        if row is not None and row.mark == "missing":
            return Missing(f"{module}.{name}", row.said)
        hint = "" if name.startswith("_") else suggest(name, rows)
        raise AttributeError(f"{module} of accord has no {name!r}.{hint}", name=name, obj=None)

    return __getattr__
