"""Pass statements of a NumPyro program, as messages, through a stack of handlers.

A message is a dict with NumPyro's keys, so that handlers written for NumPyro read it. The stack is an immutable tuple
in a context variable: threads never see each other's handlers.
"""

import functools
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple

from ..core.errors import ModelError

Message = dict[str, Any]

_MET: ContextVar["Met | None"] = ContextVar("accord_numpyro_met", default=None)

_STACK: ContextVar[tuple["Messenger", ...]] = ContextVar("accord_numpyro_handlers", default=())


class CondIndepStackFrame(NamedTuple):
    """A plate around a statement: its name, its dim, counted from the right, and how many entries it takes."""

    name: str
    dim: int
    size: int


class Messenger:
    """A rule for the statements inside of it: put on a function, or entered by `with`.

    **Arguments**: `fn`, a function of statements; None for use in a `with`, or as a decorator.

    **Class variables**: `enters_scans`, whether it sees the statements of each step of a scan inside of it, in place of
    those of all steps together; `is_run_by_accord`, whether it makes them statements of accord.
    """

    enters_scans = False
    is_run_by_accord = False

    def __init__(self, fn: Callable[..., Any] | None = None) -> None:
        if fn is not None and not callable(fn):
            raise ModelError(f"handlers.{type(self).__name__} takes a function of statements, got {fn!r}.")
        self.fn = fn
        if fn is not None:
            functools.update_wrapper(self, fn, updated=[])

    def __enter__(self) -> Any:
        met = _MET.get()
        if met is not None:
            met.asked.update((name, type(self).__name__) for name in self.names())
        _STACK.set((*_STACK.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        stack = _STACK.get()
        place = max(i for i, each in enumerate(stack) if each is self)
        _STACK.set(stack[:place])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function inside of the rule; without one, put the rule on the function that is given."""
        if self.fn is None:
            (self.fn,) = args
            functools.update_wrapper(self, self.fn, updated=[])
            return self
        with self:
            return self.fn(*args, **kwargs)

    def names(self) -> Iterable[str]:
        """Return the names of statements that it was given."""
        return ()

    def process_message(self, msg: Message) -> None:
        """Change a message on its way out."""

    def postprocess_message(self, msg: Message) -> None:
        """Change or keep a message that has its value."""


def stack() -> tuple[Messenger, ...]:
    """Return the handlers of the running program, outermost first."""
    return _STACK.get()


class Within:
    """Run statements inside of these handlers in place of those around."""

    def __init__(self, handlers: tuple[Messenger, ...]) -> None:
        self._handlers = handlers

    def __enter__(self) -> None:
        self._token = _STACK.set(self._handlers)

    def __exit__(self, *_: object) -> None:
        _STACK.reset(self._token)


class Met:
    """Note which names statements have, and which names handlers were given, while a program runs in a `with`.

    **Fields**: `asked`, kinds of handlers by the names that they were given; `names`, of statements.
    """

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}
        self.names: set[str] = set()

    def __enter__(self) -> "Met":
        self._token = _MET.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _MET.reset(self._token)

    @property
    def unused(self) -> dict[str, str]:
        """The names that handlers were given and no statement has, with the kind of handler."""
        return {name: word for name, word in self.asked.items() if name not in self.names}


def apply_stack(msg: Message) -> Message:
    """Show a message to the handlers, innermost first, give it a value, and show it again on the way in."""
    handlers, met = _STACK.get(), _MET.get()
    seen = 0
    for handler in reversed(handlers):
        seen += 1
        if met is not None and "name" in msg:
            met.names.add(msg["name"])
        handler.process_message(msg)
        if msg.get("stop"):
            break
    if msg["value"] is None:
        _choose(msg)
    for handler in handlers[len(handlers) - seen :]:
        handler.postprocess_message(msg)
    return msg


def _choose(msg: Message) -> None:
    """Give a message that no handler gave a value the one of its function."""
    if msg["type"] != "sample":
        msg["value"] = msg["fn"](*msg["args"], **msg["kwargs"])
        return
    key = msg["kwargs"]["rng_key"]
    if key is None:
        raise ModelError(
            f"site {msg['name']!r} is drawn without a random key. Put `handlers.seed(model, rng_seed=0)` around the "
            "model, or give `rng_key=` to `numpyro.sample`."
        )
    msg["value"] = msg["fn"].sample(key, tuple(msg["kwargs"]["sample_shape"]))
