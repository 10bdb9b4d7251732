"""Run chains on several devices of this machine: one device per chain, or several that share its data."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax

from ..core.errors import OptionError
from ..core.options import checks_fields
from .base import AbstractExecutor, AbstractPool, Surroundings
from .local import ThreadPool, available_cores
from .processes import ProcessPool
from .surroundings import refuse_inside_worker

Shard = Mapping[str, int] | str | None
"""What is shared out: by argument of the model, the axis of its rows; or a plate over them."""


def owned(shard: Shard) -> Shard:
    """Copy the option, so that later changes of it do not change the executor."""
    return dict(shard) if isinstance(shard, Mapping) else shard


def as_pairs(shard: Shard) -> tuple[tuple[str, int], ...] | str:
    """Return the axes as sorted, hashable pairs; the name of a plate stays as it is."""
    return shard if isinstance(shard, str) else tuple(sorted(dict(shard or {}).items()))


@checks_fields
class Devices(AbstractExecutor):
    """Run chains on the accelerators or CPU devices of this machine; rows of large data can be split over them.

    Draws are equal bit for bit for any number of devices up to 16; with several lanes, for two or more.

    **Fields**
    - `data`: number of devices that share the data of a chain; >= 1. None takes all devices with `shard`, and one
      without. Each group of this many devices runs one chain at a time. JAX settles the number of CPU devices when it
      is first used: where this process has fewer, chains run in child processes that have as many.
    - `shard`: the axis of the rows of each argument: `{"X": 0, "y": 0}`. Or the name of a plate over the rows, `"row"`:
      every argument with exactly one axis of its size is split along it.

    **Example**

    >>> where = infer.Devices()
    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, executor=where, quiet=True)
    >>> again["theta"].shape
    (2, 200, 8)
    """

    data: int | None = eqx.field(static=True, default=None)
    shard: Shard = eqx.field(static=True, default=None, converter=owned)

    def __check_init__(self) -> None:
        if self.data is not None and (isinstance(self.data, bool) or self.data < 1):
            raise OptionError(f"Devices: data must be at least 1 or None, got {self.data!r}.")
        if not isinstance(self.shard, Mapping | str | None):
            raise OptionError(
                f'Devices: shard must be like {{"X": 0, "y": 0}}, or the name of a plate, got {self.shard!r}.'
            )
        if (self.data or 1) > 1 and not self.shard:
            raise OptionError(
                f'Devices(data={self.data}) needs to know what to share out: `shard={{"X": 0, "y": 0}}` names '
                'arguments of the model and the axis along which each has its rows, and `shard="row"` a plate.'
            )

    def __hash__(self) -> int:
        return hash((self.data, as_pairs(self.shard)))

    @property
    def _is_apart(self) -> bool:
        """Whether chains run in other processes, which have enough CPU devices."""
        devices = jax.local_devices()
        return devices[0].platform == "cpu" and (self.data or 1) > len(devices)

    @property
    def shares_memory(self) -> bool:
        return not self._is_apart

    @property
    def spans_devices(self) -> bool:
        return self._is_apart

    @property
    def sharding(self) -> tuple[tuple[str, int], ...] | str:
        return as_pairs(self.shard)

    def device_groups(self) -> Sequence[Sequence[Any] | None]:
        """See `AbstractExecutor.device_groups`. Raises `OptionError` for too few accelerators."""
        if self._is_apart:
            return [None]
        devices = jax.local_devices()
        size = self.data or (len(devices) if self.shard else 1)
        if size > len(devices):
            raise OptionError(
                f"Devices(data={size}): this process has {len(devices)} {devices[0].platform} devices. Ask for no more."
            )
        return [devices[first : first + size] for first in range(0, len(devices) - size + 1, size)]

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        """See `AbstractExecutor.open`."""
        if not self._is_apart:
            return ThreadPool(min(len(self.device_groups()), num_tasks))
        refuse_inside_worker("Devices")
        size = self.data or 1
        num_workers = min(max(available_cores() // size, 1), num_tasks)
        return ProcessPool(num_workers, replace(surroundings, cpu_devices=size), sys.path)
