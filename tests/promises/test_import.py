"""Hold what is promised of `import accord`: it is cheap, starts nothing and sets nothing."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import accord

# Packages that cost time to import and that most programs never need.
LATE = (
    "arviz_base",
    "arviz_stats",
    "diffrax",
    "flax",
    "formulae",
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


# Rooms that only a run needs: a program that writes models, or looks at one, does without.
ROOMS_OF_RUNS = {
    *(
        "adaptation",
        "cli",
        "density",
        "diagnose",
        "executors",
        "interop",
        "kernels",
        "mcmc",
        "numpyro",
        "optimise",
        "programs",
        "report",
    ),
    *("particles", "resampling", "runs", "storage", "guides", "nested", "smc", "vi"),
}


def test_importing_loads_no_room_that_only_a_run_needs():
    listed = "import sys; import accord; from accord import infer; print(*(n for n in sys.modules if 'accord.' in n))"
    assert {name.split(".")[1] for name in run(listed).split()} & ROOMS_OF_RUNS == set()


# Of these rooms, a run of a model with real observations, by NUTS, in threads and in memory, needs nothing.
OF_OTHER_RUNS = {
    *("density.blaming", "density.eliminate.collapsed", "density.eliminate.discrete.summed"),
    *("distributions.mixtures", "executors.clusters", "executors.gangs", "executors.processes"),
    *("kernels.gibbs", "kernels.minibatches", "kernels.pmmh", "mcmc.cause", "mcmc.pilot", "particles"),
    *("report.model_graph", "resampling", "runs.stopping.described", "storage.run_folder"),
}


def test_a_plain_run_loads_nothing_that_only_others_need():
    listed = """
import sys
import accord as ac
import accord.distributions as dist
from accord import infer

@ac.model
def normal(y=None):
    mu = ac.sample("mu", dist.Normal(0, 1))
    scale = ac.sample("scale", dist.HalfNormal(1))
    ac.sample("y", dist.Normal(mu, scale), obs=y)

draws = infer.sample(normal(1.0), draws=10, warmup=10, chains=1, progress=False, quiet=True)
str(draws.notices), str(draws.summary())
print(*(name for name in sys.modules if name.startswith("accord.")))
"""
    loaded = run(listed).split()
    found = {each for each in OF_OTHER_RUNS for name in loaded if f"{name}.".startswith(f"accord.{each}.")}
    assert found == set()


def test_every_name_of_a_stub_is_found_where_it_says():
    package = Path(accord.__file__).parent
    for stub in package.rglob("__init__.pyi"):
        module = importlib.import_module(".".join(("accord", *stub.parent.relative_to(package).parts)))
        names = [name for name in module.__all__ if getattr(module, name, None) is None]
        assert module.__all__, stub
        assert names == [], stub


def test_every_public_name_of_running_is_found_when_it_is_asked_for():
    listed = """
import accord
from accord import infer
assert accord.LogDensity.__name__ == "LogDensity" and "LogDensity" in dir(accord)
assert {"sample", "NUTS", "waic"} <= set(infer.__all__) == set(dir(infer))
print(*(name for name in infer.__all__ if not callable(getattr(infer, name))))
"""
    assert run(listed).split() == ["guides"]  # which has names of its own


def test_the_guides_are_found_where_fits_are():
    run("""
import sys
from accord import infer
assert "optax" not in sys.modules and "accord.guides" not in sys.modules
assert infer.guides.MeanField().is_factorised and infer.guides is sys.modules["accord.guides"]
""")


def test_the_first_summary_imports_nothing_but_accord():
    listed = """
import sys
import numpy as np
from accord import infer
infer.load
from accord.report.summary import summarise
before = set(sys.modules)
str(summarise({"x": np.random.default_rng(0).normal(size=(4, 100, 3))}))
print(*(name for name in set(sys.modules) - before))
"""
    assert {name.split(".")[0] for name in run(listed).split()} & {*LATE, "scipy"} == set()


@pytest.mark.slow
def test_the_command_line_starts_without_what_only_some_commands_need():
    listed = "import sys, jax, accord.cli; print(*(name for name in sys.modules))"
    late = {*LATE, "optax", "scipy.interpolate", "scipy.special", "accord.vi", "accord.calibration"} - {
        "typer",
        "rich",
    }
    assert set(run(listed).split()) & late == set()


def test_importing_changes_no_setting_of_jax():
    run(SETTINGS)


def test_importing_starts_no_device():
    # A platform that does not exist fails as soon as anything is computed.
    run("import accord", JAX_PLATFORMS="nowhere")
