"""Rename sites, set how inference treats them, and turn parameters into sites."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...distributions import AbstractDistribution
from ..messages import CondIndepStackFrame, Message, Messenger


class scope(Messenger):  # noqa: N801 - NumPyro's name
    """Put `prefix` and `divider` before the names of sites and plates.

    **Arguments**: `hide_types`, types of messages that keep their names; `"plate"` is that of plates.
    """

    enters_scans = True

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        prefix: str = "",
        divider: str = "/",
        *,
        hide_types: Sequence[str] | None = None,
    ) -> None:
        self.prefix, self.divider, self.hide_types = prefix, divider, tuple(hide_types or ())
        super().__init__(fn)

    def process_message(self, msg: Message) -> None:
        """Rename a site, and the plates around it."""
        if msg.get("name") and msg["type"] not in self.hide_types:
            msg["name"] = self._within(msg["name"])
        if msg.get("cond_indep_stack") and "plate" not in self.hide_types:
            msg["cond_indep_stack"] = [
                CondIndepStackFrame(self._within(frame.name), frame.dim, frame.size)
                for frame in msg["cond_indep_stack"]
            ]

    def _within(self, name: str) -> str:
        return f"{self.prefix}{self.divider}{name}"


class infer_config(Messenger):  # noqa: N801 - NumPyro's name
    """Add what `config_fn` returns for a site to its `infer`."""

    enters_scans = True

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        config_fn: Callable[[Message], Mapping[str, Any]] | None = None,
    ) -> None:
        self.config_fn = config_fn
        super().__init__(fn)

    def process_message(self, msg: Message) -> None:
        """Add to the `infer` of a site."""
        if msg["type"] == "sample" and self.config_fn is not None:
            msg["infer"] = {**msg["infer"], **self.config_fn(msg)}


class lift(Messenger):  # noqa: N801 - NumPyro's name
    """Turn parameters into unknowns.

    **Arguments**: `prior`, a distribution for all, or a mapping from names to distributions.
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        prior: AbstractDistribution | Mapping[str, AbstractDistribution] | None = None,
    ) -> None:
        self.prior = prior
        self._seen: dict[str, Message] = {}
        super().__init__(fn)

    def __enter__(self) -> Any:
        self._seen = {}
        return super().__enter__()

    def names(self) -> Iterable[str]:
        """See `Messenger.names`."""
        return self.prior if isinstance(self.prior, Mapping) else ()

    def process_message(self, msg: Message) -> None:
        """Make a parameter a sample site; the second statement of the same name has the value of the first."""
        if msg["type"] != "param":
            return
        name = msg["name"]
        law = self.prior.get(name) if isinstance(self.prior, Mapping) else self.prior
        if law is None:
            return
        kwargs = {
            "rng_key": msg["kwargs"].get("rng_key"),
            "sample_shape": msg["kwargs"].get("sample_shape", ()),
        }
        msg.update(type="sample", fn=law, args=(), kwargs=kwargs, intermediates=[], is_observed=False)
        msg.setdefault("infer", {})
        if name in self._seen:
            msg.update(value=self._seen[name]["value"], is_observed=True, stop=True)
        else:
            self._seen[name] = msg
