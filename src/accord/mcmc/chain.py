"""Drive one chain: collect its draws and adapt its tuning."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..adaptation.base import Fitted, Window
from ..adaptation.schedule import Update, longer
from ..core import keys
from ..core.position import Position
from ..core.stats import Ending
from ..runs.units import Item, Progress
from ..storage import Phase
from .block import PROBE, Block, ChainState, start_state
from .columns import Drawn, by_name, first_rows
from .endings import BadEnd, Tally
from .held import on_host, state_on_host
from .plan import Plan
from .statistics import ENDING, HEIGHT, declared_of
from .stretch import Stretch, Stuck
from .tuning import arrays_of


@dataclass(eq=False)
class Chain:
    """One chain between two blocks; mutable, with one owner at a time.

    **Fields**: `number`; `plan`; `key`, the chain's; `state`; `fitted`, what the host has learnt; `num_warmup`, draws
    of its warm-up, which grow if it has not settled by then; `is_settled`, whether it had settled at their end;
    `is_started`, whether its starting point is found; `num_gradients`; `tally`, which counts how its trajectories
    ended, and `news`, failures that are not reported yet; `stretch_start` and `gradients_at_stretch`, where the
    stretch in progress began, and `unsaved_seconds`, how long it has taken; `window`, warm-up draws with gradients;
    `blocks`, those of the stretch in progress; `num_stored`, draws that a store has already, though they are made again
    for the others of an ensemble.
    """

    number: int
    plan: Plan
    key: np.ndarray
    state: ChainState
    fitted: Fitted
    tally: Tally
    num_warmup: int
    is_settled: bool = True
    is_started: bool = False
    num_gradients: int = 0
    stretch_start: int = 0
    gradients_at_stretch: int = 0
    unsaved_seconds: float = 0.0
    news: tuple[BadEnd, ...] = ()
    window: list[dict[str, np.ndarray]] = field(default_factory=list)
    blocks: list[dict[str, np.ndarray]] = field(default_factory=list)
    num_stored: int = 0

    @staticmethod
    def begin(plan: Plan, number: int, position: Position) -> "Chain":
        """Start a chain at a position that is not yet evaluated."""
        fitted = plan.adaptation.at_start(np.zeros_like(position.free))
        key, state = keys.chain_key(plan.seed, number), start_state(plan.kernel, position)
        return Chain(number, plan, key, state, fitted, Tally.empty(position), plan.num_warmup)

    @property
    def draw(self) -> int:
        """Number of complete draws, warm-up included."""
        return int(self.state.draw)

    @property
    def last(self) -> int:
        """Number of its last draw, warm-up included, before thinning."""
        return self.num_warmup + self.plan.num_draws

    @property
    def is_done(self) -> bool:
        """Return whether every draw of the plan is made, or the chain is given up."""
        return self.is_started and (self.draw >= self.last or self.is_given_up)

    @property
    def is_given_up(self) -> bool:
        """Return whether the chain is stuck and abandoned; a chain of an ensemble stays while others learn from it."""
        return self.tally.is_stuck and not self._must_go_on

    @property
    def _must_go_on(self) -> bool:
        return self.plan.is_ensemble and self.draw < self.num_warmup

    @property
    def phase(self) -> Phase:
        """Phase of the stretch in progress."""
        return self.phase_of(self.stretch_start)

    @property
    def phase_start(self) -> int:
        """Draw at which the current phase began."""
        return 0 if self.phase == "warmup" else self.num_warmup

    def phase_of(self, draw: int) -> Phase:
        """Return the phase of a draw, counted from the first of warm-up."""
        return "warmup" if draw < self.num_warmup else "sample"

    def stop(self) -> int:
        """Draw at which the next block must end at the latest."""
        warmup, segment, draw = self.num_warmup, self.plan.segment, self.draw
        if self.is_given_up:
            return draw
        if draw < warmup:
            due = [update.at for update in self.plan.adaptation.due(warmup) if update.at > draw]
            return min([warmup, (draw // segment + 1) * segment, *due])
        looks = (warmup + look for look in self.plan.looks if warmup + look > draw)
        return min(self.last, warmup + ((draw - warmup) // segment + 1) * segment, *looks)

    @property
    def is_at_look(self) -> bool:
        """Return whether a stopping rule must be checked now."""
        return self.draw - self.num_warmup in self.plan.looks

    def num_drawn(self, state: ChainState, block: Block) -> int:
        """Count the draws of a block that ended in `state` until the chain is given up."""
        count = int(state.draw) - self.draw
        return count if self._must_go_on else self.tally.room(first_rows(block.positions, count))

    def take(self, state: ChainState, block: Block, count: int, bad_ends: Sequence[BadEnd]) -> None:
        """Advance to `state`, with the `count` draws of the block and the failures to keep."""
        first = self.draw
        # One that is given up ends at the draw at which that was known, however long its block was.
        is_cut = count < int(state.draw) - first
        self.state = replace(state, draw=np.int32(first + count)) if is_cut else state
        self.num_gradients += int(block.num_gradients)
        if not count:
            return
        positions = first_rows(block.positions, count)
        rows = {**by_name(positions), "stats": np.asarray(block.stats[:count])}
        if first < self.num_warmup:  # later, they stay where they are
            rows["gradient"] = np.asarray(on_host(block.gradients)[:count])
        known = max(self.num_stored - first, 0)
        if known < count:
            self.blocks = [*self.blocks, {name: array[known:] for name, array in rows.items()}]
        if first < self.num_warmup:
            self.window = [*self.window, rows]
        self.tally = self.tally.after(self.phase_of(first), positions, rows["stats"], bad_ends)
        self.news = (*self.news, *bad_ends)
        if not self.plan.is_ensemble:
            self._adapt()

    @property
    def is_stretch_due(self) -> bool:
        """Return whether the block has completed a stretch: at fixed draws, or about every two seconds."""
        is_boundary = (self.draw - self.phase_start) % self.plan.segment == 0
        is_due = is_boundary or self.draw in (self.num_warmup, self.last) or self.is_given_up
        is_due = is_due or self.is_at_look
        pace = self.plan.pace
        longest = pace.unsaved_seconds * max(1.0, self.plan.lanes / pace.few_lanes)
        return bool(self.blocks) and (is_due or self.unsaved_seconds > longest)

    def end_of_block(self, arrays: Mapping[str, np.ndarray] | None) -> Iterator[Item]:
        """Return what the block has brought; `arrays` are the columns of a stretch that is due, or None."""
        yield self.progress()
        yield from self.news
        self.news = ()
        if arrays is not None:
            yield self.stretch(arrays)
            if self.is_given_up:
                yield Stuck(self.number, self.draw, self.tally)

    def progress(self) -> Progress:
        """Return the progress of the chain."""
        plan, done = self.plan, self.draw - self.phase_start
        step, count = (1, self.num_warmup) if self.phase == "warmup" else (plan.thinning, plan.num_draws)
        shown = {
            "columns": plan.adaptation.shown(self.state.learnt, self.fitted),
            "divergences": self.tally.num_divergent,
            "steps_per_draw": self.num_gradients / max(self.draw, 1),
        }
        return Progress(self.number, self.phase, -(-done // step), -(-count // step), shown)

    def drawn(self) -> Drawn:
        """Join the blocks since the last stretch."""
        first = self.stretch_start - self.phase_start
        return Drawn.of(self.blocks, self.phase, first, self.plan.thinning, self.plan.kernel.stats)

    def stretch(self, arrays: Mapping[str, np.ndarray]) -> Stretch:
        """Make the stretch of the draws since the last one, from their columns."""
        offset, adaptation = self.phase_start, self.plan.adaptation
        stretch = Stretch(
            self.number,
            self.phase,
            self.stretch_start - offset,
            self.draw - offset,
            dict(arrays),
            state_on_host(self.state),
            adaptation.stored(self.fitted),
            arrays_of(
                self.plan.tuning_columns, adaptation, adaptation.described(self.state.learnt, self.fitted)
            ),
            self.num_gradients - self.gradients_at_stretch,
            self.num_gradients,
            self.tally,
            self.num_warmup,
            self.is_settled,
            1 if self.phase == "warmup" else self.plan.thinning,
        )
        self.stretch_start, self.gradients_at_stretch = self.draw, self.num_gradients
        self.unsaved_seconds, self.blocks = 0.0, []
        if self.draw >= self.num_warmup:
            self.window = []
        return stretch

    def _adapt(self) -> None:
        """Learn again if that is due: at draws fixed by the plan, independent of the blocks."""
        adaptation = self.plan.adaptation
        for update in adaptation.due(self.num_warmup):
            if self.draw == update.at:
                self._learn(update)
        if self.draw == self.num_warmup < self.plan.max_warmup:
            self.is_settled = adaptation.is_settled(self._window(0))
            if not self.is_settled:
                self.num_warmup = longer(self.num_warmup, self.plan.max_warmup)
                self._learn(Update(self.draw, self.draw // 2, is_first=True))

    def _window(self, start: int) -> Window:
        """Return the draws of warm-up since `start`."""
        positions, gradients, stats = (
            np.concatenate([block[name] for block in self.window])[start:]
            for name in ("position", "gradient", "stats")
        )
        seen = declared_of(stats, self.plan.kernel.stats)
        seen["diverging"] = stats[:, ENDING] == Ending.DIVERGENCE
        return Window(positions, gradients, stats[:, HEIGHT], seen)

    def _learn(self, update: Update) -> None:
        learnt, self.fitted, is_anew = self.plan.adaptation.learn(
            self._window(update.start), self.state.learnt, self.fitted, update
        )
        mode = np.int32(PROBE) if is_anew else self.state.mode
        self.state = replace(self.state, learnt=learnt, mode=mode)
