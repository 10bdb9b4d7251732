"""Check a rule during its run, at fixed draws, as soon as every chain has made them."""

import time
from collections.abc import Callable, Collection
from concurrent.futures import Future, wait
from dataclasses import replace

from ...core.pace import USUAL, Pace
from ...executors import ThreadPool
from ...storage import AbstractRun
from .base import AbstractRule
from .clock import Seconds
from .looks import looks, stored_first_look
from .sights import is_met_by, judge
from .stopping import Look, Stopping

_Verdict = tuple[bool, tuple[int, ...], Look]


class Watch:
    """State of a rule during a run. The scheduling thread calls it; slow checks run in another thread.

    **Arguments**: `rule`; `run`, the open store; `cap`, kept draws per chain at most; `stopping`, what was known when
    the run was taken up; `began`, by `time.perf_counter`; `show`, takes what was found last, in words; `pace`,
    how long that may take.
    """

    def __init__(
        self,
        rule: AbstractRule,
        run: AbstractRun,
        cap: int,
        stopping: Stopping | None = None,
        began: float | None = None,
        show: Callable[[str], None] = lambda text: None,
        pace: Pace = USUAL,
    ):
        earlier = () if stopping is None else stopping.looks
        seen = earlier[-1].draws if earlier else 0
        self.stopping = Stopping(rule, looks=earlier)
        self.seconds = 0.0  # that judging took
        self._run, self._cap, self._show, self._pace = run, cap, show, pace
        self._began = time.perf_counter() if began is None else began
        is_of_draws = not all(isinstance(leaf, Seconds) for leaf in rule.leaves)
        first = stored_first_look(run.manifest.get("settings", {}))
        self._left = [at for at in (looks(cap, first) if is_of_draws else (cap,)) if at > seen]
        self._judged: Future[_Verdict] | None = None
        self._pool: ThreadPool | None = None

    @property
    def is_decided(self) -> bool:
        """Return whether the run is at its end."""
        return self.stopping.held is not None

    @property
    def num_sure(self) -> int:
        """Count the kept draws per chain that belong to the run for certain; later ones may be dropped."""
        if self.is_decided:
            return self.stopping.draws or 0
        return self._left[0] if self._left else self._cap

    def look(self, lost: Collection[int]) -> bool:
        """Check the rule as far as possible without a long wait; `lost` are chains that make no more draws.

        Returns whether more is known than before. **Raises** `RuleFailedError` for what the rule raises.
        """
        before = self.stopping
        while not self.is_decided and self._is_ready(lost):
            if self._judged is None:
                self._pool = self._pool or ThreadPool(1)
                self._judged = self._pool.submit(self._judge, self._left[0])
            if wait([self._judged], timeout=self._pace.look_seconds).not_done:
                break
            self._take(self._judged.result())
        self._look_at_clock()
        return self.stopping is not before

    def settle(self, lost: Collection[int], is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Judge all draws, after the last one was made. **Raises** `RuleFailedError` as `look`."""
        if self.stopping.is_by_clock:
            stored = {chain: self._run.stored(chain)["sample"] for chain in self._run.manifest.chains}
            counted = tuple(chain for chain in stored if chain not in lost)
            self.stopping = replace(
                self.stopping, draws=min((stored[each] for each in counted), default=0), chains=counted
            )
        try:
            while not self.is_decided and self._is_ready(lost) and not is_stopped():
                self._take(self._judge(self._left[0]) if self._judged is None else self._judged.result())
        finally:
            if self._pool is not None:
                self._pool.close()

    def _is_ready(self, lost: Collection[int]) -> bool:
        if not self._left:
            return False
        made = {chain: self._run.stored(chain)["sample"] for chain in self._run.manifest.chains}
        has_look = [made[chain] >= self._left[0] for chain in made]
        return any(has_look) and all(has or chain in lost for chain, has in zip(made, has_look, strict=True))

    def _judge(self, at: int) -> _Verdict:
        began = time.perf_counter()
        seconds = began - self._began
        rule, earlier = self.stopping.rule, self.stopping.looks
        try:
            is_last = len(self._left) == 1
            return judge(rule, self._run, at, seconds, earlier, is_last, self._pace.look_numbers)
        finally:
            self.seconds += time.perf_counter() - began

    def _take(self, verdict: _Verdict) -> None:
        self._judged = None
        holds, chains, look = verdict
        self._left = self._left[1:]
        is_over = holds or not self._left
        self.stopping = replace(
            self.stopping,
            held=holds if is_over else None,
            draws=look.draws if is_over else None,
            chains=chains if is_over else (),
            looks=(*self.stopping.looks, look),
        )
        self._show(f"{look}, at {look.draws} draws per chain")

    def _look_at_clock(self) -> None:
        """End the run once its time is over, whatever was drawn."""
        passed = time.perf_counter() - self._began
        met = {
            leaf: isinstance(leaf, Seconds) and passed >= leaf.seconds for leaf in self.stopping.rule.leaves
        }
        if not self.is_decided and any(met.values()) and is_met_by(self.stopping.rule, met):
            self.stopping = replace(self.stopping, held=True, is_by_clock=True)
