"""Change JSON at every place, to values of every type."""

import json
from typing import Any

VALUES = [
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    0.5,
    float("nan"),
    "",
    "x",
    "\ud800",
    [],
    [None],
    [[]],
    {},
    {"x": None},
]
"""A value of each type, and some at the edges of one; `...` beside them stands for no key at all."""


def places_in(value: Any, at: tuple[Any, ...] = ()) -> Any:
    """Every key of a JSON value, as a path."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield (*at, key)
        yield from places_in(each, (*at, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at one place; without the place for `...`."""
    copy = json.loads(json.dumps(value))
    *above, last = path
    here = copy
    for key in above:
        here = here[key]
    if new is ...:
        del here[last]
    else:
        here[last] = new
    return copy
