"""Refuse a run whose draws would not fit into memory, before it starts."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core.errors import OptionError
from ..core.stats import Stat
from ..density import Layout
from ..mcmc.statistics import PARTS, stored_stats

SHARE = 0.9
"""Share of the free memory that a run may plan to use."""


def check_memory(
    layout: Layout, declared: Sequence[Stat], num_chains: int, num_warmup: int, num_draws: int
) -> None:
    """Raise `OptionError` if draws kept in memory would need more than is free; `declared`, the kernel's statistics."""
    needed, free = bytes_of(layout, declared, num_chains, num_warmup, num_draws), free_bytes()
    if free is not None and needed > SHARE * free:
        raise OptionError(
            f"{num_draws} draws of {num_chains} chains take {needed / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are "
            'free. Keep them on disk by store=infer.RunFolder("run"), keep every n-th by thinning=n, or ask for fewer.'
        )


def bytes_of(
    layout: Layout, declared: Sequence[Stat], num_chains: int, num_warmup: int, num_draws: int
) -> int:
    """Compute the bytes of the draws of a run: segments, and the arrays joined from them."""
    stats = sum(np.dtype(each.dtype).itemsize for each in (*stored_stats(declared), *PARTS))
    sites = sum(math.prod(entry.shape) * np.dtype(entry.dtype).itemsize for entry in layout.drawn)
    position = 8 * layout.dim
    return num_chains * (
        num_draws * (2 * (sites + stats) + position) + 2 * num_warmup * (2 * position + stats)
    )


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
