"""Compute what draws tell of discrete unknowns that were summed out: the most probable values, and probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import jax
import numpy as np

from ..core.errors import OptionError, suggest
from ..density import LogDensity
from ..density.eliminate.discrete.summed import SummedProgram
from ..density.joint import Predictive
from ..executors import AbstractExecutor
from .about import about
from .over_draws import over_draws
from .results import Predictions
from .source import Source

How = Literal["mode", "probabilities"]


def of_discrete(
    source: Source, how: How, sites: Sequence[str] | None, executor: AbstractExecutor | None
) -> Predictions:
    """Implement `infer.predict(kind="mode")` and `infer.predict(kind="probabilities")`.

    **Raises** `OptionError` for a model without sites that are summed out, and for names that are none of these.
    """
    density = LogDensity.from_model(source.model, source.precision)
    program = density.program.stage(SummedProgram)
    if program is None:
        raise OptionError(
            f"infer.predict: kind={how!r} is of discrete unknowns that are summed out, and the model "
            f"{source.model.name!r} has none."
        )
    names = program.plan.names
    wanted = names if sites is None else tuple(map(str, sites))
    for name in wanted:
        if name not in names:
            raise OptionError(
                f"infer.predict: sites has {name!r}, which is not summed out.{suggest(name, names)} There are: "
                f"{', '.join(names)}."
            )
    target = _without(source, () if source.is_own else names).trace("predict", draws_others=True)
    lacking = [entry.name for entry in density.layout.unknowns if entry.name not in target.read]
    if lacking:
        raise OptionError(
            f"infer.predict: kind={how!r} needs draws of all other unknowns, and there are none of "
            f"{', '.join(map(repr, lacking))}."
        )

    def of_draw(target: Predictive, values: Mapping[str, Any], key: jax.Array) -> dict[str, jax.Array]:
        del key
        data = {name: {**target.constants, **target.data}[name] for name in density.data}
        at = program.most_probable_at if how == "mode" else program.probabilities_at
        found = at(values, data)
        return {name: found[name] for name in wanted}

    found = over_draws("predict", target, source, of_draw, executor=executor)
    result = Predictions(
        **about(
            source,
            target,
            {name: found[name] for name in wanted},
            [each for each in density.notices if each.code != "summed_out"],
        ),
        kind=f"discrete_{how}",
        predicted=tuple(wanted),
        anew=(),
    )
    return result if how == "mode" else _with_values(result, density)


def _with_values(result: Predictions, density: LogDensity) -> Predictions:
    """Name the last axis of probabilities, and label it by the values."""
    dims, coords = dict(result.dims), dict(result.coords)
    for name, array in result.sites.items():
        axis = f"{name}_value"
        dims[name] = (*dims[name], axis)
        coords[axis] = (density.layout[name].low or 0) + np.arange(array.shape[-1])
    return replace(result, dims=dims, coords=coords)


def _without(source: Source, names: Sequence[str]) -> Source:
    """Leave out draws of the sites, which at other data may have other sizes."""
    return replace(
        source,
        unknowns=tuple(name for name in source.unknowns or source.series if name not in names),
        held={name: each for name, each in source.held.items() if name not in names},
    )
