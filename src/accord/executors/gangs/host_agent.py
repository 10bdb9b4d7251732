"""Run a member of a gang on this machine for a supervisor on another one: start it, end it, report its end."""

import os
import time
from collections.abc import Mapping

from ...core.errors import OptionError, WorkerError
from .channel import Channel, enter
from .handshake import ProofError
from .member_process import LocalMemberProcess
from .messages import KEY, End, Ended, Hello, Launch, Leave, address_of, key_here
from .session import ForgedError

_POLL = 0.2  # seconds
_RANKS = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")


def keep(address: str, wait: float) -> None:
    """Serve one run of the supervisor at `HOST:PORT`, after waiting for it; return when the run is over.

    **Raises** `OptionError` for an invalid address or secret; `WorkerError` if no supervisor is found, if it does not
    prove that it knows the secret, or if it is lost.
    """
    channel = _found(address, wait)
    member_process = LocalMemberProcess(address, key_here(), is_heard=True)
    ticket = ""
    try:
        channel.send(Hello("", rank_here(os.environ), "", ()))
        while True:
            if channel.poll(_POLL):
                message = channel.receive()
                if isinstance(message, Leave):
                    return
                if isinstance(message, Launch | End):
                    member_process.end()
                    ticket = ""
                if isinstance(message, Launch):
                    ticket = message.ticket
                    member_process.launch(ticket, message.rank, message.environment)
            how = member_process.complaint()
            if how is not None and ticket:
                channel.send(Ended(ticket, how))
                ticket = ""
    except ForgedError as error:
        raise WorkerError(f"the connection to the supervisor at {address} was given up: {error}.") from error
    except (EOFError, OSError) as error:
        raise WorkerError(f"the supervisor at {address} is gone, and with it the run.") from error
    finally:
        member_process.end()
        channel.close()


def rank_here(environment: Mapping[str, str]) -> int | None:
    """Return the rank that Slurm or MPI has given this process."""
    return next((int(environment[name]) for name in _RANKS if environment.get(name, "").isdecimal()), None)


def _found(address: str, wait: float) -> Channel:
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
            return enter(place, key, "host agent")
        except ProofError as error:
            raise WorkerError(
                f"what listens at {address} is not the supervisor of this run, or has another secret in {KEY}: {error}."
            ) from error
        except (OSError, EOFError) as error:
            if time.monotonic() > until:
                raise WorkerError(
                    f"no run was found at {address} within {wait:.0f} s ({error}). Start the script that calls "
                    "infer.sample(..., executor=infer.MultiHost(address=...)), or wait longer by --wait."
                ) from error
            time.sleep(_POLL)
