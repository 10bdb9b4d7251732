"""Make the virtual environment of the peers, which is none of the project's business, and say what it holds."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent

# Installed one after the other, so that one that fails takes nothing else with it.
PACKAGES = (("numpyro", "blackjax", "diffrax"), ("nutpie",), ("pymc",), ("pystan",))


def default_folder() -> Path:
    """Under the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "accord" / "peers"


def python_of(folder: Path, packages: Sequence[tuple[str, ...]] = PACKAGES) -> Path:
    """The interpreter of the environment in `folder`; it is made, with what installs, if it is absent.

    - `packages`: groups of them, each installed by itself.
    """
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if python.exists():
        return python
    if folder.resolve().is_relative_to(PROJECT):
        raise SystemExit(f"--env must be outside the project, got {folder}.")
    print(f"Making the peers' environment in {folder}; it takes minutes, once.", file=sys.stderr)
    venv.create(folder, with_pip=True)
    jax = [f"jax=={version('jax')}"]  # the compiler is accord's
    for group in packages:
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *jax, *group]
        if subprocess.run(command, check=False).returncode:
            print(f"Could not install {', '.join(group)}: left out.", file=sys.stderr)
    return python


def versions(python: Path, packages: Sequence[str]) -> dict[str, str]:
    """Versions of those of `packages` that can be imported there."""
    code = (
        "import importlib, importlib.metadata as m, json, sys\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        importlib.import_module({'pystan': 'stan'}.get(name, name))\n"
        "        found[name] = m.version(name)\n"
        "    except Exception as error:\n"
        "        print(f'{name}: {error}', file=sys.stderr)\n"
        "print(json.dumps(found))"
    )
    ran = subprocess.run(
        [str(python), "-c", code, *packages],
        capture_output=True,
        text=True,
        check=True,
        env=fresh_environment(None),
    )
    return json.loads(ran.stdout.splitlines()[-1])


def commit() -> str:
    """Revision of this checkout, or nothing where there is no git."""
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def fresh_environment(folder: Path | None) -> dict[str, str]:
    """Variables for a process that must find nothing compiled: every cache is off, or in the empty `folder`."""
    variables = _cleaned() | {"ACCORD_COMPILATION_CACHE": "off", "JAX_ENABLE_COMPILATION_CACHE": "false"}
    return variables if folder is None else variables | _caches_in(folder)


def kept_environment(folder: Path, *, is_accord: bool) -> dict[str, str]:
    """Variables for a process that keeps what it compiles in `folder`, for the next one.

    Accord does so by itself. JAX needs to be told, and to keep what takes little time to compile too.
    """
    variables = _cleaned() | _caches_in(folder)
    if not is_accord:
        variables |= {
            "JAX_COMPILATION_CACHE_DIR": str(folder / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    return variables


def _cleaned() -> dict[str, str]:
    """Those of this process, without what would steer compilers, on the CPU."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAX_", "XLA_", "PYTENSOR_", "ACCORD_"))
    }
    variables.pop("CI", None)  # NumPyro hides its progress bar where it is set
    # Where bytecode may not be written, what is imported in the midst of a run would be compiled by each.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables | {"JAX_PLATFORMS": "cpu"}


def _caches_in(folder: Path) -> dict[str, str]:
    """Every library's cache, in a folder."""
    # Matplotlib's list of fonts, which some import, is no compiled program: it stays where it is.
    fonts = os.environ.get("MPLCONFIGDIR", str(Path.home() / ".cache" / "matplotlib"))
    return {
        "XDG_CACHE_HOME": str(folder),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={folder / 'pytensor'}",
        "MPLCONFIGDIR": fonts,
    }
