"""Load compiled Stan programs into this process, and tell XLA of them."""

import ctypes
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...programs.cache import ProgramCache
from .build import built, digest_of
from .toolchain import Toolchain

_HANDLERS = ("value", "gradient", "product", "values", "unconstrained")


@dataclass(frozen=True, eq=False)
class Described:
    """Names, shapes and counts of what a program computes with its data.

    **Fields**
    - `parameters`, `others`: shapes by name, in the program's order; others are transformed parameters and generated
      quantities.
    - `num_smooth`: how many numbers come before generated quantities.
    - `unconstrained`: how many unconstrained numbers each parameter has.
    - `names` of all numbers, in Stan's order, as `L.2.1`.
    """

    parameters: Mapping[str, tuple[int, ...]]
    others: Mapping[str, tuple[int, ...]]
    num_smooth: int
    unconstrained: Mapping[str, int]
    names: tuple[str, ...]


class Library:
    """A compiled Stan program. `prefix` begins the names of its handlers in XLA."""

    def __init__(self, path: str, prefix: str):
        self.prefix = prefix
        self._functions = ctypes.CDLL(path)
        self._functions.accord_is_loaded.restype = ctypes.c_bool
        for name in _HANDLERS:
            capsule = jax.ffi.pycapsule(getattr(self._functions, f"accord_{name}"))
            jax.ffi.register_ffi_target(f"{prefix}_{name}", capsule, platform="cpu")

    @staticmethod
    def of(source: str) -> "Library":
        """Load the library of a translated program, once for each process; compile it if that was never done."""

        def load() -> Library:
            tools = Toolchain.find()
            digest = digest_of(source, tools)
            with built(source, digest, tools) as path:
                return Library(str(path), f"accord_stan_{digest}")

        return _LIBRARIES.get(source, load)[0]

    def load(self, model: int, data: Mapping[str, np.ndarray]) -> None:
        """Give the program its data under their key, once for each process. Raises `ValueError` with Stan's message."""
        if self._functions.accord_is_loaded(ctypes.c_int64(model)):
            return
        names, arrays = [*data], [*data.values()]
        is_whole = [each.dtype.kind == "i" for each in arrays]
        reals = _joined([each for each, whole in zip(arrays, is_whole, strict=True) if not whole], np.float64)
        wholes = _joined([each for each, whole in zip(arrays, is_whole, strict=True) if whole], np.int32)
        error = self._text(
            "load",
            ctypes.c_int64(model),
            ctypes.c_int64(len(names)),
            (ctypes.c_char_p * len(names))(*(name.encode() for name in names)),
            _pointer(np.asarray(is_whole, np.uint8)),
            _pointer(np.asarray([each.ndim for each in arrays], np.int64)),
            _pointer(np.asarray([size for each in arrays for size in each.shape], np.int64)),
            _pointer(reals),
            _pointer(wholes),
        )
        if error is not None:
            raise ValueError(error)

    def describe(self, model: int) -> Described:
        """Describe what a model computes."""
        lines = [
            line.split(" ") for line in (self._text("describe", ctypes.c_int64(model)) or "").split("\n")
        ]
        shapes: dict[str, dict[str, tuple[int, ...]]] = {"p": {}, "t": {}, "g": {}}
        counts: dict[str, int] = {}
        names: tuple[str, ...] = ()
        for kind, *words in lines:
            if kind in shapes:
                shapes[kind][words[0]] = tuple(map(int, words[1:]))
            elif kind == "u":
                counts = dict.fromkeys(shapes["p"], 0)
                for word in filter(None, words):
                    counts[word.partition(".")[0]] += 1
            else:
                names = tuple(word for word in words if word)
        num_smooth = sum(int(np.prod(shape)) for kind in "pt" for shape in shapes[kind].values())
        return Described(shapes["p"], {**shapes["t"], **shapes["g"]}, num_smooth, counts, names)

    def messages(self, model: int) -> dict[str, int]:
        """Return what a model has printed, and why it refused positions, with how often, in this process."""
        records = (self._text("messages", ctypes.c_int64(model)) or "").split("\x1e")
        pairs = (each.partition("\x1f") for each in records if each)
        return {text.strip(): int(count) for count, _, text in pairs}

    def refusal(self, model: int, numbers: np.ndarray, *, is_constrained: bool = False) -> str:
        """Return why a model refuses an unconstrained position, or constrained values; empty if it does not."""
        given = np.ascontiguousarray(numbers, np.float64)
        size = ctypes.c_int64(given.size)
        return self._text("refusal", ctypes.c_int64(model), is_constrained, _pointer(given), size) or ""

    def _text(self, name: str, *arguments: Any) -> str | None:
        """Call a C function that returns a text, or null."""
        function = getattr(self._functions, f"accord_{name}")
        function.restype = ctypes.c_void_p
        pointer = function(*arguments)
        if pointer is None:
            return None
        try:
            return ctypes.string_at(pointer).decode(errors="replace")
        finally:
            free = self._functions.accord_free
            free.restype = None
            free(ctypes.c_void_p(pointer))


_LIBRARIES: ProgramCache[Library] = ProgramCache(64)


def key_of(data: Mapping[str, np.ndarray]) -> int:
    """Return the key of a model: a hash of its data, 63 bits."""
    found = hashlib.sha256()
    for name, each in data.items():
        found.update(repr((name, each.dtype.str, each.shape)).encode())
        found.update(np.ascontiguousarray(each).tobytes())
    return int.from_bytes(found.digest()[:8]) >> 1


def _joined(arrays: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
    """Write arrays one after the other, columns first, as Stan reads them."""
    return np.concatenate([np.zeros(0, dtype), *(each.astype(dtype).ravel(order="F") for each in arrays)])


def _pointer(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)  # which keeps the array alive
