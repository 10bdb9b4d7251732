"""Change what the sites of a model mean from the outside: seed, condition, intervene, hide, rename, weigh.

Each function here takes a `Model`, or a function of statements, and returns the same with one more rule around it.
Rules apply from the inside out, so the last one put on has the last word. `mask`, `scale` and `scope` are also
statements: `with handlers.mask(mask=m):`.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, overload

import jax
import numpy as np

from ...core.errors import OptionError
from ...core.options import checks_options
from ..model import Model
from ..site import Site
from ..treatment import Computed
from .effects import Block, Mask, Scale, Seed
from .handled import Traced, Within, put_on, put_on_or_within, traced
from .scope import Scope
from .values import Condition, Do, Replay, Substitute, Uncondition, names_of

T = TypeVar("T", Model, Callable[..., Any])


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
    return traced(target)


@checks_options
def seed(target: T, key: jax.Array | int) -> T:
    """Draw the latent sites of `target` from their distributions, with a JAX key or an integer seed.

    The draw of a site depends on the key and its name alone.

    **Example**

    >>> simulate = handlers.seed(coin(1000), 1)
    >>> simulate().shape
    (1000,)
    >>> bool((simulate() == simulate()).all())
    True
    """
    if isinstance(key, bool) or not (isinstance(key, int) or hasattr(key, "dtype")):
        raise OptionError(f"handlers.seed: key must be a JAX random key or an integer, got {key!r}.")
    return put_on(target, Seed(key))


@checks_options
def substitute(target: T, values: Mapping[str, Any]) -> T:
    """Fix latent sites to `values`, by name, as if they had been drawn: the log density of each stays.

    **Raises** (when the model runs) `SiteError` for a name that is no latent sample site.

    **Example**

    >>> given = handlers.substitute(coin(4, heads), {"p": 0.5})
    >>> print(handlers.trace(given).get_trace()["p"].value)
    0.5
    """
    return put_on(target, Substitute.of(values))


@checks_options
def condition(target: T, values: Mapping[str, Any]) -> T:
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
def uncondition(target: T, names: Collection[str] | None = None) -> T:
    """Make observed sites latent again, all or those in `names`. See `Model.uncondition`.

    **Example**

    >>> again = handlers.seed(handlers.uncondition(coin(4, heads)), 0)
    >>> again().shape
    (4,)
    """
    return put_on(target, Uncondition(names_of("handlers.uncondition", names)))


@checks_options
def do(target: T, values: Mapping[str, Any]) -> T:
    """Set sample sites to `values`, by name, as an intervention. See `Model.do`.

    **Example**

    >>> set_tau = handlers.do(eight_schools(sigma, y), {"tau": 0.0})
    >>> set_tau.log_density().dim, eight_schools(sigma, y).log_density().dim
    (9, 10)
    """
    return put_on(target, Do.of(values))


@checks_options
def replay(target: T, trace: Mapping[str, Site]) -> T:
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


@checks_options
def block(target: T, *, hide: Collection[str] | None = None, expose: Collection[str] | None = None) -> T:
    """Hide sites from everything further out: those in `hide`, or all but those in `expose`, or all.

    A hidden latent site is not sampled by inference: it needs a seed inside of the block.

    **Raises** `OptionError` when both are given; (when the model runs) `SiteError` for an unknown name.

    **Example**

    >>> without = handlers.block(handlers.seed(eight_schools(sigma, y), 0), hide=["z"])
    >>> list(handlers.trace(without).get_trace())
    ['mu', 'tau', 'theta', 'y']
    """
    if hide is not None and expose is not None:
        raise OptionError("handlers.block takes hide or expose, not both.")
    for word, given in (("hide", hide), ("expose", expose)):
        if isinstance(given, str):
            raise OptionError(f"handlers.block: {word} is a collection of names; write {word}=[{given!r}].")
    if hide is not None:
        return put_on(target, Block(tuple(sorted(hide)), is_hiding=True))
    return put_on(target, Block(tuple(sorted(expose or ())), is_hiding=False))


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

    **Example**

    >>> @ac.model
    ... def partly(y):
    ...     mean = ac.sample("mean", dist.Normal(0, 1))
    ...     with ac.plate("row", len(y)), handlers.mask(mask=~np.isnan(y)):
    ...         ac.sample("y", dist.Normal(mean, 1), obs=y)
    >>> gaps, whole = partly(np.array([0.5, np.nan])), partly(np.array([0.5]))
    >>> bool(gaps.log_density()(np.ones(1)) == whole.log_density()(np.ones(1)))
    True
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
    return put_on_or_within(target, Mask(mask), "mask")


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

    **Example**

    >>> half = handlers.scale(coin(4, heads), scale=0.5)
    >>> print(f"{half.log_density()(np.zeros(1)) - coin(4, heads).log_density()(np.zeros(1)):.3f}")
    1.184
    """
    if isinstance(scale, bool) or not (isinstance(scale, (int, float)) or hasattr(scale, "dtype")):
        raise OptionError(f"handlers.scale: the scale must be a number or an array, got {scale!r}.")
    if isinstance(scale, (int, float)) and not scale > 0:
        raise OptionError(f"handlers.scale: the scale must be positive, got {scale!r}.")
    return put_on_or_within(target, Scale(scale), "scale")


@overload
def scope(target: None = None, *, prefix: str) -> Within: ...
@overload
def scope(target: T, *, prefix: str) -> T: ...
@checks_options
def scope(target: Any = None, *, prefix: str) -> Any:
    """Put a prefix before the names of sites and plates: `mu` becomes `prefix/mu`.

    Rules put on inside know a site by its own name, those further out by the new one.

    **Arguments**
    - `target`: a model or function; without it, a context for the statements of a `with` inside a model.
    - `prefix`: not empty.

    **Raises** `OptionError` for a prefix that is no name.

    **Example**

    >>> print(handlers.scope(coin(4, heads), prefix="left").sites())
    site    kind      shape  dims       distribution
    left/p  latent    ()                Beta
    left/y  observed  (4,)   left/toss  Bernoulli
    """
    return put_on_or_within(target, Scope.of("handlers.scope", prefix), "scope")
