"""Define guides: families of distributions over unconstrained numbers, from which one is fitted to a posterior."""

import abc
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt32

from ..core import keys
from ..core.modules import Module
from ..core.tree import filled
from .places import Places

Params = dict[str, Any]
"""Parameters of a guide, by name: what is fitted. Each is an array or a pytree of arrays."""


class AbstractGuide(Module):
    """A family of distributions over vectors of unconstrained numbers, as a map of normal noise.

    **Contract**
    - A guide is a frozen value of options; its parameters are elsewhere, in a dict of arrays.
    - With the parameters at which it starts, its draws are standard normal, or nearly so. The fit gives it coordinates
      in which this is a good start, as `vi.frame` says.
    - A guide that treats sites differently is told where they lie, by `placed`, before any other method is called.
    - `draw` and `log_prob` are traced, for one draw at a time.

    **Class variables**: `is_point`: whether it has no spread, so that its density is left out; `is_factorised`: whether
    it is an independent normal for each coordinate, with `loc` and `log_scale`; `is_affine`: whether its coordinates
    may be turned, so that it begins with the correlations of the posterior; `is_widened`: whether its parameters may
    begin with them, by `widened`; `has_density`: whether the density of
    a draw is known; `rate`, the first step size of the default optimiser.

    **Example**: a normal with unit variances, of which the means are fitted.

    >>> class Shifted(infer.guides.AbstractGuide):
    ...     def start(self, key, dim, dtype):
    ...         return {"loc": np.zeros(dim, dtype)}
    ...
    ...     def draw(self, params, noise):
    ...         position = params["loc"] + noise
    ...         return position, self.log_prob(params, position)
    ...
    ...     def log_prob(self, params, position):
    ...         return dist.Normal(params["loc"], 1.0).log_prob(position).sum()
    >>> infer.fit(coin(4, heads), Shifted(), quiet=True).guide
    Shifted()
    """

    is_point: ClassVar[bool] = False
    is_factorised: ClassVar[bool] = False
    is_affine: ClassVar[bool] = False
    is_widened: ClassVar[bool] = False
    has_density: ClassVar[bool] = True
    rate: ClassVar[float] = 1e-2

    @property
    def label(self) -> str:
        """Name in what is printed."""
        return type(self).__name__

    @property
    def fits_model(self) -> bool:
        """Whether some of its parameters are parameters of the model, so that the log density depends on them."""
        return False

    @property
    def has_point(self) -> bool:
        """Whether it holds some unknowns at a point, so that its bound is none of the evidence."""
        return self.is_point

    @property
    def num_points(self) -> int:
        """How many points of equal weight it consists of, without a density; 0 for a distribution.

        Such a guide has the parameter `positions`, shape `(point, dim)`, and is moved by an objective of points.
        """
        return 0

    def placed(self, places: Places) -> Self:
        """Return the guide of positions in which sites lie so: itself, unless it treats sites differently.

        **Raises** `OptionError` where it does not fit the sites.
        """
        del places
        return self

    def widened(self, params: Params, root: Float[np.ndarray, "dim dim"]) -> Params:
        """Return parameters with about the covariance `root root'`, from those at which it starts; NumPy."""
        del root
        return params

    def towards(self, log_density: Callable[[Array], Array]) -> "AbstractGuide":
        """Return the guide that draws for a posterior with this log density: itself, unless draws follow it; traced.

        Where it has no density, `draw` returns a log density of all that it drew, by which the weight of a draw is
        right on average.
        """
        del log_density
        return self

    def points(self, dim: int) -> Bool[np.ndarray, " dim"]:
        """Return which coordinates have no spread, so that no density of the guide is over them."""
        return np.full(dim, self.is_point)

    def num_noise(self, dim: int) -> int:
        """Return how many standard normal numbers a draw takes."""
        return dim

    def noise(self, words: UInt32[Array, " 2"], count: int, dim: int, dtype: np.dtype) -> Array:
        """Return the noise of so many draws along its first axis, a function of two words; traced.

        It is standard normal, shape `(count, num_noise)`: draws are judged by such noise too, so that another guide of
        positions does not override it.
        """
        shape = (count, self.num_noise(dim))
        return keys.normal(words, math.prod(shape), 0, dtype).reshape(shape)

    def noise_of_draws(self, generator: np.random.Generator, count: int, dim: int) -> np.ndarray:
        """Return the noise of draws of a result, shape `(count, num_noise)`; NumPy."""
        return generator.standard_normal((count, self.num_noise(dim)))

    def centre(self, params: Params, dim: int, dtype: np.dtype) -> Float[Array, " dim"]:
        """Return a position in the middle of it: the draw without noise, unless it has a better one; traced."""
        return self.draw(params, jnp.zeros(self.num_noise(dim), dtype))[0]

    @abc.abstractmethod
    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """Return the parameters to start at; NumPy. `key` serves those that are drawn."""

    @abc.abstractmethod
    def draw(self, params: Params, noise: Any) -> tuple[Any, Float[Array, ""]]:
        """Map noise, as of `noise`, to a draw, shape `(dim,)`; return it with its log density."""

    @abc.abstractmethod
    def log_prob(self, params: Params, position: Any) -> Float[Array, ""]:
        """Return the log density at a position, shape `(dim,)`, which any parameters may have drawn."""

    def shown(self, params: Params) -> Params:
        """Return parameters as a result holds and stores them; traced."""
        return params

    def restored(self, stored: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> Params:
        """Return parameters, as `shown`, from arrays by path. **Raises** `StorageError` where some are missing."""
        return filled(self.start(np.zeros(2, np.uint32), dim, dtype), stored)

    def detached(self) -> Self:
        """Return it without what only its own program has, such as functions of a user, for a pickle."""
        return self

    def described(self) -> dict[str, Any]:
        """Return its name and its options for a manifest, in plain JSON."""
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        if isinstance(places := options.get("places"), Places):
            options["places"] = places.described()
        return {"name": type(self).__name__, **options}

    @classmethod
    def from_described(cls, options: dict[str, Any], known: Mapping[str, type["AbstractGuide"]]) -> Self:
        """Build it of the options that `described` returns, without the name; `known`, guides by name."""
        del known
        values = {name: tuple(each) if isinstance(each, list) else each for name, each in options.items()}
        if options.get("places") is not None:
            values["places"] = Places.from_described(options["places"])
        return cls(**values)


def standard_normal(noise: Float[Array, " n"]) -> Float[Array, ""]:
    """Return the log density of standard normal numbers."""
    return -0.5 * jnp.sum(noise**2) - 0.5 * noise.size * math.log(2 * math.pi)
