"""Run a NumPyro program as a model of accord: each message that reaches the outside becomes a statement of accord."""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import handlers as ac_handlers
from ..core.errors import ModelError, SiteError
from ..distributions import Unit
from ..language import cond, deterministic, factor, plate, sample, scan
from ..language.handler import AbstractHandler
from ..language.handlers.handled import Handled
from ..language.handlers.values import Condition, Substitute
from ..model import Model, model
from .messages import CondIndepStackFrame, Message, Messenger, Within, stack
from .plates import plate_shape


class Bridge(Messenger):
    """The outermost rule of a program that accord runs.

    **Fields**: `plates`, the sizes of plates with a part of their entries, by name: all, and that of the part.
    """

    is_run_by_accord = True

    def __init__(self) -> None:
        super().__init__()
        self.plates: dict[str, tuple[int, int]] = {}
        self.keys = 0

    def process_message(self, msg: Message) -> None:
        """Make the statement of accord, and take its value."""
        match msg["type"]:
            case "sample":
                msg["value"] = self._sample(msg)
            case "deterministic":
                msg["value"] = deterministic(msg["name"], msg["value"])
            case "plate" if msg["value"] is None:
                size, count = msg["args"]
                self.plates[msg["name"]] = size, count
                with plate(msg["name"], size, subsample_size=count) as index:
                    msg["value"] = index
            case "prng_key" if msg["kwargs"]["rng_key"] is None:
                # NumPyro draws a key once for a run of MCMC, in which it stays the same.
                msg["value"] = jax.random.fold_in(jax.random.key(0), self.keys)
                self.keys += 1
            case "control_flow" if msg["value"] is None:
                msg["value"] = msg["kwargs"]["in_accord"](msg, self)
            case _:
                pass

    def scale_of(self, msg: Message) -> Any:
        """Return the scale of a site beside that of plates with a part of their entries, which accord knows."""
        return msg.get("own_scale")

    def _sample(self, msg: Message) -> Any:
        name, law, value = msg["name"], msg["fn"], msg["value"]
        if shape := msg["kwargs"].get("sample_shape"):
            law = law.expand((*shape, *law.batch_shape))
        frames: Sequence[CondIndepStackFrame] = msg["cond_indep_stack"]
        if np.shape(value)[-1:] == (0,) and isinstance(unwrapped(law), Unit):
            return self._factor(name, law, value, frames, self.scale_of(msg))
        if value is not None:
            law = _as_wide(name, law, value, frames)
        with self._around(frames, self.scale_of(msg)):
            if value is None:
                return sample(name, law)
            if msg["is_observed"]:
                return sample(name, law, obs=value, obs_mask=msg.get("obs_mask"))
            return ac_handlers.substitute(lambda: sample(name, law), {name: value})()

    def _factor(
        self, name: str, law: Any, value: Any, frames: Sequence[CondIndepStackFrame], scale: Any
    ) -> Any:
        """Add a factor; entries of plates stay apart, so that labels of each are summed out apart."""
        plates = plate_shape(frames)
        term = law.log_prob(jnp.zeros((*law.batch_shape, 0)))
        is_within = len(jnp.shape(term)) <= len(plates)
        if not is_within and any(frame.name in self.plates for frame in frames):
            raise SiteError(
                f"factor {name!r} has shape {jnp.shape(term)}, but the plates around it make {plates}, of which one "
                "takes a part of its entries. Sum the factor over its own axes."
            )
        with self._around(frames if is_within else (), scale):
            factor(name, jnp.broadcast_to(term, plates) if is_within else term)
        return value

    @contextlib.contextmanager
    def _around(self, frames: Sequence[CondIndepStackFrame], scale: Any) -> Iterator[None]:
        with contextlib.ExitStack() as entered:
            for frame in reversed(frames):
                size, count = self.plates.get(frame.name, (frame.size, None))
                entered.enter_context(plate(frame.name, size, dim=frame.dim, subsample_size=count))
            if scale is not None:
                entered.enter_context(ac_handlers.scale(scale=scale))
            yield


def _as_wide(name: str, law: Any, value: Any, frames: Sequence[CondIndepStackFrame]) -> Any:
    """Return a distribution of the batch shape that the data have, as NumPyro counts its log density."""
    shape, event = np.shape(value), len(law.event_shape)
    batch = shape[: len(shape) - event]
    own = np.broadcast_shapes(tuple(law.batch_shape), plate_shape(frames))
    if batch == own:
        return law
    try:
        wide = np.broadcast_shapes(own, batch)
    except ValueError:
        return law  # accord says how they do not fit
    if wide != batch:
        raise SiteError(
            f"site {name!r}: the data have batch shape {batch}, and the distribution has {own}, so that NumPyro counts "
            "each of the data several times. Give the data once for each, by `jnp.broadcast_to(...)`, if that is "
            "meant; else a distribution of their shape."
        )
    return law.expand(batch)


def unwrapped(law: Any) -> Any:
    """Return the distribution that is masked, expanded or taken to events."""
    while (inner := getattr(law, "base", None)) is not None:
        law = inner
    return law


def run_scan(msg: Message, bridge: Bridge) -> Any:
    """Run a scan of a NumPyro program by `ac.scan`."""
    step, init, xs, length, reverse = msg["args"]
    inner = tuple(each for each in stack() if isinstance(each, Bridge) or each.enters_scans)

    def shown(carry: Any, x: Any) -> Any:
        with Within(inner):
            return step(carry, x)

    given = tuple(_of_steps(word, values) for word, values in msg["kwargs"]["substitute_stack"])
    carry, ys = Handled(lambda: scan(shown, init, xs, length, reverse=reverse), given)()
    return carry, (None, ys)


def run_cond(msg: Message, bridge: Bridge) -> Any:
    """Run a branch of a NumPyro program by `ac.cond`."""
    pred, true_fun, false_fun, operand = msg["args"]
    given = tuple(_of_steps(word, values) for word, values in msg["kwargs"]["substitute_stack"])
    return Handled(lambda: cond(pred, true_fun, false_fun, operand), given)(), None


def _of_steps(word: str, values: Any) -> AbstractHandler:
    if callable(values) or word == "replay":
        raise ModelError(
            f"handlers.{word} around a scan or a branch has a function or a trace, and accord takes a mapping from "
            "names to values of all steps there. Give `data={...}`."
        )
    return _Observed.of(values) if word == "condition" else _Given.of(values)


class _Observed(Condition):
    """Values for the steps of a scan; names that it does not have belong to other statements."""

    def check(self, sites: Any) -> None:
        del sites


class _Given(Substitute):
    def check(self, sites: Any) -> None:
        del sites


class Program:
    """A NumPyro program as a function of accord's statements."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with Within((Bridge(),)):
            return self.function(*args, **kwargs)


def as_model(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Model:
    """Return the model of accord that a NumPyro program is, with its data bound."""
    return model(Program(function))(*args, **kwargs)
