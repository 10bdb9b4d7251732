"""Sample sites by way of other variables."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...core.errors import OptionError
from ..messages import Message, Messenger

_KEPT = ("type", "name", "value", "cond_indep_stack")


class reparam(Messenger):  # noqa: N801 - NumPyro's name
    """Sample sites by way of other variables, by `infer.reparam`.

    **Arguments**: `config`, a mapping from names to reparameterisations, or a function of the message that returns one
    or None.
    """

    enters_scans = True

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        config: Mapping[str, Any] | Callable[[Message], Any] | None = None,
    ) -> None:
        if not (isinstance(config, Mapping) or callable(config)):
            raise OptionError(
                f"handlers.reparam: config must map names to reparameterisations, got {config!r}."
            )
        self.config = config
        super().__init__(fn)

    def names(self) -> Iterable[str]:
        """See `Messenger.names`."""
        return self.config if isinstance(self.config, Mapping) else ()

    def process_message(self, msg: Message) -> None:
        """Replace a sample site by what its reparameterisation makes of it."""
        if msg["type"] != "sample":
            return
        way = self.config.get(msg["name"]) if isinstance(self.config, Mapping) else self.config(msg)
        if way is None:
            return
        law, value = way(msg["name"], msg["fn"], msg["value"])
        if law is None:
            msg.update(type="deterministic", value=value)
            for key in [key for key in msg if key not in _KEPT]:
                del msg[key]
            return
        if value is not None:
            msg["is_observed"] = msg["is_observed"] or msg["value"] is None
            msg["value"] = value
        msg["fn"] = law
