"""Set the numbers of draws after which a rule is checked."""

from collections.abc import Mapping
from typing import Any

from ...report.many_chains import MANY

FIRST = 100  # draws per chain; fewer judge nothing where there are a handful of chains

_USUAL = 4  # chains of which so many are enough
# Draws per chain, however many chains there are. Of one draw each the effective sample size is the number of chains,
# whatever they do; and where so many are given up that few are left, what judges those takes four.
_FEWEST = 4


def first_look(num_chains: int) -> int:
    """Return the kept draws per chain at the first check: 100, or fewer for many chains, with 400 in all.

    - `num_chains`: the requested number, failed chains included, so that all checks are fixed before the run.
    """
    return FIRST if num_chains < MANY else max(-(-_USUAL * FIRST // num_chains), _FEWEST)


def stored_first_look(settings: Mapping[str, Any]) -> int:
    """Return the first check of a stored run, from its manifest; 100 where that names none."""
    return settings.get("first_look", FIRST)


def looks(num_kept: int, first: int = FIRST) -> tuple[int, ...]:
    """Return the kept draws per chain at which a rule is checked: `first`, each time half as many more, `num_kept`.

    Growing intervals keep the checks few, twelve for ten thousand draws: each check costs time, and is another chance
    for a rule to hold by luck.
    """
    found, at = [], first
    while at < num_kept:
        found.append(at)
        at = (3 * at + 1) // 2
    return (*found, num_kept)
