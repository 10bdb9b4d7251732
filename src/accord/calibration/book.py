"""Keep the finished simulations of a calibration, in memory and in its store."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..core.errors import StorageError, WorkerError
from ..runs.target import Target
from ..runs.units import Item
from ..storage import AbstractRun
from .calibration import Trial
from .identity import Identity
from .stored import record_lost, segment_of


@dataclass
class Book:
    """Simulations of a run so far; one thread writes them.

    **Fields**: `run`, the open store; `target` and `identity`, which tell whether it is the model of the run; `trials`,
    earlier ones too; `refused`, why the store has taken no more.
    """

    run: AbstractRun
    target: Target
    identity: Identity
    trials: list[Trial] = field(default_factory=list)
    refused: StorageError | None = None

    def identify(self) -> None:
        """Compare the model with the one of the run, or store what tells them apart; mend the run.

        **Raises** `StorageError` if they differ.
        """
        if self.target.fingerprint is None:
            if self.identity.constants is not None:
                self.target.compare_constants(self.identity.constants)
            self.target.compare(self.identity.fingerprint)

    def commit(self, items: Iterable[Item]) -> None:
        """Keep the simulations among the results of a task. Check `refused` afterwards."""
        for item in items:
            if isinstance(item, Trial):
                self._store(item)
                self.trials.append(item)

    def _store(self, trial: Trial) -> None:
        # What befell a worker is no property of the simulation, which another run may finish.
        if self.refused is not None or isinstance(trial.error, WorkerError):
            return
        try:
            self.identify()
            self.run.append(segment_of(trial, self.identity.fingerprint.values))
        except StorageError as error:
            self.refused = error

    def close(self, trials: Sequence[Trial]) -> None:
        """Record the lost ones among all simulations, and close the store."""
        if self.refused is None:
            try:
                record_lost(self.run, [each for each in trials if isinstance(each.error, WorkerError)])
            except StorageError as error:
                self.refused = error
        self.run.close()
