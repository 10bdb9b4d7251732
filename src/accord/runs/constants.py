"""Compare the numbers in a model's code with those of a stored run.

The log density at fixed points, which identifies a target, is compared within rounding, so that a run may continue on
another machine. A prior that changed by 1e-9 passes there. So the numbers in the traced log density and its gradient
are stored too. A trace depends on the releases of accord and JAX, so it is compared only where these are equal, and
within the rounding of elementary functions. Arrays in the code are compared bit by bit, on machines of one kind.
"""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from ..core.errors import ModelError, StorageError
from ..core.traced import distinct_functions
from ..density import LogDensity
from ..storage import Manifest
from .particulars import of_code
from .units import News

RECORD = "program"
"""Name of the record of a run that holds them."""

_MOST = 20_000  # different numbers: a code with more is not compared
_ROUNDING = 1e-13  # relative; of libraries of elementary functions
_NUM_SHOWN = 3


@dataclass(frozen=True)
class Constants(News):
    """Numbers in the program of a target.

    **Fields**: `numbers`, by their texts, and `arrays`, by digests, each sorted and once; `releases` and `machine`, of
    where it was traced.
    """

    numbers: tuple[str, ...]
    arrays: tuple[str, ...]
    releases: Mapping[str, str]
    machine: Mapping[str, str]

    @staticmethod
    def of(traced: Any) -> "Constants | None":
        """Collect the constants of a traced function; None if there are too many."""
        numbers: set[str] = set()
        arrays: set[str] = set()
        for function in distinct_functions(traced):
            inner = getattr(function, "jaxpr", function)
            literals = (atom.val for each in inner.eqns for atom in each.invars if isinstance(atom, Literal))
            for value in (*getattr(function, "consts", ()), *literals):
                _collect(value, numbers, arrays)
        if len(numbers) + len(arrays) > _MOST:
            return None
        releases = {name: metadata.version(name) for name in ("accord", "jax")}
        machine = {
            "system": platform.system(),
            "processor": platform.machine(),
            "numpy": np.__version__,
        }
        releases["platform"] = jax.default_backend()
        return Constants(tuple(sorted(numbers)), tuple(sorted(arrays)), releases, machine)

    def as_json(self) -> dict[str, Any]:
        """Return the record of them."""
        return {
            "numbers": [*self.numbers],
            "arrays": [*self.arrays],
            "releases": dict(self.releases),
            "machine": dict(self.machine),
        }

    @staticmethod
    def from_json(record: Any) -> "Constants":
        """Read the record. Raises `StorageError` for one that accord did not write."""
        try:
            numbers, arrays = tuple(map(str, record["numbers"])), tuple(map(str, record["arrays"]))
            _as_floats(numbers)
            return Constants(numbers, arrays, dict(record["releases"]), dict(record["machine"]))
        except (LookupError, TypeError, ValueError) as error:
            raise StorageError(
                f"record-{RECORD}.json does not list the numbers of a program ({type(error).__name__}: {error}): "
                "accord did not write this. Put it back from a copy, or start a new run in another folder."
            ) from error


def check_constants(stored: Constants, found: Constants, manifest: Manifest, density: LogDensity) -> None:
    """Raise `StorageError` if the numbers in a model's code differ from those of the stored run."""
    if stored.releases == found.releases and (words := _differences(stored, found)):
        raise StorageError(
            f"the model differs from the model of this run: in its code, {words}. Nothing was drawn."
            f"{of_code(manifest, density)} Give the model and the data of the stored run, or start a new run in "
            "another folder."
        )


def check_repeats(first: Constants, found: Constants) -> None:
    """Raise `ModelError` if two traces of one model contain other numbers."""
    if first.releases == found.releases and (words := _differences(first, found)):
        raise ModelError(
            f"the numbers in the model's code change from one trace to the next: {words}. Look for random numbers of "
            "NumPy, the time, or Python state that the model changes."
        )


def _collect(value: Any, numbers: set[str], arrays: set[str]) -> None:
    dtype = getattr(value, "dtype", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.extended):
        return  # keys
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype.kind in "biuf":
        numbers.add(repr(float(array)))
        return
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    arrays.add(f"{array.dtype}{list(array.shape)} {digest.hexdigest()[:32]}")


def _differences(before: Constants, now: Constants) -> str:
    """Describe how constants differ; empty if they do not."""
    gone, new = _unmatched(before.numbers, now.numbers), _unmatched(now.numbers, before.numbers)
    if gone and new:
        return f"{_listed(gone)} became {_listed(new)}"
    if gone or new:
        near = min(
            (now if gone else before).numbers, key=lambda text: abs(float(text) - float((gone or new)[0]))
        )
        return (
            f"{_listed(gone)} is gone ({near} is there)"
            if gone
            else f"{_listed(new)} is new ({near} was there)"
        )
    changed = {*before.arrays} ^ {*now.arrays}
    if changed and before.machine == now.machine:
        kinds = sorted({each.rpartition(" ")[0] for each in changed})
        return f"an array has other values ({_listed(kinds)})"
    return ""


def _unmatched(ones: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the numbers among `ones` that are not, within rounding, among `others`."""
    left = sorted({*ones} - {*others})
    values, known = _as_floats(left), np.sort(_as_floats(others))
    at = np.searchsorted(known, values)
    is_near = np.zeros(len(left), bool)
    for neighbour in (at - 1, at):
        is_there = (neighbour >= 0) & (neighbour < len(known))
        near = known[np.clip(neighbour, 0, max(len(known) - 1, 0))] if len(known) else values + 1
        is_near |= is_there & np.isclose(near, values, rtol=_ROUNDING, atol=0.0)
    return [text for text, found in zip(left, is_near, strict=True) if not found]


def _as_floats(texts: Sequence[str]) -> np.ndarray:
    return np.array([float(text) for text in texts], float)


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _NUM_SHOWN} more" if len(texts) > _NUM_SHOWN else ""
    return ", ".join(texts[:_NUM_SHOWN]) + more
