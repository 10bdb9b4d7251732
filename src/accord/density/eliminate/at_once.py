"""Compute while JAX traces something around it."""

import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ...core import precision as precision_scope

T = TypeVar("T")


def at_once(function: Callable[..., T], *arguments: Any) -> T:
    """Compute in float64, also while JAX traces something around this: its traces belong to a thread."""

    def run() -> T:
        with precision_scope.scope("float64"):
            return function(*arguments)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, run).result()
