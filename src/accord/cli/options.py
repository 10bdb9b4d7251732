"""Define the arguments and options that several commands share, and build what they name: sampler, executor or rule."""

import contextlib
import functools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import jax
import typer

from .. import infer
from ..core.errors import OptionError, suggest
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..runs.stopping.base import AbstractRule
from .completing import EXECUTORS, executor_names, run_folders

_EXECUTORS = f"{', '.join(EXECUTORS[:-1])} or {EXECUTORS[-1]}"
_HERE: dict[str, Callable[..., AbstractExecutor]] = {"threads": infer.Threads, "processes": infer.Processes}
_CLUSTERS: dict[str, Callable[..., AbstractExecutor]] = {"dask": infer.Dask, "ray": infer.Ray}

ModelFile = Annotated[
    str, typer.Argument(metavar="FILE[:NAME]", help="Python file, and name of the model in it.")
]
RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a stored run.", autocompletion=run_folders)
]
Data = Annotated[
    Path | None, typer.Option(help="JSON, CSV, NPZ or Parquet file with the model's arguments by name.")
]
Out = Annotated[Path | None, typer.Option(help="Folder for the run; default runs/MODEL-N.")]
DrawCount = Annotated[int, typer.Option("--draws", help="Draws to keep, per chain.")]
WarmupCount = Annotated[int | None, typer.Option("--warmup", help="Warm-up draws per chain.")]
ChainCount = Annotated[int, typer.Option("--chains", help="Number of chains.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same draws.")]
ExecutorName = Annotated[
    str,
    typer.Option(
        "--executor",
        help=f"{_EXECUTORS}.",
        autocompletion=executor_names,
    ),
]
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

_RULES: dict[str, Callable[[float], AbstractRule]] = {
    "ess": infer.ESS,
    "rhat": infer.RHat,
    "mcse": infer.MCSE,
    "seconds": infer.Seconds,
}


def sampler_named(name: str, options: dict[str, Any]) -> AbstractKernel:
    """Build the sampler with the given options; raises for options that it does not have."""
    if name not in _SAMPLERS:
        raise OptionError(f"--sampler must be nuts or hmc, got {name!r}.{suggest(name, _SAMPLERS)}")
    return _SAMPLERS[name](**{option: value for option, value in options.items() if value is not None})


def executor_named(name: str, workers: int | None, cluster: str | None) -> AbstractExecutor:
    """Build the executor with these workers, on this cluster; `serial` has one worker and takes no number."""
    names = (*_HERE, "serial", *_CLUSTERS)
    if name not in names:
        raise OptionError(f"--executor must be {_EXECUTORS}, got {name!r}.{suggest(name, names)}")
    if cluster is not None and name not in _CLUSTERS:
        raise OptionError(f"--cluster {cluster} goes with --executor dask or ray, not {name}.")
    if name == "serial":
        if workers is not None:
            raise OptionError(f"--workers {workers} goes with every --executor but serial; serial has one.")
        return infer.Serial()
    if name in _CLUSTERS:
        return _CLUSTERS[name](cluster, workers=workers)
    return _HERE[name](workers=workers)


def sharing(shard: str | None, devices: int | None) -> AbstractExecutor | None:
    """Build the executor for `--shard X=0,y=0` or `--shard PLATE` and `--devices N`; None without these options.

    Asks JAX for as many CPU devices, if it has not started to compute.

    **Raises** `OptionError` for anything but pairs of a name and an axis, and for devices without data to split.
    """
    if shard is None and devices is None:
        return None
    if devices is not None and devices > 1:
        with contextlib.suppress(RuntimeError):  # too late; the executor starts processes that have as many
            jax.config.update("jax_num_cpu_devices", devices)
    return infer.Devices(data=devices, shard=None if shard is None else _rows(shard))


def _rows(words: str) -> dict[str, int] | str:
    """Parse arguments with the axes of their rows, as `X=0,y=0`; or the name of a plate."""
    if "=" not in words and "," not in words:
        return words
    pairs = [pair.strip().partition("=") for pair in words.split(",")]
    if not all(name and axis.strip().isdecimal() for name, _, axis in pairs):
        raise OptionError(
            f"--shard {words} is not understood. Give arguments of the model with the axis of their rows, as in "
            "--shard X=0,y=0, or a plate over the rows, as in --shard row."
        )
    return {name.strip(): int(axis) for name, _, axis in pairs}


def rule_written(text: str | None) -> AbstractRule | None:
    """Parse a rule; `and` binds tighter than `or`. Raises `OptionError` for invalid text."""
    if text is None:
        return None
    either = [[_rule(part) for part in some.split(" and ")] for some in text.strip().lower().split(" or ")]
    return functools.reduce(operator.or_, (functools.reduce(operator.and_, both) for both in either))


def _rule(text: str) -> AbstractRule:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in _RULES:
        raise OptionError(
            f"--until takes {', '.join(_RULES)}, each with =VALUE, joined by and, or; got {text.strip()!r}."
            f"{suggest(name, _RULES)}"
        )
    try:
        number = float(value)
    except ValueError:
        raise OptionError(f"--until {name}= needs a number, got {value!r}.") from None
    return _RULES[name](number)
