"""Pause Python's cyclic garbage collection while many lasting objects are made, as in tracing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_put_off() -> Iterator[None]:
    """Pause cyclic garbage collection in a `with` block, unless it is off already.

    Tracing makes so many objects that Python would scan everything that JAX has imported in the middle of it. That
    takes a tenth of a second, as long as tracing a small model. The switch belongs to the process: other threads go
    without collection too, and if two threads pause it, the first to finish switches it on again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
