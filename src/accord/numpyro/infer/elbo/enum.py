"""Bound the log evidence with discrete unknowns of the model summed out."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jax.core import Tracer

from ....core.errors import ModelError
from ....density import LogDensity
from ....density.data import split
from ....density.program import Given
from ....model import Model
from ....model import model as as_accord
from ...bridge import Bridge
from ...handlers import substitute
from ...messages import Message, Within
from .base import Trace
from .graph import Term, TraceGraph_ELBO, left_out, left_out_of, parts_of


class TraceEnum_ELBO(TraceGraph_ELBO):  # noqa: N801 - NumPyro's name
    """Bound of a model whose discrete unknowns, which the guide leaves out, are summed out by accord's density.

    Discrete sites of the guide are drawn, and their scores taken, as by `TraceGraph_ELBO`, also those that are marked
    to be enumerated: the bound is the same, and its slope noisier. Leave them out of the guide for a better bound.

    **Arguments**: as of `ELBO`; `max_plate_nesting` has no effect.

    **Raises** `ModelError` where the first step is traced before the model's arguments are known.
    """

    def __init__(
        self, num_particles: int = 1, max_plate_nesting: float = float("inf"), vectorize_particles: Any = True
    ) -> None:
        super().__init__(num_particles, vectorize_particles)
        del max_plate_nesting
        self._density: LogDensity | None = None

    def begin(self, params: Mapping[str, Any], model: Any, guide: Any, args: Any, kwargs: Any) -> None:
        """See `ELBO.begin`: find how the discrete unknowns are summed out."""
        self._density = None
        names, parts = left_out(params, model, guide, args, kwargs)
        if names:
            some = {name: jnp.arange(count) for name, count in parts.items()}
            self._density = _density_of(_bound(model, params, some, args, kwargs))

    def model_terms(
        self, sites: Trace, drawn: Trace, params: Mapping[str, Any], model: Any, args: Any, kwargs: Any
    ) -> dict[str, Term]:
        """See `TraceGraph_ELBO.model_terms`: the terms of the density with discrete unknowns summed out."""
        if not left_out_of(sites, drawn):
            return super().model_terms(sites, drawn, params, model, args, kwargs)
        plates = {name: sites[name]["value"] for name in parts_of(sites)}
        bound = _bound(model, params, plates, args, kwargs)
        data = split(bound, _precision())[1]
        if self._density is None or not _fits(self._density, data):
            if any(isinstance(value, Tracer) for value in data.values()):
                raise ModelError(
                    "TraceEnum_ELBO: the model's arguments are traced and have other shapes than before, and how many "
                    "values there are to sum over is seen from them. Call `svi.init` outside of jit, with arguments of "
                    "the shapes that `svi.update` has."
                )
            self._density = _density_of(bound)
        density = self._density
        chosen: Any = {entry.name: Given(sites[entry.name]["value"]) for entry in density.layout.entries}
        terms = density.program.terms_at(chosen, data)
        return {f"model {name}": Term(jnp.asarray(each), {}) for name, each in terms.items()}


class _WithScales(Bridge):
    """Run a program whose plates are drawn already: their weights are scales."""

    def scale_of(self, msg: Message) -> Any:
        """See `Bridge.scale_of`."""
        return msg["scale"]


def _bound(
    program: Any, params: Mapping[str, Any], plates: Mapping[str, Any], args: Any, kwargs: Mapping[str, Any]
) -> Model:
    """Return the program as a model of accord, of which parameters, plates and arguments are data."""

    def written(params: Any, plates: Any, args: Any, kwargs: Any) -> Any:
        with Within((_WithScales(),)):
            return substitute(substitute(program, data=plates), data=params)(*args, **kwargs)

    written.__name__ = getattr(program, "__name__", type(program).__name__)
    return as_accord(written)(dict(params), dict(plates), args, dict(kwargs))


def _density_of(bound: Model) -> LogDensity:
    return LogDensity.from_model(bound, _precision())


def _fits(density: LogDensity, data: Mapping[str, Any]) -> bool:
    def outline(arrays: Mapping[str, Any]) -> dict[str, Any]:
        return {name: (jnp.shape(value), jnp.result_type(value)) for name, value in arrays.items()}

    return outline(density.data) == outline(data)


def _precision() -> Any:
    return "float64" if jnp.result_type(float) == jnp.float64 else "float32"
