"""Find for how many steps a particle's past is felt, given the values of its states from now on."""

from collections.abc import Sequence
from typing import Any

import jax

from ..core.errors import SiteError
from ..density.dependence.provenance import sources
from .moves import Moves

_MOST = 16  # steps; beyond, each would cost more than it is worth


def steps_felt(moves: Moves, inputs: Any, reference: Any, varies: Sequence[bool], asked: str) -> int:
    """Return the number of steps whose log density may depend on the carry now, given all states from now on.

    Two for a carry that holds the last two states, as of a second-order autoregression.

    **Arguments**: `reference`, values of the states at one step; `varies`, of each leaf of the first carry, whether it
    differs between particles.

    **Raises** `SiteError` where there is no such number, or a large one.
    """
    leaves, structure = jax.tree.flatten(moves.init)
    names = list(reference)

    def step(carry: list[Any], known: list[Any]) -> list[Any]:
        moved = moves(
            jax.tree.unflatten(structure, carry), moves.at(inputs, 0), dict(zip(names, known, strict=True))
        )
        return [moved.own + moved.others, *jax.tree.leaves(moved.carry)]

    closed = jax.make_jaxpr(step)(leaves, list(reference.values()))
    count = len(leaves)
    state = {count}  # in the place of all values of states
    given = [{number} for number in range(count)] + [state] * (len(closed.jaxpr.invars) - count)
    of_term, *of_leaves = sources(closed.jaxpr, given)
    differing = {number for number, each in enumerate(varies) if each}
    for _ in range(count):
        differing |= {n for n, each in enumerate(of_leaves) if each & (differing | state)}
    felt = set(of_term) & differing  # leaves that some later log density depends on
    for _ in range(count):
        felt |= {m for n in felt for m in of_leaves[n] if m in differing}
    now = felt
    for number in range(_MOST + 1):
        if not now:
            return number
        now = {n for n in felt if of_leaves[n] & now}
    name = next(iter(moves.states.values()))
    raise SiteError(
        f"{asked}: the steps of state {name!r} depend on more than the last {_MOST} states, so that to give a "
        "trajectory another past at a step would take all steps after it. Write the step so that the carry holds the "
        "last states and what all particles share; or take `has_ancestor_sampling=False`, with more particles."
    )
