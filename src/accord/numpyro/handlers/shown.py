"""Keep the messages of a program, or hide them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core.errors import ModelError
from ..messages import Message, Messenger
from ..prng import prng_key


class trace(Messenger):  # noqa: N801 - NumPyro's name
    """Keep each site of a program: `trace(program).get_trace(*args)` maps names to messages, in order.

    `with trace() as sites:` fills the mapping while the statements run.
    """

    def __enter__(self) -> "OrderedDict[str, Message]":
        super().__enter__()
        self.trace: OrderedDict[str, Message] = OrderedDict()
        return self.trace

    def postprocess_message(self, msg: Message) -> None:
        """Keep a message that has a name.

        **Raises** `ModelError` for a second site of the same name.
        """
        if "name" not in msg:
            return
        if msg["type"] in ("sample", "deterministic") and msg["name"] in self.trace:
            raise ModelError(
                f"site {msg['name']!r} is defined twice. Names must be unique in a model; in a loop, put the index "
                "into the name or use a plate."
            )
        self.trace[msg["name"]] = dict(msg)

    def get_trace(self, *args: Any, **kwargs: Any) -> "OrderedDict[str, Message]":
        """Run the program with these arguments, and return its sites by name."""
        self(*args, **kwargs)
        return self.trace


class block(Messenger):  # noqa: N801 - NumPyro's name
    """Hide sites from the handlers outside: all of them, or those that one of the options chooses.

    **Arguments**: `hide_fn`, a function of the message; `hide`, names; `expose_types`, types of messages that are not
    hidden; `expose`, names that are not hidden. The first that is given counts.
    """

    enters_scans = True

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        hide_fn: Callable[[Message], bool] | None = None,
        hide: Sequence[str] | None = None,
        expose_types: Sequence[str] | None = None,
        expose: Sequence[str] | None = None,
    ) -> None:
        self._names = tuple((() if hide_fn is not None else hide or expose) or ())
        if hide_fn is not None:
            self.hide_fn = hide_fn
        elif hide is not None:
            self.hide_fn = lambda msg: msg.get("name") in hide
        elif expose_types is not None:
            self.hide_fn = lambda msg: msg["type"] not in expose_types
        elif expose is not None:
            self.hide_fn = lambda msg: msg.get("name") not in expose
        else:
            self.hide_fn = lambda msg: True
        super().__init__(fn)

    def names(self) -> Iterable[str]:
        """See `Messenger.names`."""
        return self._names

    def process_message(self, msg: Message) -> None:
        """End the way of a message that is hidden; what is drawn gets a key from outside."""
        if msg["type"] == "prng_key" or not self.hide_fn(msg):
            return
        msg["stop"] = True
        is_drawn = msg["type"] in ("sample", "plate", "control_flow") and msg["value"] is None
        if is_drawn and msg["kwargs"]["rng_key"] is None:
            msg["kwargs"]["rng_key"] = prng_key()
