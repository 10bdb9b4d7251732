"""Read from the command line which data to split over devices."""

import contextlib

import jax

from .. import infer
from ..core.errors import OptionError
from ..executors import AbstractExecutor


def sharing(shard: str | None, devices: int | None) -> AbstractExecutor | None:
    """Build the executor for `--shard X=0,y=0` or `--shard PLATE` and `--devices N`; None without these options.

    Asks JAX for as many CPU devices, if it has not started to compute.

    **Raises** `OptionError` for anything but pairs of a name and an axis, and for devices without data to split.
    """
    if shard is None and devices is None:
        return None
    if devices is not None and devices > 1:
        with contextlib.suppress(RuntimeError):  # too late; the executor says so where they are too few
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
