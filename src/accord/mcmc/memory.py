"""Refuse a run whose draws would not fit into memory, before it starts."""

import math
from collections.abc import Sequence

import numpy as np

from ..core.errors import OptionError
from ..core.stats import Stat
from ..density import Layout
from ..runs.memory import SHARE, free_bytes
from .statistics import PARTS, stored_stats


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
    position = 8 * layout.dim + 4 * layout.num_whole
    return num_chains * (
        num_draws * (2 * (sites + stats) + position) + 2 * num_warmup * (2 * position + stats)
    )
