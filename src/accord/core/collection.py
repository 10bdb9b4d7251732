"""Pause Python's cyclic garbage collection while many lasting objects are made, as in tracing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_put_off() -> Iterator[None]:
    """Pause cyclic garbage collection in a `with` block, unless it is off already.

    Tracing makes so many objects that Python would look through all that JAX has imported in the midst of it, which
    takes as long as to trace a small model, a tenth of a second. The switch belongs to the process: threads beside do
    without, too, and of two that put it off the first one to end gives it back.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
