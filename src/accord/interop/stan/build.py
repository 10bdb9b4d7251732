"""Compile a translated Stan program, with the bridge to XLA, to a shared library that is kept on disk."""

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import jax

from ...core.errors import ModelError
from ...programs.cache import private_folder
from .toolchain import WORD, Toolchain

_BRIDGE = Path(__file__).with_name("bridge.cpp")

# Each library has its own copies of Stan's global objects: two of them may be of different versions. Each thread has
# its own stack of automatic differentiation. httpstan's libraries are compiled for the old ABI of strings.
_FLAGS = [
    *("-O1", "-std=c++17", "-fPIC", "-shared", "-w", "-fvisibility=hidden", "-fno-gnu-unique"),
    *("-DSTAN_THREADS", "-D_REENTRANT", "-D_GLIBCXX_USE_CXX11_ABI=0"),
]
_SUNDIALS = ("cvodes", "idas", "kinsol", "nvecserial")
_NAME = "program.so"


def digest_of(source: str, tools: Toolchain) -> str:
    """Return the name of the library of a program, which tells all that it was made of."""
    words = [
        source,
        _BRIDGE.read_text(),
        *arguments(tools),
        tools.version,
        tools.compiler_version,
        importlib.metadata.version("jaxlib"),
        platform.machine(),
    ]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


@contextlib.contextmanager
def built(source: str, digest: str, tools: Toolchain) -> Iterator[Path]:
    """Give the path of the compiled library, which is there at least until the end of the scope.

    A process that compiles holds a lock, for which others wait. Without a folder for the cache it is compiled anew.

    **Raises** `ModelError` with the compiler's message.
    """
    folder = private_folder("stan")
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="accord-stan-") as place:
            path = Path(place, _NAME)
            compiled(source, path, tools)
            yield path
        return
    own = folder / digest
    own.mkdir(mode=0o700, exist_ok=True)
    path = own / _NAME
    if not path.exists():
        with _locked(own):
            if not path.exists():
                compiled(source, path, tools)
    yield path


def compiled(
    source: str, path: Path, tools: Toolchain, calls: Path = _BRIDGE, further: Sequence[str] = ()
) -> None:
    """Compile to a file beside `path`, and give it its name once it is complete.

    **Arguments**: `source` of the program; `calls`, C++ that is compiled after it; `further` arguments of the compiler.

    **Raises** `ModelError` with the compiler's message.
    """
    with tempfile.TemporaryDirectory(prefix="underway-", dir=path.parent) as place:
        header, library = Path(place, "program.hpp"), Path(place, _NAME)
        header.write_text(source)
        command = [tools.compiler, *arguments(tools), *further, "-include", str(header), str(calls)]
        said = subprocess.run(
            [*command, "-o", str(library), *_linked(tools)], capture_output=True, text=True, check=False
        )
        if said.returncode:
            raise ModelError(
                f"{WORD}: {tools.compiler} could not compile the program that stanc translated (exit status "
                f"{said.returncode}). It needs about 2 GB of memory. It says:\n\n{said.stderr.strip()[-2000:]}"
            )
        os.replace(library, path)


def arguments(tools: Toolchain) -> list[str]:
    """Return the arguments with which all that belongs to a library is compiled."""
    return [*_FLAGS, f"-I{tools.include}", f"-I{jax.ffi.include_dir()}", f"-Wl,-rpath,{tools.libraries}"]


def _linked(tools: Toolchain) -> list[str]:
    return [f"-L{tools.libraries}", "-ltbb", *(f"-lsundials_{each}" for each in _SUNDIALS)]


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, if its file system has locks: without, two processes would do the same work."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
