"""Evaluate candidates for chains without a starting point, by the sampling program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.position import Position
from ..block import ChainState, starting_states
from ..chain import Chain
from ..held import on_host
from ..machine import Machine
from ..statistics import HEIGHT
from .ascent import Place


@dataclass(frozen=True)
class Evaluator:
    """Evaluator of candidates for some chains; it counts their gradients.

    **Fields**: `machine`; `chains`, one for each lane; `at`, from a position to the state of a chain there.
    """

    machine: Machine
    chains: Sequence[Chain]
    at: Callable[[Position], ChainState]

    @staticmethod
    def of(machine: Machine, chains: Sequence[Chain]) -> "Evaluator":
        """Make the evaluator of these chains."""
        plan = machine.plan
        # The host joins the states of several lanes: there it would have to fetch them first.
        put = machine.put if len(chains) == 1 and not plan.is_ensemble else None
        return Evaluator(machine, chains, starting_states(plan.kernel, plan.nowhere, put))

    def look(self, wanted: Mapping[int, Sequence[Position]]) -> dict[int, list[Place]]:
        """Evaluate some positions for each of some lanes."""
        found: dict[int, list[Place]] = {lane: [] for lane in wanted}
        at_once = self.machine.plan.num_places
        for first in range(0, max(len(positions) for positions in wanted.values()), at_once):
            part = {n: each[first : first + at_once] for n, each in wanted.items() if len(each) > first}
            for lane, places in self._look(part).items():
                found[lane] += places
        return found

    def stand(self, positions: Mapping[int, Position]) -> None:
        """Place the chains of some lanes at these positions, evaluated."""
        # One that has begun stands still: it is where it is to stop.
        stops = [int(lane in positions) for lane in range(len(self.chains))]
        answer = self.machine.run(self.chains, self._states(positions), stops, [1] * len(stops))
        for lane in positions:
            self.chains[lane].take(answer.states[lane], answer.blocks[lane], 0, ())

    def _look(self, wanted: Mapping[int, Sequence[Position]]) -> dict[int, list[Place]]:
        """Evaluate at most `num_places` positions each, by one call."""
        plan, num_lanes = self.machine.plan, len(self.chains)
        # Chains that move in step evaluate equally many.
        most = max(len(positions) for positions in wanted.values())
        stops, budgets = [0] * num_lanes, [1] * num_lanes
        tables = plan.no_places(num_lanes, plan.num_places)
        for lane, positions in wanted.items():
            count = most if plan.is_ensemble else len(positions)
            stops[lane], budgets[lane] = 1, count
            rows = [*positions, *[positions[-1]] * (count - len(positions))]
            tables.free[lane, :count] = [at.free for at in rows]
            if tables.whole is not None:
                tables.whole[lane, :count] = [at.whole for at in rows]
        states = self._states({lane: positions[0] for lane, positions in wanted.items()})
        blocks = self.machine.run(self.chains, states, stops, budgets, tables).blocks
        found = {}
        for lane, positions in wanted.items():
            self.chains[lane].num_gradients += int(blocks[lane].num_gradients)
            heights = blocks[lane].stats[: len(positions), HEIGHT].tolist()
            gradients = np.array(on_host(blocks[lane].gradients)[: len(positions)])
            found[lane] = [
                Place(
                    np.asarray(at.free), height, gradient, None if at.whole is None else np.asarray(at.whole)
                )
                for at, height, gradient in zip(positions, heights, gradients, strict=True)
            ]
        return found

    def _states(self, positions: Mapping[int, Position]) -> list[ChainState]:
        """Return the state per lane: at its new position, or unchanged."""
        return [
            self.at(positions[lane]) if lane in positions else chain.state
            for lane, chain in enumerate(self.chains)
        ]
