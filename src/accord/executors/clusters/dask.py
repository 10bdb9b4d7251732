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
    """Run chains on a Dask cluster: on several machines, in a batch queue (dask-jobqueue), or in this process.

    Each worker runs tasks in child processes with the settings of the run. So it does not matter how the workers were
    started, and the draws are the same. A dead or stuck child is replaced.

    **Fields**
    - `cluster`: the address of a scheduler, such as `"tcp://127.0.0.1:8786"`; a `distributed.Client`, for a cluster
      with credentials; or None for a cluster in this process, with children on this machine.
    - `workers`: maximal number of chains at the same time; >= 1. None takes the threads of all workers when the run
      starts, or one for each core without a cluster.
    - `insecure`: allow unencrypted connections to another machine. Anyone who can reach a Dask scheduler can run code
      on its workers.

    **Raises** `OptionError` if `distributed` is not installed, and for the address of another machine without `tls://`
    or `insecure=True`.

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
