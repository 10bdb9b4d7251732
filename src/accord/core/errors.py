"""Name what can go wrong, so that a user can catch it and read what to do."""

import difflib
from collections.abc import Iterable
from typing import Any


class AccordError(Exception):
    """Base of every error that accord raises on purpose."""


class ModelError(AccordError):
    """The structure of a model is wrong: no latent site, a branch on a latent value, a model called inside another."""


class SiteError(ModelError):
    """One site of a model is wrong; the message names it, what was found, and the line to write instead."""


class DistributionError(AccordError, ValueError):
    """A distribution was given parameters it cannot have, or asked for something it does not define."""


class DataError(AccordError, ValueError):
    """The data given to a model does not fit its arguments or its sites."""


class OptionError(AccordError, ValueError):
    """An option is misspelt, of the wrong type or out of range; nothing has been run."""


class InitializationError(AccordError):
    """No starting point with a finite log density and gradient was found.

    **Fields**
    - `sites`: mapping from site name to its log density at the best point tried.
    - `blame`: what is not finite there, and why; see `accord.density.Blame`. None where it was not looked for.
    """

    def __init__(self, message: str, sites: dict[str, float] | None = None, blame: Any = None):
        super().__init__(message)
        self.sites = dict(sites or {})
        self.blame = blame

    def __reduce__(self) -> tuple[Any, ...]:
        return InitializationError, (str(self), self.sites, self.blame)


class SamplingError(AccordError):
    """A run could not go on: no chain moves any more, or a number was not finite and was asked to raise."""


class PrecisionError(AccordError):
    """A device, worker or array cannot give the precision that the run asked for."""


class WorkerError(AccordError):
    """A worker process could not be started as the run needs it, or was lost too often."""


class StorageError(AccordError):
    """A stored run is missing, damaged, or not what was asked for."""


def suggest(name: str, candidates: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest candidate, or an empty string when none is near."""
    near = difflib.get_close_matches(name, list(candidates), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
