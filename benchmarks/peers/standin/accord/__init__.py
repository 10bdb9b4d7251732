"""Stand in for accord in NumPyro's environment, so that one source of a model runs on both.

It offers the statements that the models of `benchmarks/pdb` use, each as NumPyro's, and nothing else.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpyro
from numpyro import deterministic as deterministic
from numpyro import factor as factor
from numpyro import plate_stack as plate_stack
from numpyro.contrib.control_flow import cond as cond

from . import distributions as distributions
from . import ode as ode


@dataclass(frozen=True)
class Model:
    """A function of statements with its arguments by name."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ModelFunction:
    """A decorated function."""

    function: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Model:
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        return Model(self.function, dict(bound.arguments))


def model(function: Callable[..., Any]) -> ModelFunction:
    """Make a function of statements into a model, which binds its arguments."""
    return ModelFunction(function)


def sample(name: str, distribution: Any, obs: Any = None, *, obs_mask: Any = None, dims: Any = None) -> Any:
    """Sample or observe a site; NumPyro has no names for axes."""
    del dims
    return numpyro.sample(name, distribution, obs=obs, obs_mask=obs_mask)


def plate(name: str, size: int, *, dim: int | None = None, coords: Any = None) -> Any:
    """Repeat statements; NumPyro has no labels."""
    del coords
    return numpyro.plate(name, size, dim=dim)


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    name: str | None = None,
    coords: Any = None,
    checkpoint: Any = None,
) -> tuple[Any, Any]:
    """Loop over steps with sites."""
    from numpyro.contrib.control_flow import scan as numpyro_scan

    del name, coords, checkpoint
    return numpyro_scan(step, init, xs, length, reverse)


def static(value: Any) -> Any:
    """Leave a value as it is: NumPyro traces no arguments."""
    return value


def submodel(model: Model, *_: Any) -> Any:
    """Run a model within another one."""
    return model.function(**model.arguments)
