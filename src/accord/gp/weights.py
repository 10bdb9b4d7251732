"""Sample the weights of basis functions as a site of a model."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.errors import OptionError
from ..core.options import checks_options
from ..distributions import Normal
from ..language import sample
from .base import AbstractCovariance
from .harmonic_basis import HarmonicBasis
from .sine_basis import SineBasis


@checks_options
def weights(
    name: str, covariance: AbstractCovariance, basis: SineBasis | HarmonicBasis, *, centred: bool = False
) -> Any:
    """Draw the weights of a Gaussian process at the site `name`; the process at points `x` is `basis(x) @ weights`.

    The site does not depend on the points, so its draws predict at other points.

    **Arguments**
    - `covariance`: with parameters that are numbers or sites of the model.
    - `basis`: `SineBasis` for a stationary covariance, `HarmonicBasis` for a periodic one.
    - `centred`: whether the site holds the weights themselves, which suits data that determine each weight well. By
      default it holds standard normal numbers, which are then scaled.

    **Returns** the weights, scaled: shape `(*plates, num_functions)`, one process for each entry of the enclosing
    plates.

    **Raises** `OptionError` for an object that is no covariance or basis; `DistributionError` if the two do not match.

    **Example**

    >>> basis = gp.SineBasis(-2.0, 2.0, size=12)
    >>> @ac.model
    ... def smooth(x, y):
    ...     lengthscale = ac.sample("lengthscale", dist.InverseGamma(5, 5))
    ...     f = basis(x) @ gp.weights("f", gp.Matern52(1.0, lengthscale), basis)
    ...     with ac.plate("row", len(x)):
    ...         ac.sample("y", dist.Normal(f, 0.1), obs=y)
    >>> print(smooth(np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.9, -0.2])).sites())
    site         kind      shape  dims     distribution
    lengthscale  latent    ()              InverseGamma
    f            latent    (12,)  f_dim_0  Independent
    y            observed  (3,)   row      Normal
    """
    if not isinstance(covariance, AbstractCovariance):
        raise OptionError(
            f"gp.weights {name!r}: expected a covariance such as `gp.Matern52(amplitude, lengthscale)`, got "
            f"{covariance!r}."
        )
    if not isinstance(basis, SineBasis | HarmonicBasis):
        raise OptionError(
            f"gp.weights {name!r}: expected a basis such as `gp.SineBasis(low, high, size)`, got "
            f"{type(basis).__name__}. Give the basis itself, and multiply the weights by `basis(x)`."
        )
    scales = basis.scales(covariance)
    if centred:
        return sample(name, Normal(0.0, scales).to_event(1))
    unit = sample(name, Normal(0.0, jnp.ones_like(scales)).to_event(1))
    return unit * jnp.reshape(scales, (1,) * (np.ndim(unit) - 1) + scales.shape)
