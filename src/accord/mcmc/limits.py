"""Check the counts of a run against what its numbers can hold, before anything is allocated for them."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..core.errors import OptionError
from ..core.options import positive_count, shown
from ..runs.memory import SHARE, free_bytes
from .block import num_places

MAX_DRAWS = 2**31 - 1
"""Most draws of a chain, before thinning and with its warm-up: programs count them in 32 bits."""

MAX_CHAINS = 2**20
"""Most chains of a run. The host keeps an object for each."""

MAX_LANES = 2**16
"""Most lanes of a program. The host needs 4 ms and 44 KiB for each at the start."""

USUAL_LANES = 2**10
"""Most lanes of a program on an accelerator, unless the user asks for more: see "Lanes" in docs/choices.md."""

_MAX_NUMBER = 2**32 - 1  # of a chain: it is one word of the counter of its random numbers


def chain_numbers(chains: int | Sequence[int]) -> list[int]:
    """Return the numbers of the chains. Raises `OptionError` for too many, equal or invalid ones."""
    if isinstance(chains, (int, np.integer)):
        return list(range(positive_count("chains", chains, maximum=MAX_CHAINS)))
    if isinstance(chains, str | bytes) or not isinstance(chains, Iterable):
        raise OptionError(f"{_WANTED}; got {shown(chains)}.")
    size = len(chains) if hasattr(chains, "__len__") else 0
    if size > MAX_CHAINS or len(found := list(islice(chains, MAX_CHAINS + 1))) > MAX_CHAINS:
        raise OptionError(f"chains must be at most {MAX_CHAINS} in one run, got {max(size, MAX_CHAINS + 1)}.")
    numbers = [positive_count("each of chains", chain, 0, _MAX_NUMBER) for chain in found]
    if not numbers or len(set(numbers)) != len(numbers):
        raise OptionError(f"{_WANTED}; got {shown(chains)}.")
    return numbers


def check_length(num_kept: int, thinning: int, num_warmup: int) -> None:
    """Raise `OptionError` if a chain would make more draws than its program can count."""
    total = (num_kept - 1) * thinning + 1 + num_warmup
    if total > MAX_DRAWS:
        raise OptionError(
            f"draws={num_kept} with thinning={thinning} and up to {num_warmup} draws of warm-up come to "
            f"{shown(total)} draws of each chain, and a chain can make at most {MAX_DRAWS}. Ask for fewer, or for more "
            "chains."
        )


def lanes_on_accelerators(num_chains: int) -> int:
    """Return the usual number of lanes on accelerators; it does not depend on how many there are."""
    return min(1 << (num_chains - 1).bit_length(), USUAL_LANES)


def check_lanes(lanes: int, dim: int, num_stats: int, num_rows: int) -> None:
    """Raise `OptionError` if what one program holds for all of its lanes would not fit into memory."""
    numbers = dim * (num_places(dim, lanes, num_rows) + 2 * num_rows) + num_rows * num_stats
    needed, free = 8 * lanes * numbers, free_bytes()
    if lanes > 1 and free is not None and needed > SHARE * free:
        raise OptionError(
            f"lanes={lanes} of {dim} unknowns take {needed / 2**30:.3g} GiB in one program, and "
            f"{free / 2**30:.3g} GiB are free. Give fewer lanes."
        )


_WANTED = "chains must be a number of chains, or a list of different chain numbers"


def count_of_draws(name: str, value: Any, minimum: int = 1) -> int:
    """Return a count of draws as an int. Raises `OptionError` unless a chain can make as many."""
    return positive_count(name, value, minimum, MAX_DRAWS)
