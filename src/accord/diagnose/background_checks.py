"""Check a model while its programs compile, and give the notices at the end of the run."""

import importlib
from concurrent.futures import Future

from ..core.notice import Notice
from ..density import LogDensity
from ..executors import ThreadPool
from .checks.dependence import Dependence
from .checks.hidden import check_hidden
from .checks.repeatable import check_repeatable
from .checks.structure import prior_only, unused_data

_PATIENCE = {False: 60.0, True: 1.0}  # seconds, by whether the run was interrupted

# What the end of a run loads, the second one after divergences.
_LATER = ("numpy.fft", "accord.diagnose.hierarchy")


class BackgroundChecks:
    """Findings of `cheap_checks`, computed in a separate thread after `begin` is called.

    Python runs one thread at a time: before XLA compiles, these checks would delay tracing.
    """

    def __init__(self, density: LogDensity):
        self._density = density
        self._found: Future[tuple[Notice, ...]] | None = None

    def begin(self) -> None:
        """Start the checks; a second call does nothing."""
        if self._found is None:
            pool = ThreadPool(1)
            self._found = pool.submit(_look, self._density)
            pool.close()

    def notices(self, *, is_interrupted: bool) -> tuple[Notice, ...]:
        """Return the findings; none if the checks take too long or were not started."""
        if self._found is None:
            return ()
        try:
            return self._found.result(_PATIENCE[is_interrupted])
        except TimeoutError:
            return ()


def cheap_checks(density: LogDensity) -> tuple[Notice, ...]:
    """Return the findings that every run can afford: some traces of the model, without compiling.

    Data that is not used or all hidden, sites of which no data says anything, and traces that differ.
    """
    found = [*check_hidden(density), *check_repeatable(density)]
    dependence = Dependence.of(density)
    if dependence is not None:
        found += [*unused_data(density, dependence), *prior_only(density, dependence)]
    return tuple(found)


def _look(density: LogDensity) -> tuple[Notice, ...]:
    if density.layout.whole:  # which the checks know nothing of
        return ()
    try:
        found = cheap_checks(density)
    except Exception as error:  # the model's own: that a run has come to an end is no reason to lose it
        return (
            Notice(
                "warning",
                "not_repeatable",
                f"Traced once more, the model raised {type(error).__name__}: {error}",
                "Let the model depend only on its arguments: not on files, globals or the number of calls.",
            ),
        )
    for name in _LATER:
        importlib.import_module(name)
    return found
