"""Build a start from the user's `init=`, or from a store."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.errors import OptionError, StorageError
from ...optimise.approximation import AbstractApproximation
from ...optimise.mode import Mode
from ...runs.stored.checked import built_from
from ..draws import Draws
from .base import AbstractStart
from .earlier import FromApproximation, FromDraws, from_approximation, from_draws
from .given import as_values, stored_labels
from .near import FromReference
from .pilot import FromPilot
from .prior import from_median, from_prior
from .uniform import from_uniform
from .values import from_mode, from_values

KEPT = "init"
"""Of what a store keeps of a start, the name."""

Init = (
    AbstractStart
    | AbstractApproximation
    | Draws
    | Mode
    | Mapping[str, Any]
    | Sequence[Mapping[str, Any]]
    | None
)
"""A start, an earlier run, a mode, a fit, values by site (for all chains, or a list by chain), or None: the default."""


def start_of(init: Any) -> AbstractStart:
    """Return the start for `init`. Raises `OptionError` for other values."""
    if init is None:
        return from_uniform()
    if isinstance(init, AbstractStart):
        return init
    if isinstance(init, Draws):
        return from_draws(init)
    if isinstance(init, AbstractApproximation):
        return from_approximation(init)
    if isinstance(init, Mode):
        return from_mode(init)
    if isinstance(init, Mapping | list | tuple):
        return from_values(init)
    hint = " Call it: `infer.from_prior()`." if callable(init) else ""
    raise OptionError(
        "init must be a start such as infer.from_prior(), a mapping from latent sites to values, the draws of an "
        f"earlier run, a mode, a fit, or None; got {init!r}.{hint}"
    )


def stored_start(described: Mapping[str, Any] | None, kept: Any) -> AbstractStart:
    """Build the start that a manifest describes, with its stored data.

    **Raises** `StorageError` for one that this accord does not have, or of which nothing was kept.
    """
    if described is None:
        raise StorageError(
            "manifest.json does not say where the chains start: no run of accord wrote it. infer.load reads its draws."
        )
    with built_from("the start of the run, in its manifest or in record-init.json,"):
        return _stored_start(described, kept)


def _stored_start(described: Mapping[str, Any], kept: Any) -> AbstractStart:
    match described["kind"]:
        case "from_uniform":
            return from_uniform(described["radius"])
        case "from_reference":
            return FromReference()
        case "from_prior":
            return from_prior()
        case "from_median":
            return from_median(described["num_samples"])
        case "from_values" | "from_draws" | "from_fit" | "from_pilot" if kept is None:
            raise StorageError(
                "the run ended before its starting points were stored, so that it cannot be resumed. Nothing had "
                "been drawn: start a new run in another folder."
            )
        case "from_pilot":
            return FromPilot.of_kept(kept)
        case "from_values":
            return replace(from_values(kept["values"]), held=stored_labels(kept))
        case "from_draws" | "from_fit":
            chains = tuple(kept["chains"])
            values = tuple(as_values(each, "init") for each in kept["values"])
            kind = FromDraws if described["kind"] == "from_draws" else FromApproximation
            return kind(chains, values, stored_labels(kept))
        case kind:
            raise StorageError(f"the run starts at {kind!r}, which this version of accord does not have.")
