"""Say after how many draws a rule is looked at."""

from collections.abc import Mapping
from typing import Any

from ...report.many_chains import MANY

FIRST = 100  # draws per chain; fewer judge nothing where there are a handful of chains

_USUAL = 4  # chains of which so many are enough
# Draws per chain, however many chains there are. Of one draw each the effective sample size is the number of chains,
# whatever they do; and where so many are given up that few are left, what judges those takes four.
_FEWEST = 4


def first_look(num_chains: int) -> int:
    """Kept draws per chain at the first look at a run: 100, or of many chains as many in all as four have by then.

    - `num_chains`: those that were asked for, whatever has befallen them since, so that all looks are fixed before the
      run.
    """
    return FIRST if num_chains < MANY else max(-(-_USUAL * FIRST // num_chains), _FEWEST)


def stored_first_look(settings: Mapping[str, Any]) -> int:
    """That of a stored run, by the settings of its manifest; of runs of before, however many chains, it is 100."""
    return settings.get("first_look", FIRST)


def looks(num_kept: int, first: int = FIRST) -> tuple[int, ...]:
    """Kept draws per chain at which a rule is looked at: `first`, then each half as many again, and at last `num_kept`.

    Growing intervals keep the looks few, twelve for ten thousand draws: a rule that holds by luck has as many chances
    to as there are looks, and each costs time.
    """
    found, at = [], first
    while at < num_kept:
        found.append(at)
        at = (3 * at + 1) // 2
    return (*found, num_kept)
