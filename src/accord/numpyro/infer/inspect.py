"""Draw the graph of a program."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...report.model_graph import ModelGraph
from ..bridge import as_model


def render_model(
    model: Callable[..., Any],
    model_args: tuple[Any, ...] | None = None,
    model_kwargs: Mapping[str, Any] | None = None,
    filename: str | Path | None = None,
    render_distributions: bool = False,
    render_params: bool = False,
) -> ModelGraph:
    """Return the sites of a program with arrows from what each depends on; a notebook draws it.

    **Arguments**: `filename`, where to save it, by its ending, such as `"model.svg"`. Distributions are always shown,
    and parameters, which are constants in a model, never.
    """
    del render_distributions, render_params
    graph = as_model(model, *(model_args or ()), **dict(model_kwargs or {})).graph()
    if filename is not None:
        graph.save(filename)
    return graph
