"""Hold a function with rules around it, as a `Model` holds its own."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx

from ...core.errors import ModelError, OptionError
from ...core.options import checks_options
from ..handler import AbstractHandler
from ..interpreter import enter, is_running, leave, run
from ..messages.places import caller
from ..model import Model, ModelFunction
from ..site import Site

Target = TypeVar("Target", bound=Model | Callable[..., Any])


class Handled(eqx.Module):
    """A function with rules around it, innermost first; call it as the function."""

    function: Callable[..., Any] = eqx.field(static=True)
    handlers: tuple[AbstractHandler, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function inside of its handlers and return its value."""
        return run(self.function, self.handlers, args, kwargs)[0]


class Traced(eqx.Module):
    """A model or function whose sites can be examined."""

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


@checks_options
def trace(target: Model | Callable[..., Any]) -> Traced:
    """Examine the sites of a model: `trace(model).get_trace()`, `trace(function).get_trace(*args)`.

    Latent sites need values: `trace(seed(model, key))`.

    **Example**

    >>> sites = handlers.trace(handlers.seed(coin(4, heads), 0)).get_trace()
    >>> {name: site.kind for name, site in sites.items()}
    {'p': 'sample', 'y': 'sample'}
    >>> sites["y"].value
    array([1, 0, 1, 1])
    """
    return Traced(target if isinstance(target, Model) else _handled(target))


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


def put_on(target: Any, handler: AbstractHandler) -> Any:
    """Return the model or function with one more rule around it."""
    if isinstance(target, Model):
        return target.inside_of(handler)
    inner = _handled(target)
    return Handled(inner.function, (*inner.handlers, handler))


def put_on_or_within(target: Any, handler: AbstractHandler, word: str) -> Any:
    """Return the target with one more rule, or without a target what a `with` inside a model takes."""
    return Within(handler, word) if target is None else put_on(target, handler)


def _handled(target: Any) -> Handled:
    if isinstance(target, Handled):
        return target
    if isinstance(target, ModelFunction):
        return Handled(target.function)
    if not callable(target):
        raise OptionError(f"a handler takes a model or a function of statements, got {target!r}.")
    return Handled(target)
