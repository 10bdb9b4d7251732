"""Make a log density of a NumPyro model, by NumPyro's own potential and maps.

The model is traced anew in the precision of each run. The potential that `numpyro.infer.util.initialize_model` returns
is traced in that of the process, and fails in any other.
"""

import importlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..core.errors import DataError, ModelError
from ..core.precision import scope
from ..core.tracebacks import entry_point
from ..density import LogDensity
from ..density.shown import Shown

_WORD = "interop.numpyro.target"


@entry_point
def target(model: Callable[..., Any], *args: Any, **kwargs: Any) -> LogDensity:
    """Make a log density of a NumPyro model, which NumPyro evaluates.

    Draws show its sites and deterministics under their names, with its plates as dims, and its observed values beside
    them. Chains start by accord's rules, between -2 and 2 in unconstrained space. The density is float64; a run of
    another precision traces the model again.

    **Arguments**
    - `model`: a function with NumPyro's statements, or one under its handlers.
    - `args`, `kwargs`: its arguments. Arrays among them are parts of the density: for other data make another. Give
      data as arguments: JAX arrays that the model's code holds keep the precision that they were made in.

    **Raises** `ImportError` without NumPyro; `ModelError` for latent sites that are discrete, `param` and `mutable`
    sites, plates with `subsample_size`, and a model without latent sites.

    **Source**: `potential_energy`, `constrain_fn` and `unconstrain_fn` of `numpyro.infer.util`.

    **Example**

    >>> import numpyro
    >>> from accord.interop import numpyro as accord_numpyro
    >>> def height(y):
    ...     mu = numpyro.sample("mu", numpyro.distributions.Normal(0.0, 1.0))
    ...     numpyro.sample("y", numpyro.distributions.Normal(mu, 1.0), obs=y)
    >>> density = accord_numpyro.target(height, 3.0)
    >>> infer.find_mode(density).values["mu"].round(2)
    np.float64(1.5)
    """
    _numpyro("infer.util")
    bound = _Bound(model, _on_host(args), _on_host(kwargs))
    with scope("float64"):
        trace = bound.trace()
        latents = _latents(trace, bound.name)
        values = {name: site["value"] for name, site in latents.items()}
        starts = bound.unconstrain(values)
        example = OrderedDict((name, np.zeros(np.shape(starts[name]))) for name in latents)
        observed = {name: np.asarray(site["value"]) for name, site in trace.items() if _is_data(site)}
    dims = {name: _dims(trace[name]) for name in (*latents, *observed)}
    shown = Shown(_WORD, bound.constrain, bound.unconstrain, dims, {}, observed)
    return LogDensity.of_function(bound, example, "float64", shown)


