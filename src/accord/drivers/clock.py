"""Share one clock among all processes that run a program together, so that they stop together.

With its own clock, one process could call the program once more than the others, and wait for them for ever.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..density.blocks import AXIS, mesh_of


def common_clock(devices: Sequence[Any]) -> Callable[[], float]:
    """Return a clock that all processes with these devices share: that of the first device's process.

    It is a program over the devices, which takes 0.3 ms on two processes of one machine.
    """
    mesh = mesh_of(devices)
    spread, everywhere = NamedSharding(mesh, PartitionSpec(AXIS)), NamedSharding(mesh, PartitionSpec())
    tell = jax.jit(lambda words: words, out_shardings=everywhere)

    def clock() -> float:
        words = np.float64(time.perf_counter()).reshape(1).view(np.uint32)  # whole in any precision
        mine = jax.make_array_from_callback((len(devices), len(words)), spread, lambda index: words[None])
        return float(np.asarray(tell(mine))[0].view(np.float64)[0])

    return clock
