"""Run chains on a Ray cluster."""

import contextlib

import equinox as eqx

from ...core.options import checks_fields
from ..base import AbstractExecutor, AbstractPool, Surroundings
from ..local import check_workers
from ..surroundings import refuse_inside_worker
from .cluster import check_address, require
from .ray_head import on_loopback


@checks_fields
class Ray(AbstractExecutor):
    """Run chains in actors of a Ray cluster, each in a separate process.

    A dead or stuck actor is replaced, and the draws are the same. Without a cluster, use `Processes`: Ray takes seconds
    to start and hundreds of megabytes.

    **Fields**
    - `address`: address of a cluster; `"auto"` finds the cluster of this machine. None takes the cluster that this
      process joined by `ray.init`, or else starts one on loopback, which ends with the run.
    - `workers`: maximal number of chains at the same time; >= 1. None takes the CPUs of the cluster.
    - `insecure`: allow unencrypted connections to another machine.

    **Raises** `OptionError` if ray >= 2.52 is not installed (older versions run code for anyone who can reach them),
    and for the address of another machine without `insecure=True`.

    **Example**

    >>> where = infer.Ray(workers=1)
    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, executor=where, quiet=True)
    >>> np.array_equal(again["theta"], draws["theta"])  # the same bits on any executor
    True
    """

    address: str | None = eqx.field(static=True, default=None)
    workers: int | None = eqx.field(static=True, default=None, kw_only=True)
    insecure: bool = eqx.field(static=True, default=False, kw_only=True)

    def __check_init__(self) -> None:
        check_workers("Ray", self.workers)
        require("ray", "Ray", "ray", (2, 52))
        if self.address not in (None, "auto"):
            check_address("Ray", self.address, insecure=self.insecure)

    @property
    def shares_memory(self) -> bool:
        return False

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        """See `AbstractExecutor.open`."""
        with contextlib.nullcontext() if self.address else on_loopback():
            from .ray_pool import RayPool  # imports ray

        refuse_inside_worker("Ray")
        limit = min(self.workers or num_tasks, num_tasks)
        return RayPool(self.address, limit, surroundings)
