"""Check that what workers evaluate is the target of the run, before anything of theirs is stored."""

from dataclasses import dataclass, field

import numpy as np

from ..core.pace import Pace
from ..density import LogDensity
from ..storage import AbstractRun
from .complete import check_complete
from .constants import RECORD, Constants, check_constants, check_repeats
from .fingerprint import Fingerprint, check_fingerprint, keep_fingerprint, stored_fingerprint


@dataclass
class Target:
    """Target of a run, as far as it is known since the run was taken up.

    **Fields**: `density`; `run`, the open store; `shard`, arguments whose rows are split over devices, with the axis of
    the rows; `pace`, how much is compared. `fingerprint`, shape `(3, 2)`, once it was compared; `repaired`, sentences
    about damaged files that were set aside then.
    """

    density: LogDensity
    run: AbstractRun
    shard: dict[str, int]
    pace: Pace
    fingerprint: np.ndarray | None = None
    repaired: list[str] = field(default_factory=list)
    _is_complete: bool = False
    _is_of_now: bool = False  # its fingerprint was taken since this run was taken up
    _constants: Constants | None = None  # in the target's code, since this run was taken up

    def compare(self, found: Fingerprint) -> None:
        """Compare a fingerprint with the one of the run, and mend the run once they are known to be the same.

        **Raises** `StorageError` or `ModelError` if they differ.
        """
        if self.fingerprint is None:
            stored = stored_fingerprint(self.run)
            self._is_of_now = stored is None
            target = found.values if stored is None else stored
            self._check(target, found)
            self.repaired += self.run.mend()
            keep_fingerprint(self.run, target)
            self.fingerprint = target
            self._keep_constants()
        else:
            self._check(self.fingerprint, found)

    def compare_constants(self, found: Constants) -> None:
        """Compare the numbers in the code with those of the run. **Raises** `StorageError` or `ModelError`."""
        if self._constants is not None:
            check_repeats(self._constants, found)
            return
        stored = self.run.records.get(RECORD)
        if stored is not None:
            check_constants(Constants.from_json(stored), found, self.run.manifest, self.density)
        self._constants = found
        self._keep_constants()

    def _check(self, target: np.ndarray, found: Fingerprint) -> None:
        check_fingerprint(target, found, self.density, self.run.manifest, is_of_now=self._is_of_now)
        if self.shard and not self._is_complete:
            check_complete(self.density, self.shard, self.run.manifest["precision"], self.pace, found)
            self._is_complete = True

    def _keep_constants(self) -> None:
        """Store the numbers in the code, unless the run has them.

        Only once its log density has shown that it is the target of the run. Raises where nothing can be stored.
        """
        is_known = self.fingerprint is not None and self._constants is not None
        if is_known and self._constants is not None and self.run.records.get(RECORD) is None:
            self.run.record(RECORD, self._constants.as_json())
