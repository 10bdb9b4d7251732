"""Run chains on several processes, on one machine or many, that share the data."""

import secrets

import equinox as eqx

from ...core.errors import OptionError
from ...core.options import checks_fields, positive_count
from ..base import AbstractExecutor, Surroundings
from ..clusters.cluster import is_loopback
from ..devices import Shard, as_pairs, owned
from ..surroundings import refuse_inside_worker
from .gang_pool import GangPool
from .messages import KEY, address_of, key_here

_SHORTEST_KEY = 16  # characters


@checks_fields
class MultiHost(AbstractExecutor):
    """Run one chain at a time with its data split over processes: for a likelihood too large for one machine.

    JAX runs the same program in all processes, and each holds some of the rows. The processes are children of this one.
    With `address` they run on other machines, where you start `accord member HOST:PORT` by Slurm, MPI or hand. If one
    process dies or hangs, all are restarted, and continue from the last results. Draws are equal bit for bit to those
    of `Devices` with the same `shard`.

    **Fields**
    - `processes`: number of processes; >= 1, each with one CPU device, or with the accelerators that it sees.
    - `shard`: the axis of the rows of each argument: `{"X": 0, "y": 0}`; or the name of a plate over them.
    - `address`: `HOST:PORT` of this machine, to which members connect; None starts them here. Members need the secret
      in the environment variable `ACCORD_GANG_KEY`, of 16 characters or more.
    - `insecure`: allow an `address` other than loopback. Anyone with the secret can run code on all machines. Messages
      are not encrypted, and messages between JAX's processes are not authenticated: use it only in a trusted network.

    **Example**

    >>> @ac.model
    ... def line(x, y):
    ...     slope = ac.sample("slope", dist.Normal(0, 1))
    ...     with ac.plate("row", len(x)):
    ...         ac.sample("y", dist.Normal(slope * x, 1), obs=y)
    >>> x = np.linspace(0, 1, 100)
    >>> hosts = infer.MultiHost(processes=2, shard={"x": 0, "y": 0})
    >>> infer.sample(line(x, 2 * x), draws=50, chains=1, executor=hosts, quiet=True)
    <Draws of line: 1 chains x 50 draws; slope>
    """

    processes: int = eqx.field(static=True)
    shard: Shard = eqx.field(static=True, converter=owned)
    address: str | None = eqx.field(static=True, default=None, kw_only=True)
    insecure: bool = eqx.field(static=True, default=False, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("MultiHost: processes", self.processes)
        if not self.shard:
            raise OptionError(
                f'MultiHost(processes={self.processes}) needs to know what to share out: `shard={{"X": 0, "y": 0}}` '
                'names arguments of the model and the axis along which each has its rows, and `shard="row"` a plate.'
            )
        if self.address is None:
            return
        try:
            host, _ = address_of(self.address)
        except ValueError as error:
            raise OptionError(f"MultiHost: {error}.") from error
        if not (self.insecure or is_loopback(host)):
            raise OptionError(
                f"MultiHost(address={self.address!r}) would listen to other machines. Messages between members "
                "through JAX are neither encrypted nor authenticated, and anyone with the secret can run code. "
                "If you trust everyone who can reach that address, write insecure=True."
            )

    def __hash__(self) -> int:
        return hash((self.processes, as_pairs(self.shard), self.address, self.insecure))

    @property
    def shares_memory(self) -> bool:
        return False

    @property
    def spans_devices(self) -> bool:
        return True

    @property
    def sharding(self) -> tuple[tuple[str, int], ...] | str:
        return as_pairs(self.shard)

    def open(self, num_tasks: int, surroundings: Surroundings) -> "GangPool":
        """See `AbstractExecutor.open`. Members come together when there is something to do."""
        del num_tasks
        refuse_inside_worker("MultiHost")
        if self.address is not None:
            return GangPool(self.processes, surroundings, *_listening(self.address), is_remote=True)
        if self.processes > 1 and surroundings.platform != "cpu":
            raise OptionError(
                f"MultiHost(processes={self.processes}) without an address starts all processes on this machine, where "
                f"each would take every {surroundings.platform} device. Use executor=Devices(shard=...), which spans "
                "the devices of one machine in one process, or `accord member` on each machine."
            )
        return GangPool(self.processes, surroundings, ("127.0.0.1", 0), secrets.token_hex(32).encode(), False)


def _listening(address: str) -> tuple[tuple[str, int], bytes]:
    """Return the address to listen at and the secret. Raises `OptionError` for a short secret."""
    key = key_here()
    if len(key) < _SHORTEST_KEY:
        raise OptionError(
            f"MultiHost(address={address!r}): the environment variable {KEY} must hold the secret by which members "
            f"are known, of {_SHORTEST_KEY} characters or more; it has {len(key)}. "
            f"`export {KEY}=$(openssl rand -hex 32)` makes one; give the members the same."
        )
    return address_of(address), key
