"""Share out groups of lanes over devices. A program of its own, since JAX is told their number first.

JAX_NUM_CPU_DEVICES=3 python lane_groups.py
"""

import json
from collections import defaultdict
from typing import Any

import jax
import numpy as np
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.runs import worker

RUN: dict[str, Any] = dict(draws=40, warmup=40, seed=2, progress=False, quiet=True)


@ac.model
def normal(y):
    mean = ac.sample("mean", dist.Normal(0, 10))
    ac.sample("y", dist.Normal(mean, 1), obs=y)


class Watched:
    """Runs tasks, and notes on which devices it leaves the states of their chains."""

    def __init__(self, run: Any):
        self.run, self.devices = run, defaultdict[str, set[int]](set)

    def __call__(self, machines: Any, task: Any, is_stopped: Any) -> Any:
        group, items = self.run(machines, task, is_stopped)
        (device,) = jax.tree.leaves(group.chains[0].state.kernel.returned.tree)[0].devices()
        self.devices[str(group.numbers)].add(device.id)
        return group, items


def main() -> None:
    """Print where groups were, whether their draws are those of one device, and notices of too few groups."""
    model = normal(np.array(0.5))
    watched = worker.do_on_any = Watched(worker.do_on_any)
    in_blocks = paced(infer.Devices(), first_block=8, block_seconds=1e-9)
    shared = infer.sample(model, chains=6, lanes=2, executor=in_blocks, **RUN)
    where = {group: sorted(devices) for group, devices in watched.devices.items()}
    serial = infer.sample(model, chains=6, lanes=2, executor=infer.Serial(), **RUN)
    is_same = all(
        np.array_equal(one, other)
        for one, other in [(shared["mean"], serial["mean"]), (shared.stats["lp"], serial.stats["lp"])]
    )
    watched.devices.clear()
    whole = infer.sample(model, chains=6, lanes=8, executor=infer.Devices(), **RUN)
    print(
        json.dumps(
            {
                "where": where,
                "is_same": is_same,
                "codes": [notice.code for notice in shared.notices],
                "codes of one group": [notice.code for notice in whole.notices],
                "devices of one group": [sorted(devices) for devices in watched.devices.values()],
            }
        )
    )


if __name__ == "__main__":
    main()
