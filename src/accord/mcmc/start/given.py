"""Start at given values of latent sites; other sites start as by default."""

import abc
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jax
import numpy as np

from ...core.errors import DataError, suggest
from ...core.masked import unmasked
from ...density import LogDensity
from ...density.matching import Held, check_follows, taking_of, unknown_labels
from .base import AT_ONCE, AbstractStart
from .placing import Placing, Values, compiled, short
from .table import TablePoints
from .uniform import tries


class AbstractGiven(AbstractStart):
    """Start at values of the user.

    **Class variables**: `kind`, its name in a manifest; `origin`, its name in messages.
    """

    kind: ClassVar[str]
    origin: ClassVar[str]

    @abc.abstractmethod
    def values_for(self, chain: int, density: LogDensity) -> tuple[Values, str]:
        """Return the values for a chain and their source in words. Raises `DataError` if there are none."""

    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> TablePoints:
        """Return one candidate for a chain with values for every site, else the usual number.

        With an empty mapping a chain starts as by default.
        """
        rows: dict[int, Any] = {}
        programs: dict[tuple[str, ...], Placing] = {}
        known: dict[tuple[int, ...], Any] = {}  # one mapping may be that of all chains
        given = {chain: self.values_for(chain, density) for chain in chains}
        # Of all chains, before anything is compiled.
        named = {chain: check_values(values, density, where) for chain, (values, where) in given.items()}
        for chain, (values, where) in given.items():
            names = named[chain]
            if names not in programs:
                programs[names] = compiled(density, names)
            if len(names) < len(density.layout.unknowns):
                rows[chain] = programs[names](values, *tries(density, seed, chain), where)
                continue
            identity = tuple(id(values[name]) for name in names)
            if identity not in known:
                elsewhere, words = np.zeros((AT_ONCE, density.dim)), np.zeros((AT_ONCE, 2), np.uint32)
                found = programs[names](values, elsewhere, words, where)
                known[identity] = jax.tree.map(lambda places: places[:1], found)
            rows[chain] = known[identity]
        return TablePoints.of(self.origin, rows, frozenset(chain for chain in chains if named[chain]))

    def described(self) -> dict[str, Any]:
        """The digest of what is kept."""
        text = json.dumps(self.kept(), sort_keys=True)
        return {"kind": self.kind, "digest": hashlib.sha256(text.encode()).hexdigest()}


def as_values(values: Any, where: str) -> dict[str, np.ndarray]:
    """Convert values by site to read-only arrays. Raises `DataError` unless it is a mapping to finite numbers."""
    if not isinstance(values, Mapping):
        raise DataError(
            f'{where}: values are a mapping from latent sites to numbers, like {{"mu": 0.5}}; got {values!r}.'
        )
    found = {}
    for name, value in values.items():
        if np.iscomplexobj(value):
            raise DataError(
                f"{where}: site {name!r} is to begin at complex numbers, and sites have real ones. Give the real part, "
                "`value.real`, if the imaginary part is 0."
            )
        value = unmasked(value, f"{where}: site {name!r}")
        try:
            array = np.array(value, float)
        except (TypeError, ValueError):
            raise DataError(
                f"{where}: site {name!r} is to begin at {value!r}, which is not numbers."
            ) from None
        if not np.all(np.isfinite(array)):
            raise DataError(
                f"{where}: site {name!r} is to begin at {short(array)}, and a chain cannot begin at NaN or infinity. "
                "Give a finite value, or leave the site out and let it be drawn."
            )
        array.setflags(write=False)
        found[str(name)] = array
    return found


def aligned(
    values: Values, held: Mapping[str, Held], density: LogDensity, where: str
) -> dict[str, np.ndarray]:
    """Reorder values by the model's labels, if both sides have labels.

    **Raises** `DataError` for labels that have no value; `SiteError` for values that cannot be put into another order.
    """
    layout, found = density.layout, dict(values)
    entries = {entry.name: entry for entry in layout.sites}
    for name in values:
        if name not in held or name not in entries:
            continue
        taking = taking_of(entries[name], layout, held[name])
        if taking.is_new:
            raise DataError(
                f"{where}: site {name!r}: {unknown_labels(entries[name], layout, held[name], taking)} A chain has no "
                f"place for them to begin at: give values of the other sites alone, by infer.from_values."
            )
        found[name] = taking(values[name])
        found[name].setflags(write=False)
    check_follows(layout, held, found)
    return found


def kept_labels(held: Mapping[str, Held]) -> dict[str, Any]:
    """Return the labels of values in the form that is stored."""
    return {"labels": {name: each.described() for name, each in held.items()}} if held else {}


def stored_labels(kept: Mapping[str, Any]) -> dict[str, Held]:
    """Read the labels that `kept_labels` has stored."""
    return {name: Held.stored(each) for name, each in kept.get("labels", {}).items()}


def check_values(values: Values, density: LogDensity, where: str) -> tuple[str, ...]:
    """Return the names of the values in the order of the model.

    **Raises** `DataError` for names that are no latent sites, and for wrong shapes.
    """
    kinds = {entry.name: entry.kind for entry in density.layout.sites}
    latents = {name: density.layout[name] for name in density.layout.settable}
    for name, value in values.items():
        if kinds.get(name) == "collapsed":
            raise DataError(
                f"{where}: site {name!r} is collapsed, so that a chain has no place of it to begin at: each draw has "
                f"it anew, given the others. Leave it out; give values of {', '.join(map(repr, latents))}."
            )
        if name not in latents:
            what = (
                f"{name!r} is {_KINDS.get(kinds[name], 'no latent')} site"
                if name in kinds
                else f"there is no site {name!r}"
            )
            raise DataError(
                f"{where}: {what}, and only latent sites have a place to begin at.{suggest(name, latents)} They are "
                f"{', '.join(map(repr, latents))}."
            )
        if value.shape != latents[name].shape:
            raise DataError(
                f"{where}: the value for site {name!r} has shape {value.shape}, and the site has shape "
                f"{latents[name].shape}. Give one number for each entry; nothing is broadcast."
            )
    given = density.layout.latents_of(values, where)
    return tuple(given[entry.name] for entry in density.layout.unknowns if entry.name in given)


_KINDS = {"deterministic": "a deterministic", "observed": "an observed", "intervened": "an intervened"}
