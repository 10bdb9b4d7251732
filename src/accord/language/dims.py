"""Read the names that a statement gives to the axes of its value."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import SiteError
from .labels import read_labels

Dims = str | Sequence[str] | Mapping[str, Sequence[Any] | None]


def read_dims(statement: str, name: str, dims: Dims | None) -> tuple[tuple[str, tuple[Any, ...] | None], ...]:
    """Read each name with its labels, or None.

    **Raises** `SiteError` for what are not names; `OptionError` for labels that cannot be.
    """
    if dims is None:
        return ()
    given: Mapping[str, Any] = dims if isinstance(dims, Mapping) else {}
    names: list[Any] = [*dims] if isinstance(dims, Mapping | list | tuple) else [dims]
    for each in names:
        if not isinstance(each, str) or not each:
            raise SiteError(
                f'{statement} {name!r}: dims names axes, as `dims=("row", "column")`, or with labels as '
                f'`dims={{"row": labels}}`; got {dims!r}.'
            )
    labels = {
        each: None
        if value is None
        else read_labels(f"{statement} {name!r}: the labels of dim {each!r}", value)
        for each, value in given.items()
    }
    return tuple((each, labels.get(each)) for each in names)
