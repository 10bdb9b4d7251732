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
PACKAGES = (("numpyro", "blackjax"), ("nutpie",), ("pymc",), ("pystan",))


def default_folder() -> Path:
    """Under the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "accord" / "peers"


def python_of(folder: Path) -> Path:
    """The interpreter of the environment in `folder`; it is made, with what installs, if it is absent."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if python.exists():
        return python
    if folder.resolve().is_relative_to(PROJECT):
        raise SystemExit(f"--env must be outside the project, got {folder}.")
    print(f"Making the peers' environment in {folder}; it takes minutes, once.", file=sys.stderr)
    venv.create(folder, with_pip=True)
    jax = [f"jax=={version('jax')}"]  # the compiler is accord's
    for packages in PACKAGES:
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *jax, *packages]
        if subprocess.run(command, check=False).returncode:
            print(f"Could not install {', '.join(packages)}: left out.", file=sys.stderr)
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


def fresh_environment(folder: Path | None) -> dict[str, str]:
    """Variables for a process that must find nothing compiled: every cache is off, or in the empty `folder`."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAX_", "XLA_", "PYTENSOR_"))
    }
    variables.pop("CI", None)  # NumPyro hides its progress bar where it is set
    variables |= {
        "ACCORD_COMPILATION_CACHE": "off",
        "JAX_ENABLE_COMPILATION_CACHE": "false",
        "JAX_PLATFORMS": "cpu",
    }
    if folder is not None:
        # Matplotlib's list of fonts, which some import, is no compiled program: it stays where it is.
        fonts = os.environ.get("MPLCONFIGDIR", str(Path.home() / ".cache" / "matplotlib"))
        variables |= {
            "XDG_CACHE_HOME": str(folder),
            "NUMBA_CACHE_DIR": str(folder / "numba"),
            "PYTENSOR_FLAGS": f"base_compiledir={folder / 'pytensor'}",
            "MPLCONFIGDIR": fonts,
        }
    return variables
