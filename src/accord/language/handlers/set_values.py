"""Give sites values from the outside, or take them away: condition, intervene, substitute, replay."""

from collections.abc import Collection, Mapping
from typing import Any

from ...core.options import checks_options
from ..site import Site
from ..treatment import Computed
from .handled import Target, put_on
from .values import Condition, Do, Replay, Substitute, Uncondition, names_of


@checks_options
def condition(target: Target, values: Mapping[str, Any]) -> Target:
    """Observe sample sites to have `values`, by name. See `Model.condition`.

    **Example**

    >>> observed = handlers.condition(coin(4), {"y": heads})
    >>> print(observed.sites())
    site  kind      shape  dims  distribution
    p     latent    ()           Beta
    y     observed  (4,)   toss  Bernoulli
    """
    return put_on(target, Condition.of(values))


@checks_options
def uncondition(target: Target, names: Collection[str] | None = None) -> Target:
    """Make observed sites latent again, all or those in `names`. See `Model.uncondition`.

    **Example**

    >>> again = handlers.seed(handlers.uncondition(coin(4, heads)), 0)
    >>> again().shape
    (4,)
    """
    return put_on(target, Uncondition(names_of("handlers.uncondition", names)))


@checks_options
def do(target: Target, values: Mapping[str, Any]) -> Target:
    """Set sample sites to `values`, by name, as an intervention. See `Model.do`.

    **Example**

    >>> set_tau = handlers.do(eight_schools(sigma, y), {"tau": 0.0})
    >>> set_tau.log_density().dim, eight_schools(sigma, y).log_density().dim
    (9, 10)
    """
    return put_on(target, Do.of(values))


@checks_options
def substitute(target: Target, values: Mapping[str, Any]) -> Target:
    """Fix latent sites to `values`, by name, as if they had been drawn: the log density of each stays.

    **Raises** (when the model runs) `SiteError` for a name that is no latent sample site.

    **Example**

    >>> given = handlers.substitute(coin(4, heads), {"p": 0.5})
    >>> print(handlers.trace(given).get_trace()["p"].value)
    0.5
    """
    return put_on(target, Substitute.of(values))


@checks_options
def replay(target: Target, trace: Mapping[str, Site]) -> Target:
    """Give latent sites the values they have in `trace`; sites that it lacks are drawn as before.

    **Example**

    >>> first = handlers.trace(handlers.seed(coin(4), 0)).get_trace()
    >>> second = handlers.trace(handlers.replay(handlers.seed(coin(4), 1), first)).get_trace()
    >>> bool(first["p"].value == second["p"].value)
    True
    """
    values = {
        name: s.value
        for name, s in trace.items()
        if s.kind == "sample" and not (s.is_observed or isinstance(s.treatment, Computed))
    }
    return put_on(target, Replay(values))
