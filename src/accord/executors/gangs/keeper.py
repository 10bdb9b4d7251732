"""Run a member of a gang on this machine for a supervisor on another one: start it, end it, report its end."""

import os
import time
from collections.abc import Mapping
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection

from ...core.errors import OptionError, WorkerError
from .lobby import notice_loss
from .messages import KEY, Card, End, Ended, Launch, Leave, address_of, key_here
from .seats import LocalSeat

_POLL = 0.2  # seconds
_RANKS = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")


def keep(address: str, wait: float) -> None:
    """Serve one run of the supervisor at `HOST:PORT`, after waiting for it; return when the run is over.

    **Raises** `OptionError` for an invalid address or secret; `WorkerError` if no supervisor is found, if it has
    another secret, or if it is lost.
    """
    connection = _found(address, wait)
    seat = LocalSeat(address, key_here(), is_heard=True)
    ticket = ""
    try:
        connection.send(Card("keeper", "", rank_here(os.environ), "", ()))
        while True:
            if connection.poll(_POLL):
                message = connection.recv()
                if isinstance(message, Leave):
                    return
                if isinstance(message, Launch | End):
                    seat.end()
                    ticket = ""
                if isinstance(message, Launch):
                    ticket = message.ticket
                    seat.launch(ticket, message.rank, message.environment)
            how = seat.complaint()
            if how is not None and ticket:
                connection.send(Ended(ticket, how))
                ticket = ""
    except (EOFError, OSError) as error:
        raise WorkerError(f"the supervisor at {address} is gone, and with it the run.") from error
    finally:
        seat.end()


def rank_here(environment: Mapping[str, str]) -> int | None:
    """Return the rank that Slurm or MPI has given this process."""
    return next((int(environment[name]) for name in _RANKS if environment.get(name, "").isdecimal()), None)


def _found(address: str, wait: float) -> Connection:
    try:
        place, key = address_of(address), key_here()
    except ValueError as error:
        raise OptionError(f"accord member: {error}.") from error
    if not key:
        raise OptionError(
            f"accord member: the environment variable {KEY} must hold the secret of the run, as it does where "
            "infer.MultiHost(address=...) is."
        )
    until = time.monotonic() + wait
    while True:
        try:
            connection = Client(place, authkey=key)
            notice_loss(connection)
            return connection
        except AuthenticationError as error:
            raise WorkerError(f"the supervisor at {address} has another secret in {KEY}.") from error
        except (OSError, EOFError) as error:
            if time.monotonic() > until:
                raise WorkerError(
                    f"no run was found at {address} within {wait:.0f} s ({error}). Start the script that calls "
                    "infer.sample(..., executor=infer.MultiHost(address=...)), or wait longer by --wait."
                ) from error
            time.sleep(_POLL)