@dataclass(frozen=True, eq=False)
class _Bound:
    """A model with its arguments, as functions of unconstrained values by site."""

    model: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the model's function, under handlers too."""
        inner: Any = self.model
        while not hasattr(inner, "__name__") and getattr(inner, "fn", None) is not None:
            inner = inner.fn
        return getattr(inner, "__name__", type(inner).__name__)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, position: Mapping[str, Any]) -> jax.Array:
        """Evaluate the log density, shape `()`."""
        potential = _numpyro("infer.util").potential_energy
        return -potential(self._seeded(), *self._arguments(), dict(position))

    def constrain(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Compute the values of latent and deterministic sites."""
        function = _numpyro("infer.util").constrain_fn
        return function(self._seeded(), *self._arguments(), dict(position), return_deterministic=True)

    def unconstrain(self, values: Mapping[str, Any]) -> "OrderedDict[str, Any]":
        """Find the unconstrained values of latent sites."""
        found = _numpyro("infer.util").unconstrain_fn(self._seeded(), *self._arguments(), dict(values))
        return OrderedDict((name, found[name]) for name in values)

    def trace(self) -> dict[str, Any]:
        """Run the model once."""
        args, kwargs = self._arguments()
        return _numpyro("handlers").trace(self._seeded()).get_trace(*args, **kwargs)

    def _arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with arrays in the widths of this scope: JAX trips over those of another."""
        return jax.tree.map(_in_scope, (self.args, dict(self.kwargs)))

    def _seeded(self) -> Any:
        """Return the model with a key, for statements that draw whatever the latent sites are."""
        return _numpyro("handlers").seed(self.model, jax.random.key(0))


def _latents(trace: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Find the unknowns of a traced model. Raises `ModelError` for what NUTS could not sample as NumPyro means it."""
    cut = [each for each, site in trace.items() if site["type"] == "plate" and _is_cut(site)]
    if cut:
        raise ModelError(
            f"{_WORD}: the model {name!r} takes a random part of the plate{'s' * (len(cut) > 1)} "
            f"{', '.join(map(repr, cut))} (subsample_size). Its log density would change from one evaluation to the "
            "next. Leave out subsample_size."
        )
    held = [each for each, site in trace.items() if site["type"] in ("param", "mutable")]
    if held:
        raise ModelError(
            f"{_WORD}: {', '.join(map(repr, held))} of the model {name!r} {'is a' if len(held) == 1 else 'are'} "
            f"{trace[held[0]]['type']} site{'s' * (len(held) > 1)}, which has no prior and which NumPyro's MCMC would "
            "hold fixed. Give it a prior by numpyro.sample, or its value by numpyro.handlers.substitute."
        )
    latents = {
        each: site for each, site in trace.items() if site["type"] == "sample" and not site["is_observed"]
    }
    discrete = [each for each, site in latents.items() if site["fn"].is_discrete]
    if discrete:
        raise ModelError(
            f"{_WORD}: the site{'s' * (len(discrete) > 1)} {', '.join(map(repr, discrete))} of the model {name!r} "
            f"{'is' if len(discrete) == 1 else 'are'} discrete and not observed, and NumPyro's potential has no "
            "gradient by them. Sum them out in the model, or write it for accord, which does so."
        )
    if not latents:
        raise ModelError(
            f"{_WORD}: the model {name!r} has no latent site, so that there is nothing to sample."
        )
    return latents


def _is_cut(site: Mapping[str, Any]) -> bool:
    size, part = site["args"]
    return part is not None and part < size


def _is_data(site: Mapping[str, Any]) -> bool:
    """Return whether a site observes numbers; a factor observes nothing."""
    return site["type"] == "sample" and site["is_observed"] and type(site["fn"]).__name__ != "Unit"


def _dims(site: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Name the axes of a value by the plates around it."""
    shape = np.shape(site["value"])
    found: list[str | None] = [None] * len(shape)
    batch = len(shape) - site["fn"].event_dim
    for frame in site["cond_indep_stack"]:
        axis = batch + frame.dim
        if 0 <= axis < batch and shape[axis] == frame.size:
            found[axis] = frame.name
    return tuple(found)


def _on_host(arguments: Any) -> Any:
    """Return a tree with NumPy arrays in the place of JAX's, which have the precision of the process."""
    try:
        return jax.tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf, arguments)
    except TypeError as error:
        raise DataError(f"{_WORD}: the arguments hold an array that is not known yet: {error}") from error


def _in_scope(leaf: Any) -> Any:
    if not isinstance(leaf, np.ndarray) or leaf.dtype.kind not in "fiu":
        return leaf
    wanted = np.float64 if leaf.dtype.kind == "f" else leaf.dtype
    return leaf.astype(jax.dtypes.canonicalize_dtype(wanted))


def _numpyro(module: str) -> Any:
    try:
        return importlib.import_module(f"numpyro.{module}")
    except ImportError as error:
        if error.name is None or not error.name.startswith("numpyro"):
            raise
        raise ImportError(f"{_WORD} needs NumPyro. Install it with: pip install numpyro") from error
