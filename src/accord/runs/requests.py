"""Check names and kinds of the arguments of a run, before anything is traced."""

import json
from collections.abc import Collection, Sequence
from types import EllipsisType
from typing import Any

import jax
from jax.core import Tracer

from ..core import precision as precisions
from ..core.errors import OptionError, StorageError
from ..core.precision import Precision
from ..density import LogDensity
from ..density.minibatch import for_minibatches
from ..executors import AbstractExecutor, Threads
from ..language import Model
from ..report import AbstractProgress, NoProgress, RichProgress
from ..storage import AbstractStore, to_json
from .stopping.base import AbstractRule


def density_of(
    target: Model | LogDensity,
    precision: Precision,
    whole: Collection[str] = (),
    whole_if_discrete: Collection[str] | EllipsisType = (),
    *,
    takes_parts: bool = False,
) -> LogDensity:
    """Return the log density of a target, traced in the run's precision.

    **Arguments**: `whole` and `whole_if_discrete`, sites to sample as whole numbers: see `LogDensity.from_model`;
    `takes_parts`, whether plates may have a `subsample_size`, of which the sampler takes a part at a time.
    """
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(target)):
        raise OptionError(
            "the data of the model are being traced: infer.sample was called inside of jax.jit, jax.vmap or jax.grad. "
            "It compiles its own programs: call it outside, once for each data set."
        )
    with precisions.scope(precision):
        if isinstance(target, Model):
            target = for_minibatches(target) if takes_parts else target
            return LogDensity.from_model(target, precision, whole, whole_if_discrete)
    there = sorted(entry.name for entry in target.layout.whole)
    if there and not whole and not whole_if_discrete:
        raise OptionError(
            f"the log density has whole numbers among its unknowns ({_listed(there)}), which only a sampler that moves "
            "them can take. Give the model, with values of these sites by `.condition({...})`."
        )
    allowed = there if whole_if_discrete is ... else {*whole, *whole_if_discrete}
    if not set(whole) <= set(there) or not set(there) <= set(allowed):
        raise OptionError(
            f"the sampler moves whole numbers of {_listed(sorted(whole))}, and the log density has those of "
            f"{_listed(there)}. Give the model, or `LogDensity.from_model(model, whole=...)` with the sampler's names."
        )
    return target


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "no site"


def default_executor() -> AbstractExecutor:
    """Return `Threads()`, or `Devices()` with several accelerators."""
    if jax.default_backend() == "cpu" or jax.local_device_count() == 1:
        return Threads()
    from ..executors import Devices  # loads child processes too

    return Devices()


def display(progress: bool, quiet: bool, noun: str = "chain", counted: str = "draws") -> AbstractProgress:
    """Return the display of progress for a run; `noun` and `counted`, words for a unit and what is done in it."""
    return RichProgress(noun=noun, counted=counted) if progress and not quiet else NoProgress()


def check_target(target: Any) -> None:
    """Raise `OptionError` unless the target is a model or a log density."""
    if not isinstance(target, Model | LogDensity):
        hint = " Call it with its data: `infer.sample(model(x, y=y))`." if callable(target) else ""
        raise OptionError(
            f"target must be a model called with its data, or a LogDensity; got {type(target).__name__}.{hint}"
        )


def check_kinds(target: Any, executor: Any, store: Any) -> None:
    """Raise `OptionError` for an argument of the wrong kind."""
    check_target(target)
    check_kind("executor", executor, AbstractExecutor | None, "infer.Threads()")
    check_kind("store", store, AbstractStore | None, 'infer.RunFolder("run")')


def check_kind(name: str, value: Any, kind: Any, example: str) -> None:
    """Raise `OptionError` unless an argument is of its kind; the message shows `example`."""
    if not isinstance(value, kind):
        hint = " Build it first, with its parentheses." if isinstance(value, type) else ""
        raise OptionError(f"{name} must be something like {example}, got {value!r}.{hint}")


def check_until(until: Any) -> None:
    """Raise `OptionError` unless this is a stopping rule that a store can describe."""
    if until is None:
        return
    if isinstance(until, AbstractRule):
        from .stopping.described import rule_from  # loads every rule

        try:
            rule_from(json.loads(to_json(until.described())))
        except (StorageError, LookupError, TypeError) as error:
            raise OptionError(
                f"until: {until!r} cannot be stored: {error}. Its `described` must return its name under 'rule', which "
                "no rule of accord has, and its fields, in plain JSON."
            ) from error
        return
    hint = ""
    if isinstance(until, type):
        hint = " Build it first, with its parentheses."
    elif isinstance(until, int | float) and not isinstance(until, bool):
        hint = f" For an effective sample size, write infer.ESS({until!r})."
    raise OptionError(
        "until takes a rule such as infer.ESS(1000), infer.RHat(1.01), infer.MCSE(0.05) or infer.Seconds(60), or "
        f"rules combined by & and |; got {until!r}.{hint}"
    )
