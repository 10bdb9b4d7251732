"""Find how much memory is free."""

import os
from pathlib import Path

SHARE = 0.9
"""Share of the free memory that a run may plan to use."""


def free_bytes() -> int | None:
    """Return the memory that this process may still use, by the system and its own limit; None if unknown."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    except OSError:
        pass
    if os.name == "posix":
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            found.append(max(limit - _address_space(), 0))
    return min(found, default=None)


def _address_space() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
