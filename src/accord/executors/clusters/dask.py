"""Run chains on the workers of a Dask cluster."""

from typing import Any

import equinox as eqx

from ...core.errors import OptionError
from ...core.options import checks_fields
from ..base import AbstractExecutor, AbstractPool, Surroundings
from ..local import check_workers
from ..surroundings import refuse_inside_worker
from .cluster import check_address, require


@checks_fields
class Dask(AbstractExecutor):
    """Chains on a Dask cluster: of several machines, of a batch queue (dask-jobqueue), or one that you have at hand.

    A worker hands each task to a child process of its own, which is started in the surroundings of the run; so it does
    not matter how the workers were started, and the draws are the same. What dies or is stuck is replaced.

    **Fields**
    - `cluster`: the address of a scheduler, such as `"tcp://127.0.0.1:8786"`; a `distributed.Client`, for a cluster
      that wants credentials; or None for a cluster inside of this process, whose children run on this machine.
    - `workers`: at most as many chains at the same time; >= 1. None takes the threads of all workers that are there
      when the run begins, and one for each core without a cluster.
    - `insecure`: whether the model may travel to another machine unencrypted. Whoever reaches a Dask scheduler can run
      what he likes on its workers.

    **Raises** `OptionError` where `distributed` is not installed, and for an address of another machine that is neither
    `tls://` nor declared `insecure`.

    **Example**

    >>> where = infer.Dask(workers=1)
    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, executor=where, quiet=True)
    >>> np.array_equal(again["theta"], draws["theta"])  # the same bits on any executor
    True
    """

    cluster: Any = eqx.field(static=True, default=None)
    workers: int | None = eqx.field(static=True, default=None, kw_only=True)
    insecure: bool = eqx.field(static=True, default=False, kw_only=True)

    def __check_init__(self) -> None:
        check_workers("Dask", self.workers)
        require("distributed", "Dask", "dask", (2025, 1))
        if isinstance(self.cluster, str):
            check_address("Dask", self.cluster, insecure=self.insecure)
        elif self.cluster is not None and not hasattr(self.cluster, "register_plugin"):
            raise OptionError(
                "Dask: the first argument must be the address of a scheduler, a distributed.Client or None, got "
                f"{type(self.cluster).__name__}."
            )

    @property
    def shares_memory(self) -> bool:
        return False

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        """See `AbstractExecutor.open`."""
        from .dask_pool import DaskPool  # imports distributed

        refuse_inside_worker("Dask")
        return DaskPool(self.cluster, min(self.workers or num_tasks, num_tasks), surroundings)
