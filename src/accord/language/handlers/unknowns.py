"""Change from the outside how inference treats the unknowns of a model; what the model says stays as it is."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ...core.errors import OptionError
from ...core.options import checks_options
from ...distributions import AbstractDistribution
from ..model import Model
from ..param import Lift
from ..reparam.base import AbstractWhole
from ..reparam.rule import Config, Reparam
from .handled import put_on
from .infer_config import InferConfig, SettingsBySite

T = TypeVar("T", Model, Callable[..., Any])


@checks_options
def lift(target: T, prior: AbstractDistribution | Mapping[str, AbstractDistribution]) -> T:
    """Give parameters of `ac.param` a prior: one for all of them, or by name; those that are not named stay.

    **Raises** `OptionError` for what is no distribution; (when the model runs) `SiteError` for a name that is no
    parameter, and for a prior of another shape.

    **Example**

    >>> @ac.model
    ... def noisy(y):
    ...     scale = ac.param("scale", 1.0, constraint=constraints.positive)
    ...     with ac.plate("row", len(y)):
    ...         ac.sample("y", dist.Normal(0, scale), obs=y)
    >>> print(handlers.lift(noisy(y), {"scale": dist.HalfNormal(10)}).sites())
    site   kind      shape  dims  distribution
    scale  latent    ()           HalfNormal
    y      observed  (8,)   row   Normal
    """
    return put_on(target, Lift.of(prior))


@checks_options
def reparam(target: T, config: Config | AbstractWhole) -> T:
    """Sample sites by way of other variables, whose posterior has a better shape; the model stays as it is.

    A site `theta` keeps its name among the draws, and its distribution: it is computed from the latent site
    `theta_base`. It can be observed, intervened on and replayed as before, and is then not reparameterised.

    **Arguments**: `config`, by site one of `accord.reparam`, as in `{"theta": reparam.LocScale()}`; or a function from
    a site to one of them, or None; or `reparam.Neutra(bijector)`, for all unknowns of a model together.

    **Raises** `OptionError` for what is none of them; (when the model runs) `SiteError` for a name that is no sample
    site, and for a distribution that the reparameterisation is not made for.

    **Example**

    >>> @ac.model
    ... def funnel():
    ...     scale = ac.sample("scale", dist.LogNormal(0, 1))
    ...     ac.sample("x", dist.Normal(0, scale))
    >>> print(handlers.reparam(funnel(), {"x": reparam.LocScale()}).sites())
    site    kind           shape  dims  distribution
    scale   latent         ()           LogNormal
    x       deterministic  ()           Normal
    x_base  latent         ()           Normal
    """
    if isinstance(config, AbstractWhole):
        if not isinstance(target, Model):
            raise OptionError(
                f"handlers.reparam: {type(config).__name__} takes a model with its data, got {target!r}."
            )
        return put_on(target, config.rule(target))
    return put_on(target, Reparam.of(config))


@checks_options
def infer_config(target: T, config: SettingsBySite) -> T:
    """Set how inference treats sites, where its own choice is not the best; the posterior is the same.

    **Arguments**: `config`, by site a mapping of settings, as in `{"tau": {"bijector": bijectors.Softplus()}}`; or a
    function from a site to one, or None. The settings are
    - `"bijector"`: the map from unconstrained numbers to the support of a latent site, in place of
      `distributions.biject_to(support)`. Elementwise ones act on every element of an event. A site that has a value has
      no use for it; of one that is reparameterised, name the auxiliary.

    **Raises** `OptionError` for what is none of these; (when the model runs) `SiteError` for a name that is no sample
    site, and for one that is reparameterised or collapsed; (when its log density is made) `SiteError` for a map that
    does not cover the support, where both are without parameters that are arrays.

    **Example**

    >>> @ac.model
    ... def waiting():
    ...     ac.sample("rate", dist.HalfNormal(1))
    >>> soft = handlers.infer_config(waiting(), {"rate": {"bijector": bijectors.Softplus()}})
    >>> print(f"{waiting().log_density().constrain(np.zeros(1))['rate']:.3f}")
    1.000
    >>> print(f"{soft.log_density().constrain(np.zeros(1))['rate']:.3f}")
    0.693
    """
    return put_on(target, InferConfig.of(config))
