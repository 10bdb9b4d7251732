"""Hold one chain on the host between two blocks, and adapt it where its draws say so."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import numpy as np

from ..adaptation import fisher
from ..adaptation.schedule import metric_updates
from ..adaptation.step_size import StepSizeState
from ..core import keys
from ..kernels.base import PROBE
from ..kernels.metric import Metric
from ..storage import Phase
from .plan import Piece, Plan, Progress, Stuck
from .program import STAT_DTYPES, Block, ChainState, start_state
from .tally import BadEnd, Tally

_UNSAVED_SECONDS = 2.0  # of work are lost with a worker, or a little more

Sites = Callable[..., dict[str, Any]]
"""The compiled program `(positions, count) -> {site: rows}`."""


@dataclass(eq=False)
class Chain:
    """One chain between two blocks; whoever changes it owns it.

    **Fields**: `number`; `plan`; `key`, the chain's; `state`; `metric`; `is_started`, whether its starting point is
    found; `num_gradients`; `tally`, of how its trajectories ended, and `news`, which of their bad ends nobody has been
    told; `piece_start` and `gradients_at_piece`, where the piece in
    progress began, and `unsaved_seconds`, how long it has taken; `window`, warm-up draws with gradients;
    `blocks`, those of the piece in progress.
    """

    number: int
    plan: Plan
    key: np.ndarray
    state: ChainState
    metric: Metric
    tally: Tally
    is_started: bool = False
    num_gradients: int = 0
    piece_start: int = 0
    gradients_at_piece: int = 0
    unsaved_seconds: float = 0.0
    news: tuple[BadEnd, ...] = ()
    window: list[dict[str, np.ndarray]] = field(default_factory=list)
    blocks: list[dict[str, np.ndarray]] = field(default_factory=list)

    @staticmethod
    def begin(plan: Plan, number: int, position: np.ndarray) -> "Chain":
        """A chain at a position that is not yet evaluated."""
        metric = fisher.initial_metric(np.zeros_like(position))
        key, state = keys.chain_key(plan.seed, number), start_state(plan.kernel, position)
        return Chain(number, plan, key, state, metric, Tally.empty(position))

    @property
    def draw(self) -> int:
        """Complete draws, warm-up included."""
        return int(self.state.draw)

    @property
    def is_done(self) -> bool:
        """Whether every draw of the plan is made, or the chain is given up."""
        return self.is_started and (self.draw >= self.plan.last or self.tally.is_stuck)

    @property
    def phase(self) -> Phase:
        """That of the piece in progress."""
        return self.phase_of(self.piece_start)

    @property
    def phase_start(self) -> int:
        """The draw at which it began."""
        return 0 if self.phase == "warmup" else self.plan.num_warmup

    def phase_of(self, draw: int) -> Phase:
        """That of a draw, counted from the first of warm-up."""
        return "warmup" if draw < self.plan.num_warmup else "sample"

    def stop(self) -> int:
        """The draw at which the next block must end at the latest."""
        warmup, segment, draw = self.plan.num_warmup, self.plan.segment, self.draw
        if self.tally.is_stuck:
            return draw
        if draw < warmup:
            due = [update.at for update in metric_updates(warmup) if update.at > draw]
            return min([warmup, (draw // segment + 1) * segment, *due])
        return min(self.plan.last, warmup + ((draw - warmup) // segment + 1) * segment)

    def num_drawn(self, state: ChainState, block: Block) -> int:
        """How many draws of a block that ended in `state` count: those until the chain is given up."""
        return self.tally.room(np.asarray(block.positions[: int(state.draw) - self.draw]))

    def take(self, state: ChainState, block: Block, count: int, bad_ends: Sequence[BadEnd]) -> None:
        """Go on to `state`, with the `count` draws that led there and the places to keep of them."""
        first = self.draw
        # One that is given up ends at the draw at which that was known, however long its block was.
        is_cut = count < int(state.draw) - first
        self.state = eqx.tree_at(lambda s: s.draw, state, np.int32(first + count)) if is_cut else state
        self.num_gradients += int(block.num_gradients)
        if not count:
            return
        rows = {
            "position": np.asarray(block.positions[:count]),
            "gradient": np.asarray(block.gradients[:count]),
            "stats": np.asarray(block.stats[:count]),
        }
        self.blocks = [*self.blocks, rows]
        if first < self.plan.num_warmup:
            self.window = [*self.window, rows]
        self.tally = self.tally.after(self.phase_of(first), rows["position"], rows["stats"], bad_ends)
        self.news = (*self.news, *bad_ends)
        self._adapt()

    def end_of_block(self, sites: Sites) -> Iterator[Progress | Piece | BadEnd | Stuck]:
        """What the block has completed: a piece at fixed draws, and where draws take long, about every two seconds."""
        yield self.progress()
        yield from self.news
        self.news = ()
        is_boundary = (self.draw - self.phase_start) % self.plan.segment == 0
        is_due = is_boundary or self.draw in (self.plan.num_warmup, self.plan.last) or self.tally.is_stuck
        if (is_due or self.unsaved_seconds > _UNSAVED_SECONDS) and self.blocks:
            yield self.piece(sites)
            if self.tally.is_stuck:
                yield Stuck(self.number, self.draw, self.tally)

    def progress(self) -> Progress:
        """Where the chain is."""
        step_size = float(self.state.step_size.step_size)
        done = self.draw - self.phase_start
        divergent = self.tally.num_divergent
        return Progress(self.number, self.phase, done, divergent, self.num_gradients, step_size)

    def piece(self, sites: Sites) -> Piece:
        """Gather the blocks since the last piece, with their sites once warm-up is over."""
        plan, blocks, phase, offset = self.plan, self.blocks, self.phase, self.phase_start
        positions, stats = (
            np.concatenate([block[name] for block in blocks]) for name in ("position", "stats")
        )
        arrays = {"position": positions}
        arrays |= {
            f"stat/{name}": stats[:, i].astype(dtype) for i, (name, dtype) in enumerate(STAT_DTYPES.items())
        }
        if phase == "warmup":
            arrays["gradient"] = np.concatenate([block["gradient"] for block in blocks])
        else:
            padded = np.zeros((plan.segment, positions.shape[1]), plan.dtype)
            padded[: len(positions)] = positions
            values = sites(padded, np.int32(len(positions)))
            arrays |= {f"site/{name}": np.asarray(rows)[: len(positions)] for name, rows in values.items()}
        piece = Piece(
            self.number,
            phase,
            self.piece_start - offset,
            self.draw - offset,
            arrays,
            self.state,
            self.metric,
            self.num_gradients - self.gradients_at_piece,
            self.num_gradients,
            self.tally,
        )
        self.piece_start, self.gradients_at_piece = self.draw, self.num_gradients
        self.unsaved_seconds, self.blocks = 0.0, []
        if self.draw >= plan.num_warmup:
            self.window = []
        return piece

    def _adapt(self) -> None:
        """Learn the metric anew where that is due: at draws fixed by the plan, whatever the blocks were."""
        for number, update in enumerate(metric_updates(self.plan.num_warmup)):
            if self.draw == update.at:
                self._update_metric(update.start, is_first=number == 0)

    def _update_metric(self, start: int, *, is_first: bool) -> None:
        positions, gradients = (
            np.concatenate([block[name] for block in self.window])[start:]
            for name in ("position", "gradient")
        )
        previous = self.metric
        self.metric = fisher.learn_metric(positions, gradients, previous)
        if is_first or bool(self.metric.is_diagonal) != bool(previous.is_diagonal):
            # Only these changes move the right step size by much. Restarting at every update was tried: each restart
            # tries large steps first, and effective draws per gradient fell by a quarter over eight reference
            # posteriors.
            step = StepSizeState.start(float(self.state.step_size.step_size), self.plan.dtype)
            self.state = eqx.tree_at(lambda s: (s.step_size, s.mode), self.state, (step, np.int32(PROBE)))
