"""Describe a run in plain JSON, so that it can be read without the model and compared before resuming."""

import datetime
import hashlib
import importlib.metadata
import json
import platform
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.errors import StorageError, suggest

FORMAT = 2
REQUIRED = (
    "model",
    "target",
    "sampler",
    "seed",
    "precision",
    "lanes",
    "chains",
    "draws",
    "warmup",
    "thinning",
)
OPTIONAL = (
    "method",
    "phases",
    "layout",
    "data_hashes",
    "platform",
    "nproc",
    "settings",
    "particulars",
    "statistics",
    "tuning",
)
STAMPED = ("format", "run_id", "created", "versions", "machine")


class Manifest(Mapping[str, Any]):
    """Manifest of a run: a frozen mapping from field to plain JSON.

    A field is read as `manifest["seed"]`; what it returns is a fresh copy, so nothing can be changed through
    it. Tuples become lists and NumPy numbers become Python's.

    **Fields** (the first ten are required)
    - `model`: name of the model; `target`: mapping that describes and fingerprints it; `sampler`: mapping
      with its name and options; `seed`; `precision`; `lanes`; `chains`: list of zero-based numbers; `draws`,
      `warmup`, `thinning`: counts.
    - `method`: what the run carries out, such as `"mcmc"`; `phases` of each unit, in order, `"warmup"` and `"sample"`
      if none are named; `layout`: sites with names, shapes, dims, coords and kind;
      `statistics`: names and dtypes of those of each draw; `tuning`: names, dtypes and shapes of what warm-up learns,
      as `draws.tuning` shows it; `data_hashes`: argument to sha256; `platform`: device kind;
      `nproc`: width of XLA's pool; `settings`: anything else that changes numbers, or when the run ends;
      `particulars`: what tells in words how another target differs, and decides nothing.
    - `format`, `run_id`, `created` (ISO 8601, UTC), `versions`, `machine`: stamped by `Manifest.new`.
    """

    def __init__(self, values: Mapping[str, object]):
        """Take fields as they are, while `new` stamps them. Raises `StorageError` for one that is missing."""
        missing = [name for name in (*REQUIRED, "format", "run_id") if name not in values]
        if missing:
            raise StorageError(
                f"the manifest lacks {missing}; it was not written by accord, or by a part of it."
            )
        if values["format"] != FORMAT:
            raise StorageError(
                f"the run is stored in format {values['format']!r}, and this version of accord reads format {FORMAT}. "
                "Open it with the version that wrote it (see 'versions' in its manifest.json)."
            )
        object.__setattr__(self, "_text", to_json(dict(values)))

    @classmethod
    def new(cls, values: Mapping[str, object]) -> "Manifest":
        """Stamp the fields of a run with a new run id, the time, the versions and the machine.

        Raises `StorageError` for a field that is missing, or that no manifest has.
        """
        for name in values:
            if name not in REQUIRED + OPTIONAL:
                raise StorageError(f"a manifest has no field {name!r}.{suggest(name, REQUIRED + OPTIONAL)}")
        stamps = {
            "format": FORMAT,
            "run_id": uuid.uuid4().hex,
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "versions": {name: _version(name) for name in ("accord", "jax", "jaxlib", "numpy")},
            "machine": {"system": platform.system(), "processor": platform.machine(), "python": _python()},
        }
        return cls({**stamps, **values})

    @property
    def text(self) -> str:
        """The manifest as canonical JSON: sorted keys, no spaces."""
        return self._text

    @property
    def digest(self) -> str:
        """Hexadecimal sha256 of `text`; the first segment of every chain is linked to it."""
        return hashlib.sha256(self._text.encode()).hexdigest()

    @property
    def run_id(self) -> str:
        """The random name of the run."""
        return self["run_id"]

    @property
    def phases(self) -> list[str]:
        """The phases that each unit goes through, in order; rows of the last one are the result."""
        return self.get("phases", ["warmup", "sample"])

    @property
    def chains(self) -> list[int]:
        """The zero-based numbers of the chains."""
        return self["chains"]

    def differences(self, other: "Manifest", ignore: tuple[str, ...] = STAMPED) -> list[str]:
        """Each field that differs, with both values cut short; empty when a run may go on as it was."""
        names = sorted((set(self) | set(other)) - set(ignore))
        changed = [name for name in names if self.get(name) != other.get(name)]
        return [
            f"{name}: {_short(self.get(name))} stored, {_short(other.get(name))} given" for name in changed
        ]

    def __getitem__(self, name: str) -> Any:
        return json.loads(self._text)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(json.loads(self._text))

    def __len__(self) -> int:
        return len(json.loads(self._text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Manifest) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a manifest is frozen; cannot set {name!r}. Build another with Manifest.new(...)."
        )

    def __repr__(self) -> str:
        return f"Manifest({self['model']!r}, run_id={self.run_id!r})"

    _text: str


def to_json(value: object) -> str:
    """Write a value as canonical JSON: sorted keys, no spaces, NumPy numbers and arrays as Python's.

    NaN and the infinities are written as Python's reader knows them, since a timing or an option may be one.
    Raises `StorageError` for anything that JSON cannot hold.
    """
    try:
        # Twice, since keys that are numbers sort otherwise once they are text, and what is read must be what
        # was written.
        plain = json.loads(json.dumps(value, default=_plain))
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StorageError(
            f"cannot be stored as JSON: {error}. Give numbers, strings, lists and dicts."
        ) from error


def _plain(value: object) -> object:
    """Turn NumPy's values into Python's; refuse the rest, so that nothing is stored as its repr."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _version(name: str) -> str:
    """The installed version of a package, or "unknown" for one that runs from its source tree."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _python() -> str:
    return platform.python_version()


def _short(value: object) -> str:
    text = "nothing" if value is None else to_json(value)
    return text if len(text) <= 60 else text[:57] + "..."
