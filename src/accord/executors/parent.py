"""Start worker processes that end with their parent, from their first moment on and whatever they are doing.

A worker that computes or imports does not look at its pipe, so a thread watches the parent. It is started by this file
alone, which imports nothing of accord, before JAX and the rest are imported.
"""

import json
import os
import select
import sys
import threading
from collections.abc import Sequence

_PROGRAM = """
import json, sys
from importlib import import_module, util
name, settings = sys.argv[1:3]
file, parent, pipe, path = json.loads(settings)
del sys.argv[1:3]
spec = util.spec_from_file_location("accord_parent", file)
module = util.module_from_spec(spec)
spec.loader.exec_module(module)
module.end_with(parent, pipe)
sys.path[:] = sys.path if path is None else path
import_module(name).main()
"""

_POLL = 500  # milliseconds between two looks at the parent's id; a pipe that closes is noticed at once
_LOST = 3  # status of a process that lost its parent


def command(
    module: str, *arguments: str, pipe: int | None = None, path: Sequence[str] | None = None
) -> list[str]:
    """Return the command line of a worker of this process, which calls `main()` of a module.

    `arguments` are those of its command line; `pipe`, the handle of one that this process holds open until its end;
    `path`, where the worker finds modules, None for Python's own.
    """
    settings = json.dumps([__file__, os.getpid(), pipe, None if path is None else list(path)])
    return [sys.executable, "-c", _PROGRAM, module, settings, *arguments]


def end_with(parent: int, pipe: int | None = None) -> None:
    """End this process once the process with the id `parent` has ended, or has closed the other end of `pipe`."""
    threading.Thread(target=_watch, args=(parent, pipe), name="accord-parent", daemon=True).start()


def _watch(parent: int, pipe: int | None) -> None:
    poll = select.poll()
    if pipe is not None:
        poll.register(pipe, 0)  # nothing but that it was closed
    while os.getppid() == parent:
        events = poll.poll(_POLL)
        if any(event & select.POLLNVAL for _, event in events):
            return  # this process has closed it, and is about to end by itself
        if events:
            break
    os._exit(_LOST)
