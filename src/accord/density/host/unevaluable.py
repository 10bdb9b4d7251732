"""Say that a number cannot be computed on the host."""

from typing import Any, Never


class UnevaluableError(Exception):
    """A number cannot be computed on the host."""


class Parameters(dict[str, Any]):
    """The parameters of an operation, by name. A name that this version of JAX does not have is no fault of a rule."""

    def __missing__(self, name: str) -> Never:
        raise UnevaluableError(f"the operation has no parameter {name!r}")
