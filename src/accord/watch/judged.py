"""Keep the notices of a run up to date: those that are stored with it, or those that its draws would get now."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import AccordError
from ..core.notice import Notice
from ..reopen.load import load
from ..runs.stored.notices import notice_of
from .follow import Records
from .thrift import Thrift

_GROWTH = 1.5  # in draws, from one judgement to the next
_FIRST = 100  # draws in all, before which nothing is judged
_LARGEST = 2**30  # bytes of a run that is read whole to be judged
_OF_PARTS = {"incomplete", "too_few_draws"}  # which every run has before its end


@dataclass
class Notices:
    """Notices of the run in a folder.

    **Fields**: `found`, the last ones; `draws`, in all, of which they are, or None if they were stored at its end.
    """

    folder: Path
    records: Records
    found: Sequence[Notice] = ()
    draws: int | None = None
    _seconds: float = field(default=0.0, init=False)
    _judged: int = field(default=0, init=False)

    @property
    def are_stored(self) -> bool:
        """Return whether the run has ended and has judged itself."""
        return self.records.get("notices") is not None

    def restart(self) -> None:
        """Forget what was found."""
        self.found, self.draws, self._judged = (), None, 0

    def update(self, num_draws: int, num_bytes: int, thrift: Thrift | None) -> None:
        """Judge the run if it has grown enough; `thrift` says what that may cost, None if the run has ended."""
        stored: Any = self.records.get("notices")
        if stored is not None:
            self.found, self.draws, self._judged = tuple(map(notice_of, stored)), None, 0
            return
        wanted = max(_FIRST, _GROWTH * self._judged) if thrift is not None else self._judged + 1
        if num_draws < wanted or num_bytes > _LARGEST:
            return
        # It costs about as much more as there are more draws.
        expected = self._seconds * (num_draws / max(self._judged, 1) if self._judged else 1)
        if thrift is not None and not thrift.affords(expected):
            return
        began = time.thread_time()
        try:
            found = load(self.folder).notices
        except (AccordError, OSError):  # it is written to just now, or too damaged to be judged
            found = self.found
        self._seconds, self._judged, self.draws = time.thread_time() - began, num_draws, num_draws
        self.found = tuple(each for each in found if thrift is None or each.code not in _OF_PARTS)
