"""Give statements values from the outside, or take them away."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...core.errors import ModelError, OptionError
from ..messages import Message, Messenger, apply_stack
from ..prng import prng_key

_SUBSTITUTED = ("sample", "param", "mutable", "plate", "deterministic")


class AbstractGiven(Messenger):
    """A rule that gives values by name, or by a function of the message.

    Statements in a scan hear of it from the scan, which has values for all steps.
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None,
        data: Mapping[str, Any] | None,
        function: Callable[[Message], Any] | None,
    ) -> None:
        word = type(self).__name__
        if (data is None) == (function is None):
            raise OptionError(f"handlers.{word}: give one of `data` and `{word}_fn`.")
        if data is not None and not isinstance(data, Mapping):
            raise OptionError(f"handlers.{word}: data must map names of sites to values, got {data!r}.")
        self.data, self.function = data, function
        super().__init__(fn)

    def names(self) -> Iterable[str]:
        """See `Messenger.names`."""
        return self.data or ()

    def value_of(self, msg: Message) -> Any:
        """Return the value for a message, or None; a scan is told that there are values for its steps."""
        if msg["type"] == "control_flow":
            given = self.data if self.data is not None else self.function
            msg["kwargs"]["substitute_stack"].append((type(self).__name__, given))
            return None
        if msg.get("_control_flow_done"):
            return None
        if self.data is not None:
            return self.data.get(msg.get("name", ""))
        return None if self.function is None else self.function(msg)


class condition(AbstractGiven):  # noqa: N801 - NumPyro's name
    """Observe sample sites to have the values in `data`, by name, or those that `condition_fn` returns."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        data: Mapping[str, Any] | None = None,
        condition_fn: Callable[[Message], Any] | None = None,
    ) -> None:
        super().__init__(fn, data, condition_fn)

    def process_message(self, msg: Message) -> None:
        """Set the value, as observed."""
        if msg["type"] not in ("sample", "control_flow"):
            return
        value = self.value_of(msg)
        if value is not None:
            msg["value"], msg["is_observed"] = value, True


class substitute(AbstractGiven):  # noqa: N801 - NumPyro's name
    """Give sites the values in `data`, by name, as if they had been drawn; parameters and plates too."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        data: Mapping[str, Any] | None = None,
        substitute_fn: Callable[[Message], Any] | None = None,
    ) -> None:
        super().__init__(fn, data, substitute_fn)

    def process_message(self, msg: Message) -> None:
        """Set the value."""
        if msg["type"] not in (*_SUBSTITUTED, "control_flow"):
            return
        value = self.value_of(msg)
        if value is not None:
            msg["value"] = dict(value) if msg["type"] == "mutable" and isinstance(value, dict) else value


class replay(Messenger):  # noqa: N801 - NumPyro's name
    """Give what is drawn the values that it has in `trace`."""

    def __init__(
        self, fn: Callable[..., Any] | None = None, trace: Mapping[str, Message] | None = None
    ) -> None:
        if trace is None:
            raise OptionError("handlers.replay: give `trace=`, from `handlers.trace(...).get_trace(...)`.")
        self.trace = trace
        super().__init__(fn)

    def process_message(self, msg: Message) -> None:
        """Set the value of a site that is drawn, and the part that a plate takes."""
        if msg["type"] == "control_flow":
            msg["kwargs"]["substitute_stack"].append(("replay", self.trace))
        if msg["type"] not in ("sample", "plate") or msg["name"] not in self.trace:
            return
        name, found = msg["name"], self.trace[msg["name"]]
        if msg["type"] == "sample" and (msg["is_observed"] or msg.get("_control_flow_done")):
            return
        if found["type"] != msg["type"] or found.get("is_observed"):
            there = "an observed site" if found.get("is_observed") else f"a {found['type']}"
            raise ModelError(
                f"handlers.replay: {name!r} is a {msg['type']} that is drawn, and in the trace {there}. Give one of "
                "them another name."
            )
        msg["value"] = found["value"]
        if msg["type"] == "sample":
            msg["infer"] = dict(found["infer"])


class uncondition(Messenger):  # noqa: N801 - NumPyro's name
    """Draw observed sites anew, from their distributions."""

    enters_scans = True

    def process_message(self, msg: Message) -> None:
        """Take the value away, and keep it at `infer["obs"]`."""
        if msg["type"] != "sample" or not msg["is_observed"]:
            return
        msg["is_observed"] = False
        msg["infer"] = {**msg["infer"], "was_observed": True, "obs": msg["value"]}
        msg["value"] = None
        if msg["kwargs"]["rng_key"] is None:
            msg["kwargs"]["rng_key"] = prng_key()


class do(Messenger):  # noqa: N801 - NumPyro's name
    """Set sites to the values in `data`, by name, as an intervention: what depends on them sees these values.

    The site itself stays as it is, so that it is sampled or observed as before; the value set is at `name__CF`.
    """

    def __init__(self, fn: Callable[..., Any] | None = None, data: Mapping[str, Any] | None = None) -> None:
        self.data = dict(data or {})
        super().__init__(fn)

    def names(self) -> Iterable[str]:
        """See `Messenger.names`."""
        return self.data

    def process_message(self, msg: Message) -> None:
        """Visit the site as it is, and give what follows the value that is set."""
        if msg["type"] != "sample" or msg["name"] not in self.data or msg.get("_intervener_id") == id(self):
            return
        if msg.get("_intervener_id") is not None:
            warnings.warn(
                f"handlers.do sets {msg['name']!r} twice: the outer value has no effect.", stacklevel=2
            )
        msg["_intervener_id"] = id(self)
        apply_stack(dict(msg, cond_indep_stack=[], infer=dict(msg["infer"]), kwargs=dict(msg["kwargs"])))
        value = self.data[msg["name"]]
        msg.update(name=f"{msg['name']}__CF", value=value, is_observed=True, stop=True)
