"""Start a Ray cluster on this machine that ends with its starter.

In a process of its own: `ray.init` forks the process that calls it, where JAX may be at work, and decides when Ray is
imported on which networks it listens.
"""

import contextlib
import ipaddress
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator

from ...core.errors import OptionError, WorkerError

_SWITCH = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Environment variable. 0 has Ray, on any system, listen on loopback alone; it is read when Ray is imported."""

_HEAD = """
import sys, ray
ray.init("local", num_cpus=int(sys.argv[1]), include_dashboard=False, log_to_driver=False, logging_level="ERROR")
print("\\naddress:" + ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
ray.shutdown()
"""

_PATIENCE = 120.0  # seconds for a cluster to start
_GRACE = 10.0  # seconds for it to end


@contextlib.contextmanager
def on_loopback() -> Iterator[None]:
    """Make Ray use loopback alone, and token authentication, while it is imported or started here."""
    wanted = {_SWITCH: "0", "RAY_AUTH_MODE": os.environ.get("RAY_AUTH_MODE", "token")}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def check_loopback(host: str) -> None:
    """Raise `OptionError` if Ray uses `host` for this machine, since it was imported before without this setting."""
    if not ipaddress.ip_address(host).is_loopback:
        raise OptionError(
            "executor=Ray() starts a cluster on loopback, and ray was imported here before, which has it look "
            f"elsewhere. Set {_SWITCH}=0 before Python starts, or call ray.init yourself: Ray() then takes the cluster "
            "that is there."
        )


class RayHead:
    """Cluster on loopback. **Fields**: `address`."""

    def __init__(self, num_cpus: int):
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HEAD, str(num_cpus)],
            env={**os.environ, _SWITCH: "0"},
            stdin=subprocess.PIPE,  # that it is closed, by whatever end of this process, ends the cluster
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        try:
            self.address = lines.get(timeout=_PATIENCE)
        except queue.Empty:
            self.address = ""
        if not self.address:
            self.close()
            raise WorkerError(
                "a Ray cluster could not be started on this machine. `ray start --head` says why."
            )

    def close(self) -> None:
        """End the cluster."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self, lines: "queue.SimpleQueue[str]") -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                if line.startswith("address:"):
                    lines.put(line.removeprefix("address:").strip())
        lines.put("")
