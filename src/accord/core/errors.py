"""Define accord's exceptions."""

import difflib
from collections.abc import Iterable
from typing import Any


class AccordError(Exception):
    """Base class of every error that accord raises on purpose.

    **Example**

    >>> from accord.core.errors import AccordError
    >>> try:
    ...     infer.sample(coin(4, heads), draw=100)
    ... except AccordError as error:
    ...     print(type(error).__name__)
    OptionError
    """


class ModelError(AccordError):
    """The structure of a model is wrong: no latent site, a branch on a latent value, a model called inside another.

    **Example**

    >>> from accord.core.errors import ModelError
    >>> try:
    ...     ac.sample("x", dist.Normal(0, 1))  # outside of a model
    ... except ModelError as error:
    ...     print(error)
    site 'x' was visited outside of any model (at ...). Put the statement in a function decorated ...
    """


class SiteError(ModelError):
    """One site of a model is wrong; the message names it, what was found, and the line to write instead.

    **Example**

    >>> from accord.core.errors import SiteError
    >>> try:
    ...     coin(3, heads).log_density()
    ... except SiteError as error:
    ...     print(error)
    site 'y' (at ...): the value has shape (4,), but Bernoulli needs batch (3,) + event (). Plate 'toss' ...
    """


class DistributionError(AccordError, ValueError):
    """A distribution was given parameters it cannot have, or asked for something it does not define.

    **Example**

    >>> from accord.core.errors import DistributionError
    >>> try:
    ...     dist.Normal(0, -1)
    ... except DistributionError as error:
    ...     print(error)
    Normal: scale must be above 0.0, got -1. Check the sign and the order of the arguments, ...
    """


class DataError(AccordError, ValueError):
    """The data given to a model does not fit its arguments or its sites.

    **Example**

    >>> from accord.core.errors import DataError
    >>> try:
    ...     coin(4, z=heads)
    ... except DataError as error:
    ...     print(error)
    model 'coin': unknown argument 'z'. It takes (num_tosses, y=None).
    """


class OptionError(AccordError, ValueError):
    """An option is misspelt, of the wrong type or out of range; nothing has been run.

    **Example**

    >>> from accord.core.errors import OptionError
    >>> try:
    ...     infer.sample(coin(4, heads), target_accept=1.0)
    ... except OptionError as error:
    ...     print(error)
    sample has no option 'target_accept'. PyMC's `target_accept` is `infer.NUTS(target_accept=...)` here. It takes ...
    """


class InitializationError(AccordError):
    """No starting point with a finite log density and gradient was found.

    **Fields**
    - `sites`: mapping from site name to its log density at the best point tried.
    - `blame`: the values that are not finite there, and why; see `accord.density.Blame`. None if not computed.

    **Example**

    >>> from accord.core.errors import InitializationError
    >>> @ac.model
    ... def impossible():
    ...     x = ac.sample("x", dist.Normal(0, 1))
    ...     ac.factor("never", jnp.where(x < 1e6, -jnp.inf, 0.0))
    >>> try:
    ...     infer.sample(impossible(), chains=1, quiet=True)
    ... except InitializationError as error:
    ...     print(error.sites["never"])
    -inf
    """

    def __init__(self, message: str, sites: dict[str, float] | None = None, blame: Any = None):
        super().__init__(message)
        self.sites = dict(sites or {})
        self.blame = blame

    def __reduce__(self) -> tuple[Any, ...]:
        return InitializationError, (str(self), self.sites, self.blame)


class SamplingError(AccordError):
    """A run could not continue: no chain moves any more, or a number was not finite under `on_nonfinite="raise"`.

    **Example**

    >>> from accord.core.errors import SamplingError
    >>> @ac.model
    ... def halves():
    ...     x = ac.sample("x", dist.Normal(0, 1))
    ...     ac.factor("half", jnp.log(x))
    >>> try:
    ...     infer.sample(halves(), chains=1, on_nonfinite="raise", quiet=True)
    ... except SamplingError as error:
    ...     print("half" in str(error))
    True
    """


class PrecisionError(AccordError):
    """A device, worker or array cannot give the precision that the run asked for."""


class WorkerError(AccordError):
    """A worker process could not be started as the run needs it, or was lost too often.

    **Example**

    >>> from accord.core.errors import WorkerError
    >>> try:
    ...     infer.sample(coin(4, heads), executor=infer.Dask("tcp://127.0.0.1:1"), quiet=True)
    ... except WorkerError as error:
    ...     print(error)
    no Dask scheduler answers at tcp://127.0.0.1:1: ...
    """


class StorageError(AccordError):
    """A stored run is missing, damaged, or not what was asked for.

    **Example**

    >>> from accord.core.errors import StorageError
    >>> try:
    ...     infer.load("nowhere")
    ... except StorageError as error:
    ...     print(error)
    there is no folder nowhere. Check the path; infer.sample(store=...) writes one.
    """


def suggest(name: str, candidates: Iterable[str], likeness: float = 0.6) -> str:
    """Return " Did you mean 'x'?" for the nearest candidate, or "" if no candidate reaches `likeness`, in [0, 1]."""
    near = difflib.get_close_matches(name, list(candidates), n=1, cutoff=likeness)
    return f" Did you mean {near[0]!r}?" if near else ""
