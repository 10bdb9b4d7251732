"""Predict from draws, or from a guide, and evaluate log likelihoods, as NumPyro does."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...core.errors import OptionError, SiteError
from ..compiled import compiled
from ..handlers import mask, seed, substitute, trace
from ..messages import Message
from .discrete import with_discrete


class Predictive:
    """Draws of a program's sites given draws of its unknowns; from the prior where there are none.

    **Arguments**
    - `model`: a program.
    - `posterior_samples`: draws by name, with `batch_ndims` first axes.
    - `guide`, `params`: a program to draw unknowns from, and its parameters, in place of draws; then `num_samples`.
    - `num_samples`: how many draws, where no draws are given.
    - `return_sites`: names; None is all that is drawn and not given, and deterministic sites; `""` is all.
    - `infer_discrete`: draw discrete unknowns from their posterior given the rest, in place of their prior.
    - `parallel`: has no effect: draws are mapped over all together.
    - `batch_ndims`: number of first axes of draws; None is 1.
    - `exclude_deterministic`: compute deterministic sites anew, although the draws have them.

    **Raises** `OptionError` for arguments that do not go together.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        posterior_samples: Mapping[str, Any] | None = None,
        *,
        guide: Callable[..., Any] | None = None,
        params: Mapping[str, Any] | None = None,
        num_samples: int | None = None,
        return_sites: Sequence[str] | None = None,
        infer_discrete: bool = False,
        parallel: bool = False,
        batch_ndims: int | None = None,
        exclude_deterministic: bool = True,
    ) -> None:
        del parallel
        if posterior_samples is None and num_samples is None:
            raise OptionError("Predictive: give `posterior_samples=` or `num_samples=`.")
        if guide is not None and posterior_samples is not None:
            raise OptionError("Predictive: give one of `posterior_samples` and `guide`.")
        samples = {} if posterior_samples is None else dict(posterior_samples)
        if batch_ndims is None:
            batch_ndims = 1
        shapes = {jnp.shape(value)[:batch_ndims] for value in samples.values()}
        if len(shapes) > 1:
            raise OptionError(f"Predictive: the draws differ in their first axes: {sorted(shapes)}.")
        found = next(iter(shapes), None)
        if found and num_samples is not None and math.prod(found) != num_samples:
            raise OptionError(
                f"Predictive: there are {math.prod(found)} draws, and num_samples is {num_samples}. Leave it out."
            )
        self.model, self.posterior_samples, self.guide = model, samples, guide
        self.params = {} if params is None else dict(params)
        self.return_sites, self.infer_discrete = return_sites, infer_discrete
        self.exclude_deterministic = exclude_deterministic
        self.batch_shape: tuple[int, ...] = found or ((num_samples or 1,) + (1,) * (batch_ndims - 1))

    def __call__(self, rng_key: Any, /, *args: Any, **kwargs: Any) -> dict[str, jax.Array]:
        """Return draws by name, for these arguments of the model."""
        samples = self.posterior_samples
        if self.guide is not None:
            rng_key, own = jax.random.split(rng_key)
            drawn = substitute(self.guide, data=self.params)
            samples = drawn_sites(own, drawn, {}, self.batch_shape, None, args, kwargs, True)
        model = substitute(self.model, data=self.params)
        if self.infer_discrete:
            samples = with_discrete(model, samples, len(self.batch_shape), rng_key, args, kwargs)
        sites = drawn_sites(
            rng_key,
            model,
            samples,
            self.batch_shape,
            self.return_sites,
            args,
            kwargs,
            self.exclude_deterministic,
        )
        if self.infer_discrete:
            wanted = [n for n in samples if n not in self.posterior_samples]
            sites |= {n: samples[n] for n in wanted if self.return_sites is None or n in self.return_sites}
        return sites


def drawn_sites(
    rng_key: Any,
    model: Callable[..., Any],
    samples: Mapping[str, Any],
    batch: tuple[int, ...],
    return_sites: Sequence[str] | None,
    args: Any,
    kwargs: Mapping[str, Any],
    exclude_deterministic: bool,
) -> dict[str, jax.Array]:
    """Run a program for each of these values of its sites and parameters, and return values of others by name.

    **Arguments**: as of `Predictive`; `samples`, arrays or trees of them, with `batch` as first axes.
    """
    hidden = mask(model, mask=False)
    found: dict[str, Message] = {}

    def one(key: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        def value_of(site: Message) -> Any:
            if site["name"] not in given or (site["type"] == "deterministic" and exclude_deterministic):
                return None
            return given[site["name"]]

        sites = trace(seed(substitute(hidden, substitute_fn=value_of), key)).get_trace(*args, **kwargs)
        found.update(sites)
        if return_sites is None:
            names = [
                name
                for name, site in sites.items()
                if (site["type"] == "sample" and name not in samples) or site["type"] == "deterministic"
            ]
        else:
            names = [
                n for n in sites if sites[n]["type"] != "plate" and (return_sites == "" or n in return_sites)
            ]
        return {name: sites[name]["value"] for name in names}

    count = math.prod(batch)
    flat = jax.tree.map(lambda v: jnp.reshape(v, (count, *jnp.shape(v)[len(batch) :])), dict(samples))
    keys = jax.random.split(rng_key, count)
    drawn = compiled(jax.vmap(one))(keys, flat)
    _check_names(samples, found)
    return {n: jnp.reshape(v, (*batch, *jnp.shape(v)[1:])) for n, v in drawn.items()}


def _check_names(samples: Mapping[str, Any], sites: Mapping[str, Message]) -> None:
    """Refuse draws of which none is a site: they are of another model."""
    if samples and not any(name in sites for name in samples):
        raise SiteError(
            f"the draws have {', '.join(map(repr, samples))}, and the model {', '.join(map(repr, sites))}: no name is "
            "in both. Give draws of this model."
        )


def log_likelihood(
    model: Callable[..., Any],
    posterior_samples: Mapping[str, Any],
    *args: Any,
    parallel: bool = False,
    batch_ndims: int = 1,
    **kwargs: Any,
) -> dict[str, jax.Array]:
    """Return the log likelihood of each observed site at each draw, shape `(*draws, *batch)`.

    **Arguments**: as of `numpyro.infer.log_likelihood`; `parallel` has no effect.
    """
    del parallel

    def one(given: Mapping[str, Any]) -> dict[str, jax.Array]:
        sites = trace(substitute(seed(model, jax.random.key(0)), data=given)).get_trace(*args, **kwargs)
        return {
            name: site["fn"].log_prob(site["value"])
            for name, site in sites.items()
            if site["type"] == "sample" and site["is_observed"]
        }

    function: Callable[..., Any] = one
    for _ in range(batch_ndims):
        function = jax.vmap(function)
    return compiled(function)(dict(posterior_samples))
