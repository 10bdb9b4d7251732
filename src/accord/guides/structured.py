"""Approximate a posterior by a normal whose dependences follow the plates of the model."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core.options import checks_fields
from .base import AbstractGuide, Params, standard_normal
from .places import Places, given, joined


@checks_fields
class Structured(AbstractGuide):
    """A normal in which entries of plates depend on each other through the unknowns outside of plates alone.

    Unknowns outside of plates (*globals*) have any covariance. Those inside (*locals*) are a linear function of the
    globals plus noise, which is correlated between all unknowns of one entry of their outermost plate, and independent
    between entries. So the guide is as good as `FullRank` where the posterior is a normal with locals that are
    independent given the globals, as in hierarchies, and the number of its parameters is linear in the number of
    entries: with `g` globals and `m` unknowns for each of `n` entries, `g (g + 3) / 2 + n m (g + (m + 3) / 2)`.

    Entries of two plates that cross are independent given the globals, too. Without plates it is a `FullRank`, and
    without globals, a `FullRank` of each entry.

    **Fields**: `places` of the sites; `infer.fit` sets it.

    **Source**: Tan & Nott (2018), "Gaussian variational approximation with sparse precision matrices", Stat. Comput.
    28, 259-275. Here conditional distributions are parameterised in place of the precision.

    **Example**

    >>> fit = infer.fit(eight_schools(sigma, y), infer.guides.Structured(), quiet=True)
    >>> fit.pareto_k < 0.7
    True
    """

    places: Places | None = eqx.field(static=True, default=None, kw_only=True, repr=False)

    def placed(self, places: Places) -> "Structured":
        """See `AbstractGuide.placed`."""
        return Structured(places=places)

    def _globals(self) -> np.ndarray:
        """Return the coordinates of globals, shape `(g,)`."""
        places = given(self.places, "Structured")
        return joined(site.coordinates for site in places.sites if not site.plate)

    def _locals(self) -> dict[str, np.ndarray]:
        """Return by plate the coordinates of locals, shape `(n, m)`."""
        found: dict[str, list[np.ndarray]] = {}
        for site in given(self.places, "Structured").sites:
            if site.plate:
                found.setdefault(site.plate, []).append(site.by_entry)
        return {plate: np.concatenate(each, axis=1) for plate, each in found.items()}

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`: `globals`, and for each plate a `local`, by its number.

        Of a plate with `n` entries of `m` unknowns: `loc` and `log_scale`, shape `(n, m)`, `lower`, shape
        `(n, m * (m - 1) / 2)`, and `slope` by the globals, shape `(n, m, g)`.
        """
        del key, dim
        count = self._globals().size
        params: Params = {"globals": _start((count,), dtype)}
        for number, coordinates in enumerate(self._locals().values()):
            slope = np.zeros((*coordinates.shape, count), dtype)
            params[f"local{number}"] = {**_start(coordinates.shape, dtype), "slope": slope}
        return params

    def draw(
        self, params: Params, noise: Float[Array, " dim"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        own, places = params["globals"], self._globals()
        offset = _spread(own, noise[: places.size])
        pieces, order, first = [own["loc"] + offset], [places], places.size
        for number, coordinates in enumerate(self._locals().values()):
            local = params[f"local{number}"]
            of_plate = noise[first : first + coordinates.size].reshape(coordinates.shape)
            centre = local["loc"] + local["slope"] @ offset
            pieces.append((centre + jax.vmap(_spread)(_normal(local), of_plate)).ravel())
            order.append(coordinates.ravel())
            first += coordinates.size
        position = jnp.concatenate(pieces)[np.argsort(joined(order))]
        return position, standard_normal(noise) - _log_det(params)

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        own = params["globals"]
        offset = position[self._globals()] - own["loc"]
        squares = jnp.sum(_noise(own, offset) ** 2)
        for number, coordinates in enumerate(self._locals().values()):
            local = params[f"local{number}"]
            rest = position[coordinates] - local["loc"] - local["slope"] @ offset
            squares += jnp.sum(jax.vmap(_noise)(_normal(local), rest) ** 2)
        return -0.5 * squares - 0.5 * position.size * math.log(2 * math.pi) - _log_det(params)


def _start(shape: tuple[int, ...], dtype: np.dtype) -> Params:
    size = shape[-1]
    return {
        "loc": np.zeros(shape, dtype),
        "log_scale": np.zeros(shape, dtype),
        "lower": np.zeros((*shape[:-1], size * (size - 1) // 2), dtype),
    }


def _normal(params: Params) -> Params:
    """Return the parameters of normals that spread noise."""
    return {name: params[name] for name in ("log_scale", "lower")}


def _unit_lower(params: Params) -> Array:
    size = params["log_scale"].size
    rows: Any = np.tril_indices(size, -1)
    return jnp.eye(size, dtype=params["lower"].dtype).at[rows].set(params["lower"])


def _spread(params: Params, noise: Array) -> Array:
    return jnp.exp(params["log_scale"]) * (_unit_lower(params) @ noise)


def _noise(params: Params, offset: Array) -> Any:
    """Return the noise that spreads to this offset."""
    scaled = offset * jnp.exp(-params["log_scale"])
    return jax.scipy.linalg.solve_triangular(_unit_lower(params), scaled, lower=True, unit_diagonal=True)


def _log_det(params: Params) -> Any:
    return sum(jnp.sum(each["log_scale"]) for each in params.values())
