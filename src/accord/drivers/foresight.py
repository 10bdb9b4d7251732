"""Look at a model while its programs compile, and say at the end of the run what was seen."""

from ..core.notice import Notice
from ..density import LogDensity
from ..executors import ThreadPool
from .checks.cheap import cheap_checks

_PATIENCE = {False: 60.0, True: 1.0}  # seconds, by whether the run was interrupted


class Foresight:
    """What `cheap_checks` finds in a density, worked out in a thread of its own from now on."""

    def __init__(self, density: LogDensity):
        pool = ThreadPool(1)
        self._found = pool.submit(_look, density)
        pool.close()

    def notices(self, *, is_interrupted: bool) -> tuple[Notice, ...]:
        """What was found; nothing where it takes longer than anybody would wait for."""
        try:
            return self._found.result(_PATIENCE[is_interrupted])
        except TimeoutError:
            return ()


def _look(density: LogDensity) -> tuple[Notice, ...]:
    try:
        return cheap_checks(density)
    except Exception as error:  # the model's own: that a run has come to an end is no reason to lose it
        return (
            Notice(
                "warning",
                "not-repeatable",
                f"Traced once more, the model raised {type(error).__name__}: {error}",
                "Let the model depend on its arguments alone: not on files, globals or how often it is called.",
            ),
        )
