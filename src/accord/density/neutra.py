"""Sample all unknowns of a model together, through one bijector."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import AbstractBijector
from ..core.errors import DistributionError, OptionError, SiteError
from ..core.options import checks_fields
from ..distributions import AbstractDistribution, constraints
from ..distributions.constraint import Constraint
from ..language import Model, Site
from ..language.choice import AbstractSeries
from ..language.handler import AbstractHandler, AbstractOpening
from ..language.handlers.infer_config import map_of
from ..language.handlers.reparam import AbstractWhole
from ..language.treatment import Auxiliary, Computed, Free
from .logdensity import LogDensity

BASE = "unknowns_base"


@checks_fields
class Neutra(AbstractWhole):
    """Sample a vector `unknowns_base`, which `bijector.forward` maps to the unconstrained unknowns.

    A map that sends a normal vector to something like the posterior leaves a posterior of `unknowns_base` that is easy
    to draw from, whatever the model's looks like; one that is far from the posterior only costs time. The posterior of
    the model is the same with any. `infer.fit(model, infer.guides.Flow()).bijector` is such a map.

    Conditions belong on the model before: afterwards no site can be given a value. There is no prior to draw from.

    **Fields**
    - `bijector`: vectors to vectors of length `model.log_density().dim`, in the order of its layout.

    **Raises** `OptionError` for what is no bijector of vectors; (when it is put on) for another length, and for what is
    not a model with its data.

    **Source**: Hoffman et al. (2019), NeuTra-lizing bad geometry in Hamiltonian Monte Carlo using neural transport.

    **Example**

    >>> fitted = bijectors.LowerCholeskyAffine(np.array([0.5]), np.array([[0.6]]))  # mean and sd of logit(p)
    >>> print(handlers.reparam(coin(4, heads), reparam.Neutra(fitted)).sites())
    site           kind           shape  dims                 distribution
    unknowns_base  latent         (1,)   unknowns_base_dim_0  Coordinates
    p              deterministic  ()                          Beta
    y              observed       (4,)   toss                 Bernoulli
    """

    bijector: AbstractBijector

    def __check_init__(self) -> None:
        if not isinstance(self.bijector, AbstractBijector):
            hint = " Give its `bijector`." if hasattr(type(self.bijector), "bijector") else ""
            raise OptionError(f"Neutra takes a bijector of `accord.bijectors`, got {self.bijector!r}.{hint}")

    def rule(self, model: Model) -> "Through":
        """Return the rule for a model, which gives its sites their values."""
        layout = LogDensity.from_model(model).layout
        like = jax.ShapeDtypeStruct((layout.dim,), jnp.result_type(float))
        try:
            found = jax.eval_shape(self.bijector.forward, like).shape
        except (TypeError, ValueError, DistributionError) as error:
            raise OptionError(
                f"Neutra: {type(self.bijector).__name__} cannot map a vector of {layout.dim} numbers, as many as the "
                f"unknowns of {model.name!r} have: {error}"
            ) from error
        if found != (layout.dim,):
            raise OptionError(
                f"Neutra: {type(self.bijector).__name__} makes an array of shape {found} of the {layout.dim} numbers "
                f"of {model.name!r}; it must make as many."
            )
        pieces = tuple((e.name, e.start, e.stop, e.unconstrained_shape) for e in layout.entries)
        return Through(self.bijector, pieces)


class Through(AbstractOpening):
    """Sample the vector before the model's first statement, and place the sites by it."""

    bijector: AbstractBijector
    pieces: tuple[tuple[str, int, int, tuple[int, ...]], ...] = eqx.field(static=True)

    def opening(self) -> Site:
        """Return the vector's site, with the volume of the map for a density."""
        distribution = Coordinates(self.pieces[-1][2])
        return Site("sample", BASE, distribution, role=Auxiliary(self.bijector), where="handlers.reparam")

    def opened(self, site: Site) -> "Placed":
        """Return the values that the vector gives the sites."""
        if site.plates:
            raise SiteError(
                f"Neutra: the model is run inside of the plate {site.plates[0].name!r}, and its unknowns have no "
                "entries for that. Put it on the whole model."
            )
        position = self.bijector.forward(site.value)
        parts = {name: position[start:stop].reshape(shape) for name, start, stop, shape in self.pieces}
        return Placed(parts)

    def process(self, site: Site) -> Site:
        """Leave the site alone: `Placed` handles it while the model runs."""
        return site


class Placed(AbstractHandler):
    """Give latent sites the values at these unconstrained numbers, with the volume of the maps to their supports."""

    parts: dict[str, Any]

    def process(self, site: Site) -> Site:
        """Place the site; it keeps its log density."""
        if not site.is_latent or site.distribution is None or site.name not in self.parts:
            return site
        # By a choice, since the support of a site in a step or a branch may be known there alone.
        return replace(site, choose=PlacedAt(self.parts[site.name], site.bijector), treatment=Computed())


class PlacedAt(AbstractSeries):
    """A value at these unconstrained numbers, with the volume of the map to its support.

    `bijector`: the map that was set in place of that of the support, or None.
    """

    piece: Any
    bijector: AbstractBijector | None = eqx.field(static=True)

    def __call__(self, site: Site) -> Site:
        value, log_det = map_of(replace(site, treatment=Free(self.bijector))).forward_and_log_det(self.piece)
        return replace(site, value=value, log_det=log_det)


class Coordinates(AbstractDistribution):
    """Vectors without a distribution of their own.

    **Fields**
    - `size`: their length.
    """

    size: int = eqx.field(static=True)
    parameters: ClassVar[dict[str, Constraint]] = {}

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    def log_prob(self, value: Any) -> jax.Array:
        return jnp.zeros(np.shape(value)[:-1], jnp.result_type(value, float))

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        del key, sample_shape
        raise DistributionError(
            f"{BASE!r} is where a bijector puts the unknowns of a model, and has no prior to draw from. Draw from the "
            "model without `reparam.Neutra`"
        )
