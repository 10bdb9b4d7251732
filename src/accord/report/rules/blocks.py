"""Judge how blocks of sites moved, each by a kernel of its own, and entries of discrete sites."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Block, Evidence
from .extent import FEW_DRAWS
from .movement import STILL_SHARE, STUCK_SHARE
from .words import percent

LEAST_ACCEPTANCE, MOST_ACCEPTANCE = (
    0.15,
    0.99,
)  # less where a sampler aims at little, more where it aims at much
RARE = 0.01  # of draws in which an entry that is not stuck changes


def unadapted_block(run: Evidence) -> Iterator[Notice]:
    """Find blocks whose acceptance is far from what they aim at, or that mostly stay in place while others move."""
    if run.num_draws < FEW_DRAWS or not run.blocks:
        return
    still = _still(run)
    for block in run.blocks:
        seen = _acceptance(run, block) or _in_place(run, block, still)
        if seen:
            yield Notice(
                "warning",
                "unadapted_block",
                f"The block {block.label!r} {seen}.",
                "Take a longer warm-up (`warmup=`). If it stays so, reparameterise these sites, or put them into one "
                "block with those on which they depend.",
                block.names,
            )


def discrete_stuck(run: Evidence) -> Iterator[Notice]:
    """Find entries of discrete sites that hardly ever change, each chain at another value.

    That an entry does not change is no fault by itself, as its value may be all but certain. Chains that stay at
    different values say that it is not.
    """
    if run.num_draws < FEW_DRAWS or len(run.chains) < 2 or not run.discrete:
        return
    found: list[tuple[str, int]] = []
    for name, scalars, draws in run.picked():
        if name not in run.discrete:
            continue
        is_rare = (draws[:, 1:] != draws[:, :-1]).mean(axis=1) < RARE
        middle = draws.shape[1] // 2
        usual = np.partition(draws, middle, axis=1)[:, middle]
        low, high = (np.where(is_rare, usual, end) for end in (np.inf, -np.inf))
        found += [(name, int(scalars[at])) for at in np.flatnonzero(low.min(axis=0) < high.max(axis=0))]
    if found:
        num_entries = sum(run.sites.width(name) for name in run.discrete if name in run.sites)
        more = f", such as {run.label(*found[0])}," if len(found) > 1 else f" ({run.label(*found[0])})"
        yield Notice(
            "error",
            "discrete_stuck",
            f"{len(found)} of {num_entries} entries of discrete sites{more} changed in less than {percent(RARE)} of "
            "the draws, and chains stay at different values: how probable these are is not known.",
            "Single changes are improbable given all other values. Sum the site out, if its support is finite: leave "
            "it to no kernel. Else use a kernel that changes several values at once, or a model whose unknowns depend "
            "less on each other.",
            tuple(dict.fromkeys(name for name, _ in found)),
        )


def _acceptance(run: Evidence, block: Block) -> str:
    """Say that the acceptance of a block is out of its range; empty if it is not, or if it aims at none."""
    aim, name = block.target_accept, f"{block.label}.acceptance_rate"
    if aim is None or name not in run.stats:
        return ""
    rates = run.stats[name].mean(axis=1)
    low, high = min(LEAST_ACCEPTANCE, aim / 2), max(MOST_ACCEPTANCE, (1 + aim) / 2)
    bad = np.flatnonzero((rates < low) | (rates > high))
    if not bad.size:
        return ""
    worst = int(bad[np.argmax(np.abs(rates[bad] - aim))])
    return f"has an acceptance rate of {rates[worst]:.2g} in chain {run.chains[worst]}, where it aims at {aim:.2g}"


def _in_place(run: Evidence, block: Block, still: dict[str, np.ndarray]) -> str:
    """Say that a block mostly stayed in place; empty if it did not."""
    parts = [still[name] for name in block.names if name in still and name not in run.discrete]
    if not parts:
        return ""
    shares = np.logical_and.reduce(parts).mean(axis=1)
    aim = block.target_accept
    usual = STUCK_SHARE if aim is None else max(STILL_SHARE, 1 - 0.5 * aim)
    worst = int(np.argmax(shares))
    if shares[worst] <= usual:
        return ""
    return f"stayed in place for {percent(float(shares[worst]))} of the draws of chain {run.chains[worst]}"


def _still(run: Evidence) -> dict[str, np.ndarray]:
    """Return, by site, which draws repeat the one before, shape `(chain, draw - 1)`."""
    found: dict[str, np.ndarray] = {}
    for name, _, draws in run.picked():
        same = (draws[:, 1:] == draws[:, :-1]).all(axis=2)
        found[name] = found[name] & same if name in found else same
    return found
