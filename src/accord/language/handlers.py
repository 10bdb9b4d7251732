"""Change what the sites of a model mean from the outside: seed, condition, intervene, hide, weigh.

Each function here takes a `Model`, or a function of statements, and returns the same with one more rule around it.
Rules apply from the inside out, so the last one put on has the last word. `mask` and `scale` are also statements:
`with handlers.mask(mask=m):`.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, overload

import equinox as eqx
import jax
import numpy as np

from ..core.errors import ModelError, OptionError
from ..core.options import checks_options
from .effects import Block, Condition, Do, Mask, Replay, Scale, Seed, Substitute
from .interpreter import AbstractHandler, enter, is_running, leave, run
from .model import Model, ModelFunction
from .places import caller
from .site import Site

T = TypeVar("T", Model, Callable[..., Any])


class Handled(eqx.Module):
    """A function with rules around it, innermost first; call it as the function."""

    function: Callable[..., Any] = eqx.field(static=True)
    handlers: tuple[AbstractHandler, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function inside of its handlers and return its value."""
        return run(self.function, self.handlers, args, kwargs)[0]


class Traced(eqx.Module):
    """A model or function whose sites can be looked at."""

    target: Model | Handled

    def get_trace(self, *args: Any, **kwargs: Any) -> dict[str, Site]:
        """Run it, a function with its arguments, and return its sites by name, in order, without hidden ones.

        **Raises** `OptionError` for arguments to a `Model`, which has them bound.
        """
        if isinstance(self.target, Model):
            if args or kwargs:
                raise OptionError(
                    f"get_trace takes no arguments here: the model {self.target.name!r} has them bound."
                )
            sites = self.target.run()[1]
        else:
            sites = run(self.target.function, self.target.handlers, args, kwargs)[1]
        return {name: site for name, site in sites.items() if not site.is_hidden}


class Within(eqx.Module):
    """A rule for the statements inside of a `with`."""

    handler: AbstractHandler
    word: str = eqx.field(static=True)

    def __enter__(self) -> None:
        if not is_running():
            raise ModelError(f"handlers.{self.word} was entered outside of any model (at {caller()}).")
        enter(self.handler)

    def __exit__(self, *_: object) -> None:
        leave()


@checks_options
def trace(target: Model | Callable[..., Any]) -> Traced:
    """Look at the sites of a model: `trace(model).get_trace()`, `trace(function).get_trace(*args)`.

    Latent sites need values: `trace(seed(model, key))`.
    """
    return Traced(target if isinstance(target, Model) else _handled(target))


@checks_options
def seed(target: T, key: jax.Array | int) -> T:
    """Draw the latent sites of `target` from their distributions, with a JAX key or an integer seed.

    The draw of a site depends on the key and its name alone.
    """
    if isinstance(key, bool) or not (isinstance(key, int) or hasattr(key, "dtype")):
        raise OptionError(f"handlers.seed: key must be a JAX random key or an integer, got {key!r}.")
    return _put_on(target, Seed(key))


@checks_options
def substitute(target: T, values: Mapping[str, Any]) -> T:
    """Fix latent sites to `values`, by name, as if they had been drawn: the log density of each stays.

    **Raises** (when the model runs) `SiteError` for a name that is no latent sample site.
    """
    return _put_on(target, Substitute.of(values))


@checks_options
def condition(target: T, values: Mapping[str, Any]) -> T:
    """Observe sample sites to have `values`, by name. See `Model.condition`."""
    return _put_on(target, Condition.of(values))


@checks_options
def do(target: T, values: Mapping[str, Any]) -> T:
    """Set sample sites to `values`, by name, as an intervention. See `Model.do`."""
    return _put_on(target, Do.of(values))


@checks_options
def replay(target: T, trace: Mapping[str, Site]) -> T:
    """Give latent sites the values they have in `trace`; sites that it lacks are drawn as before."""
    values = {name: s.value for name, s in trace.items() if s.kind == "sample" and not s.is_observed}
    return _put_on(target, Replay(values))


@checks_options
def block(target: T, *, hide: Collection[str] | None = None, expose: Collection[str] | None = None) -> T:
    """Hide sites from everything further out: those in `hide`, or all but those in `expose`, or all.

    A hidden latent site is not sampled by inference: it needs a seed inside of the block.

    **Raises** `OptionError` when both are given; (when the model runs) `SiteError` for an unknown name.
    """
    if hide is not None and expose is not None:
        raise OptionError("handlers.block takes hide or expose, not both.")
    for word, given in (("hide", hide), ("expose", expose)):
        if isinstance(given, str):
            raise OptionError(f"handlers.block: {word} is a collection of names; write {word}=[{given!r}].")
    if hide is not None:
        return _put_on(target, Block(tuple(sorted(hide)), is_hiding=True))
    return _put_on(target, Block(tuple(sorted(expose or ())), is_hiding=False))


@overload
def mask(target: None = None, *, mask: Any) -> Within: ...
@overload
def mask(target: T, *, mask: Any) -> T: ...
@checks_options
def mask(target: Any = None, *, mask: Any) -> Any:
    """Leave entries out of the log density where `mask` is false: no part in value or gradient, even if they are NaN.

    **Arguments**
    - `target`: a model or function; without it, a context for the statements of a `with` inside a model.
    - `mask`: bool, broadcastable to the batch shape of each site within.

    **Raises** `OptionError` for a mask that is not bool.
    """
    if isinstance(mask, np.bool_):
        mask = bool(mask)
    if not isinstance(mask, bool) and getattr(mask, "dtype", None) != np.bool_:
        mask = np.asarray(mask) if isinstance(mask, list) else mask
        if getattr(mask, "dtype", None) != np.bool_:
            raise OptionError(
                f"handlers.mask: the mask must be True or False or an array of them, got "
                f"{getattr(mask, 'dtype', type(mask).__name__)}. Compare: `mask=(m == 1)`."
            )
    return _put_on_or_within(target, Mask(mask), "mask")


@overload
def scale(target: None = None, *, scale: Any) -> Within: ...
@overload
def scale(target: T, *, scale: Any) -> T: ...
@checks_options
def scale(target: Any = None, *, scale: Any) -> Any:
    """Multiply log densities by `scale`, for instance to weigh observations.

    **Arguments**
    - `target`: a model or function; without it, a context for the statements of a `with` inside a model.
    - `scale`: a number > 0, or an array broadcastable to the batch shape of each site within.

    **Raises** `OptionError` for a number that is not positive.
    """
    if isinstance(scale, bool) or not (isinstance(scale, (int, float)) or hasattr(scale, "dtype")):
        raise OptionError(f"handlers.scale: the scale must be a number or an array, got {scale!r}.")
    if isinstance(scale, (int, float)) and not scale > 0:
        raise OptionError(f"handlers.scale: the scale must be positive, got {scale!r}.")
    return _put_on_or_within(target, Scale(scale), "scale")


def _put_on(target: Any, handler: AbstractHandler) -> Any:
    if isinstance(target, Model):
        return target.inside_of(handler)
    inner = _handled(target)
    return Handled(inner.function, (*inner.handlers, handler))


def _put_on_or_within(target: Any, handler: AbstractHandler, word: str) -> Any:
    return Within(handler, word) if target is None else _put_on(target, handler)


def _handled(target: Any) -> Handled:
    if isinstance(target, Handled):
        return target
    if isinstance(target, ModelFunction):
        return Handled(target.function)
    if not callable(target):
        raise OptionError(f"a handler takes a model or a function of statements, got {target!r}.")
    return Handled(target)
