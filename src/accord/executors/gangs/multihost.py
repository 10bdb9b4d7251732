"""Run chains on several processes, on one machine or many, that share the data out and live and die together."""

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
    """One chain at a time, its data shared out among processes: for a likelihood too large for one machine.

    The processes are a gang: JAX runs the same program in all of them, and each has some of the rows. They are children
    of this one, or, with `address`, wait to be asked on other machines, where `accord member HOST:PORT` was started by
    Slurm, MPI or hand. When one dies or stands still all are ended, and a new gang goes on from what was last handed
    over. The draws are the same, bit for bit, as those of `Devices` with the same `shard`.

    **Fields**
    - `processes`: how many; >= 1, each with one CPU device, or with the accelerators that it sees.
    - `shard`: by argument of the model, the axis along which it has its rows: `{"X": 0, "y": 0}`; or a plate over them.
    - `address`: `HOST:PORT` of this machine, at which members come in; None starts them here. They must know the
      secret in the environment variable `ACCORD_GANG_KEY`, which has 16 characters or more.
    - `insecure`: that `address` may be another than loopback. Whoever knows the secret can run code here and there,
      what is sent is not encrypted, and what JAX's processes say to each other is not even authenticated: only for a
      network where all are trusted.

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
                f"MultiHost(address={self.address!r}) would listen to other machines. What members say to each other "
                "through JAX is neither encrypted nor authenticated, and whoever knows the secret can run code. "
                "Where you trust all who can reach that address, say so by insecure=True."
            )

    def __hash__(self) -> int:
        return hash((self.processes, as_pairs(self.shard), self.address, self.insecure))

    @property
    def shares_memory(self) -> bool:
        return False

    @property
    def is_gang(self) -> bool:
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
    """Where to listen, and the secret. Raises `OptionError` where that is too short."""
    key = key_here()
    if len(key) < _SHORTEST_KEY:
        raise OptionError(
            f"MultiHost(address={address!r}): the environment variable {KEY} must hold the secret by which members "
            f"are known, of {_SHORTEST_KEY} characters or more; it has {len(key)}. "
            f"`export {KEY}=$(openssl rand -hex 32)` makes one; give the members the same."
        )
    return address_of(address), key
