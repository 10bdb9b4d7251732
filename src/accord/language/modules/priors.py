"""Find the prior of every array of a module, and give it the array's shape."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from ...core.errors import OptionError, SiteError, suggest
from ...distributions import AbstractDistribution

FIXED: Literal["fixed"] = "fixed"
One = AbstractDistribution | Literal["fixed"] | None
Prior = One | Mapping[str, One] | Callable[[str, tuple[int, ...]], One]
_SHOWN = 8  # paths of a module that a message lists


def read_prior(where: str, prior: Any, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Read the prior by path: a distribution, None, or `FIXED`.

    **Raises** `SiteError` for a pattern that fits no path, and for a path without a prior; `OptionError` for what is
    no prior.
    """
    if isinstance(prior, Mapping):
        found = _by_pattern(where, prior, shapes)
    elif callable(prior) and not isinstance(prior, type):
        found = {path: prior(path, shape) for path, shape in shapes.items()}
    else:
        found = dict.fromkeys(shapes, prior)
    for path, one in found.items():
        if isinstance(one, str) and one == FIXED:
            found[path] = FIXED
        elif one is not None and not isinstance(one, AbstractDistribution):
            raise OptionError(
                f"{where}: the prior of {path!r} must be a distribution, None or 'fixed', got {_describe(one)}. "
                "`prior=` takes one for all parameters, a mapping from paths, or a function of path and shape."
            )
    return found


def fitted(where: str, path: str, prior: AbstractDistribution, shape: tuple[int, ...]) -> Any:
    """Make the distribution of one whole array: independent copies of `prior` over the axes that it lacks.

    **Raises** `SiteError` where its shape does not fit the array's.
    """
    event, own = tuple(prior.event_shape), tuple(prior.batch_shape)
    cut = len(shape) - len(event)
    batch = shape[: max(cut, 0)]
    if cut < 0 or shape[cut:] != event or not _fits(own, batch):
        raise SiteError(
            f"{where}: the prior of {path!r} has batch {own} + event {event}, but the array has shape {shape}. A prior "
            "of numbers, such as `dist.Normal(0, 1)`, fits every shape; give this path one of its own."
        )
    whole = prior if own == batch else prior.expand(batch)
    # One event, so that whatever stands around the statement counts the array as one.
    return whole.to_event(cut) if cut else whole


def _by_pattern(where: str, priors: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    patterns = {key: re.compile(re.escape(str(key)).replace(r"\*", ".*")) for key in priors}
    for key, pattern in patterns.items():
        if not any(pattern.fullmatch(path) for path in shapes):
            raise SiteError(
                f"{where}: the module has no parameter {key!r}.{suggest(str(key), _spellings(shapes))} "
                f"{_listed(shapes)}"
            )
    found: dict[str, Any] = {}
    for path in shapes:
        fitting = [key for key, pattern in patterns.items() if pattern.fullmatch(path)]
        if not fitting:
            raise SiteError(
                f"{where}: the mapping says nothing of {path!r}. Add it, or a line for the rest: a distribution, None "
                "for no prior, or 'fixed', as in `{..., \"*\": dist.Normal(0, 1)}`."
            )
        found[path] = priors[path if path in priors else fitting[0]]
    return found


def _fits(own: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(own, batch) == batch
    except ValueError:
        return False


def _spellings(paths: Iterable[str]) -> list[str]:
    """List paths, and the patterns that are most often made of them: `*.weight`, `layers[0].*`."""
    parts = [path.rpartition(".") for path in paths]
    return [*paths, *(f"*.{tail}" for _, _, tail in parts), *(f"{head}.*" for head, _, _ in parts if head)]


def _listed(paths: Mapping[str, Any]) -> str:
    shown = ", ".join(map(repr, list(paths)[:_SHOWN]))
    return f"Its parameters are {shown}{', ...' if len(paths) > _SHOWN else ''}."


def _describe(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"{type(value).__name__} {value!r}"
