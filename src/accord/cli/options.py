"""Define the arguments and options that several commands share, and build a sampler from them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import infer
from ..core.errors import OptionError, suggest
from ..kernels import AbstractKernel
from .executors import NAMES

ModelFile = Annotated[
    str, typer.Argument(metavar="FILE[:NAME]", help="Python file, and name of the model in it.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a stored run.")]
Data = Annotated[
    Path | None, typer.Option(help="JSON, CSV, NPZ or Parquet file with the model's arguments by name.")
]
Out = Annotated[Path | None, typer.Option(help="Folder for the run; default runs/MODEL-N.")]
DrawCount = Annotated[int, typer.Option("--draws", help="Draws to keep, per chain.")]
WarmupCount = Annotated[int | None, typer.Option("--warmup", help="Warm-up draws per chain.")]
ChainCount = Annotated[int, typer.Option("--chains", help="Number of chains.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same draws.")]
ExecutorName = Annotated[str, typer.Option("--executor", help=f"{NAMES}.")]
WorkerCount = Annotated[
    int | None,
    typer.Option("--workers", help="Number of chains at the same time; default one per core."),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="Address of a Dask or Ray cluster; default a cluster on this machine."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print neither progress nor notices.")]

_SAMPLERS = {"nuts": infer.NUTS, "hmc": infer.HMC}


def sampler_named(name: str, options: dict[str, Any]) -> AbstractKernel:
    """Build the sampler with the given options; raises for options that it does not have."""
    if name not in _SAMPLERS:
        raise OptionError(f"--sampler must be nuts or hmc, got {name!r}.{suggest(name, _SAMPLERS)}")
    return _SAMPLERS[name](**{option: value for option, value in options.items() if value is not None})
