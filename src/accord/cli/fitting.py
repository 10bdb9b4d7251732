"""Define `accord fit`: fit a guide to the posterior of a model into a folder."""

from pathlib import Path
from typing import Annotated, cast

import typer

from .. import infer
from ..core.errors import OptionError, suggest
from ..core.precision import Precision
from ..guides import AbstractGuide
from .options import Cluster, Data, ExecutorName, ModelFile, Out, Quiet, Seed, executor_named
from .running import bind, conclude, next_folder
from .source import import_model

_GUIDES: dict[str, type[AbstractGuide]] = {
    "mean_field": infer.guides.MeanField,
    "low_rank": infer.guides.LowRank,
    "full_rank": infer.guides.FullRank,
    "structured": infer.guides.Structured,
    "flow": infer.guides.Flow,
    "dais": infer.guides.DAIS,
    "particles": infer.guides.Particles,
    "laplace": infer.guides.Laplace,
    "delta": infer.guides.Delta,
}


def fit_command(
    model: ModelFile,
    data: Data = None,
    out: Out = None,
    guide: Annotated[str, typer.Option(help=f"{', '.join(_GUIDES)}.")] = "mean_field",
    steps: Annotated[int, typer.Option(help="Steps at most.")] = 10_000,
    restarts: Annotated[int, typer.Option(help="Number of fits, of which the best is taken.")] = 1,
    seed: Seed = 0,
    precision: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    executor: ExecutorName = "threads",
    workers: Annotated[
        int | None, typer.Option("--workers", help="Number of fits at the same time; default one per core.")
    ] = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
) -> None:
    """Approximate the posterior of a model by a guide, store the fit, and print what it says and how good it is."""
    if guide not in _GUIDES:
        raise OptionError(
            f"--guide must be one of {', '.join(_GUIDES)}, got {guide!r}.{suggest(guide, _GUIDES)}"
        )
    where = executor_named(executor, workers, cluster)
    with import_model(model) as function:
        target = bind(function, data)
        folder: Path = next_folder(target.name) if out is None else out
        found = infer.fit(
            target,
            _GUIDES[guide](),
            steps=steps,
            restarts=restarts,
            seed=seed,
            precision=cast(Precision, precision),
            executor=where,
            store=infer.RunFolder(folder),
            quiet=quiet,
        )
        conclude(found, folder)
