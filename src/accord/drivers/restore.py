"""Put chains back where a store has them, so that they go on as if nothing had happened."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..core.errors import StorageError
from ..storage import AbstractRun, Segment
from .chain import Chain
from .group import Group
from .plan import Plan
from .tally import Tally

GRADIENTS = "num_gradients"


def restore(run: AbstractRun, plan: Plan, numbers: Sequence[int]) -> list[Group | Sequence[int]]:
    """The groups of a run that is to go on; those of which nothing is stored are to begin."""
    groups: list[Group | Sequence[int]] = []
    for first in range(0, len(numbers), plan.lanes):
        members = list(numbers[first : first + plan.lanes])
        if all(run.last(number) is None for number in members):
            groups.append(members)
            continue
        chains = [_chain(run, plan, number) for number in members]
        idle = [_chain(run, plan, members[lane % len(members)]) for lane in range(len(members), plan.lanes)]
        groups.append(Group((*chains, *idle), len(members)))
    return groups


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree by their paths."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf) for path, leaf in leaves}


def end_state(state: Any, metric: Any, num_gradients: int, tally: Tally) -> dict[str, np.ndarray]:
    """All that a chain needs to go on, beside its warm-up draws while it is in warm-up."""
    counts = {GRADIENTS: np.asarray(num_gradients)} | tally.arrays()
    return flatten({"state": state, "metric": metric}) | counts


def _chain(run: AbstractRun, plan: Plan, number: int) -> Chain:
    chain = Chain.begin(plan, number, np.zeros(plan.dim, plan.dtype))
    last = run.last(number)
    if last is None:
        return chain
    template = {"state": chain.state, "metric": chain.metric}
    leaves, structure = jax.tree.flatten(template)
    names = list(flatten(template))
    for name, leaf in zip(names, leaves, strict=True):
        stored = last.end_state.get(name)
        if stored is None or stored.shape != np.shape(leaf) or stored.dtype != np.asarray(leaf).dtype:
            raise StorageError(
                f"chain {number}: the stored state has no {name!r} of shape {np.shape(leaf)}. It was written by "
                "another accord (see 'versions' in manifest.json), which can go on from it; the draws can be loaded."
            )
    tree = jax.tree.unflatten(structure, [last.end_state[name] for name in names])
    chain.state, chain.metric, chain.is_started = tree["state"], tree["metric"], True
    chain.num_gradients = chain.gradients_at_piece = int(last.end_state[GRADIENTS])
    chain.tally = Tally.stored(number, last.end_state)
    chain.piece_start = chain.draw
    if chain.draw < plan.num_warmup:
        chain.window = [_rows(segment) for segment in run.segments(number)]
    return chain


def _rows(segment: Segment) -> dict[str, np.ndarray]:
    return {name: segment.arrays[name] for name in ("position", "gradient")}
