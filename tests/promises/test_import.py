"""Hold what is promised of `import accord`: it is cheap, starts nothing and sets nothing."""

import os
import subprocess
import sys

# Packages that cost time to import and that most programs never need.
LATE = (
    "arviz_base",
    "arviz_stats",
    "diffrax",
    "flax",
    "joblib",
    "matplotlib",
    "pandas",
    "rich",
    "scipy.stats",
    "typer",
)
LATE += ("xarray", "zarr")

SETTINGS = """
import jax
def settings():
    return {name: getattr(jax.config, name) for name in dir(jax.config) if name.startswith("jax_")}
before = settings()
import accord
assert settings() == before, {name: value for name, value in settings().items() if before[name] != value}
"""


def run(code: str, **environment: str) -> str:
    """Run code in a fresh process and return what it printed."""
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_importing_imports_nothing_that_can_wait():
    # JAX itself may import some of these: only what accord adds counts.
    listed = "import sys, jax; before = set(sys.modules); import accord; print(*set(sys.modules) - before)"
    assert set(run(listed).split()) & set(LATE) == set()


def test_importing_changes_no_setting_of_jax():
    run(SETTINGS)


def test_importing_starts_no_device():
    # A platform that does not exist fails as soon as anything is computed.
    run("import accord", JAX_PLATFORMS="nowhere")
