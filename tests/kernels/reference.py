"""State the No-U-Turn sampler as a recursion on halves, in plain Python, for the state machine to be compared with.

Written to be read beside Stan's `base_nuts.hpp` (2.21 and later): multinomial weights, the criterion on summed momenta
with its two checks across subtrees, biased progressive sampling between subtrees, divergence beyond 1000 nats.

One thing is told differently from Stan. Where Stan's recursion merges the choices of two halves, a leaf is here chosen
while the leaves go by: each replaces the choice so far with probability its weight over the sum so far. The two rules
have the same distribution (`test_both_rules_choose_a_leaf_in_proportion_to_its_weight`), and only the second can use
the random numbers of the state machine.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

MAX_ENERGY_ERROR = 1000.0

Density = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Log density and gradient at a position, shape `(dim,)`."""


class Numbers(NamedTuple):
    """The random numbers of one draw: `momentum`, shape `(dim,)`; `directions`, one bit a doubling, lowest first;
    `leaf` and `subtree`, uniform numbers by the count of steps made.
    """

    momentum: np.ndarray
    directions: int
    leaf: np.ndarray
    subtree: np.ndarray


class Outcome(NamedTuple):
    """What a transition comes to."""

    position: np.ndarray
    depth: int
    num_steps: int
    is_divergent: bool
    acceptance: float


class Leaf(NamedTuple):
    """A point of a trajectory: position in unconstrained space, momentum and force in whitened space."""

    position: np.ndarray
    momentum: np.ndarray
    force: np.ndarray


class Branch(NamedTuple):
    """A balanced part of a trajectory: its outermost momenta in the order they were visited, and their sum."""

    first: np.ndarray
    last: np.ndarray
    total: np.ndarray


def transition(
    density: Density,
    position: np.ndarray,
    step_size: float,
    transform: np.ndarray,
    max_depth: int,
    numbers: Numbers,
    *,
    may_turn: bool = True,
) -> Outcome:
    """One draw from `position`; `transform`, shape `(dim, dim)`, maps whitened to unconstrained space.

    `may_turn`: a trajectory ends where it turns back, and not only at `max_depth`.
    """
    log_density, gradient = density(position)
    start = Leaf(position, numbers.momentum, transform.T @ gradient)
    energy = 0.5 * start.momentum @ start.momentum - log_density
    ends = {-1: start, 1: start}
    tree = Branch(start.momentum, start.momentum, start.momentum)  # from the left end to the right end
    chosen, log_weight, depth = position, 0.0, 0
    growth = _Growth(density, step_size, transform, energy, numbers, may_turn)
    while depth < max_depth:
        sign = 1 if numbers.directions >> depth & 1 else -1
        growth.begin(ends[sign], sign)
        subtree = _build(growth, depth)
        ends[sign] = growth.end
        if subtree is None:
            break
        depth += 1
        if np.log(numbers.subtree[growth.num_steps]) < growth.log_weight - log_weight:
            chosen = growth.chosen
        log_weight = np.logaddexp(log_weight, growth.log_weight)
        # Visited outwards, a subtree on the left is met right end first.
        grown_from = Branch(tree.last, tree.first, tree.total) if sign < 0 else tree
        merged = _merge(grown_from, subtree, may_turn)
        if merged is None:
            break
        tree = Branch(merged.last, merged.first, merged.total) if sign < 0 else merged
    return Outcome(chosen, depth, growth.num_steps, growth.is_divergent, growth.acceptance / growth.num_steps)


@dataclass
class _Growth:
    """A subtree as it grows: makes its leaves one by one, and chooses among them."""

    density: Density
    step_size: float
    transform: np.ndarray
    energy: float
    numbers: Numbers
    may_turn: bool
    num_steps: int = 0
    acceptance: float = 0.0
    is_divergent: bool = False
    sign: int = 1
    end: Leaf = field(init=False)
    chosen: np.ndarray = field(init=False)
    log_weight: float = -np.inf

    def begin(self, end: Leaf, sign: int) -> None:
        """Begin a new subtree, outwards from `end`."""
        self.end, self.sign, self.log_weight = end, sign, -np.inf

    def leaf(self) -> Leaf | None:
        """Step outwards; None when the step diverged."""
        step = self.sign * self.step_size
        half = self.end.momentum + 0.5 * step * self.end.force
        position = self.end.position + step * self.transform @ half
        log_density, gradient = self.density(position)
        force = self.transform.T @ gradient
        self.end = Leaf(position, half + 0.5 * step * force, force)
        self.num_steps += 1
        weight = self.energy - (0.5 * self.end.momentum @ self.end.momentum - log_density)
        if np.isnan(weight):
            weight = -np.inf
        self.acceptance += np.exp(min(weight, 0.0))
        if -weight > MAX_ENERGY_ERROR:
            self.is_divergent = True
            return None
        is_first = self.log_weight == -np.inf
        self.log_weight = np.logaddexp(self.log_weight, weight)
        if is_first or np.log(self.numbers.leaf[self.num_steps]) < weight - self.log_weight:
            self.chosen = position
        return self.end


def _build(growth: _Growth, depth: int) -> Branch | None:
    """Build 2**depth leaves; None when a step diverged, or a half or the whole turned back."""
    if depth == 0:
        leaf = growth.leaf()
        return leaf and Branch(leaf.momentum, leaf.momentum, leaf.momentum)
    inner = _build(growth, depth - 1)
    if inner is None:
        return None
    outer = _build(growth, depth - 1)
    if outer is None:
        return None
    return _merge(inner, outer, growth.may_turn)


def _merge(inner: Branch, outer: Branch, may_turn: bool) -> Branch | None:
    """Two neighbours as one, in the order visited; None when together, or across their border, they turn back."""
    total = inner.total + outer.total
    goes_on = not may_turn or (
        _goes_on(inner.first, outer.last, total)
        and _goes_on(inner.first, outer.first, inner.total + outer.first)
        and _goes_on(inner.last, outer.last, outer.total + inner.last)
    )
    return Branch(inner.first, outer.last, total) if goes_on else None


def _goes_on(first: np.ndarray, last: np.ndarray, total: np.ndarray) -> bool:
    return bool(first @ total > 0 and last @ total > 0)
