"""Run scripts unchanged, in child processes: NumPyro itself must not have been imported there."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import argparse
import jax
import numpyro
import numpyro.distributions as dist
from numpyro.contrib.nested_sampling import NestedSampler
from numpyro.infer import MCMC, NUTS, SA
from numpyro.infer.autoguide import AutoNormal

assert numpyro.__version__.startswith("0.21.0")

def model(y):
    numpyro.sample("y", dist.Normal(numpyro.sample("mu", dist.Normal(0, 1)), 1), obs=y)

parser = argparse.ArgumentParser()
parser.add_argument("--num-samples", type=int)
options = parser.parse_args()
mcmc = MCMC(NUTS(model), num_warmup=100, num_samples=options.num_samples, progress_bar=False)
mcmc.run(jax.random.PRNGKey(0), 1.5)
print(numpyro.__name__, mcmc.get_samples()["mu"].shape)
"""


def _python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def test_a_script_runs_unchanged_with_its_own_arguments(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    code = "import sys; from accord.cli import main; main(sys.argv[1:])"
    ran = _python(code, "run-numpyro", str(path), "--num-samples", "30")
    assert ran.returncode == 0, ran.stderr
    assert "accord.numpyro (30,)" in ran.stdout


def test_a_script_that_is_not_there_is_named() -> None:
    ran = _python("import sys; from accord.cli import main; main(sys.argv[1:])", "run-numpyro", "no.py")
    assert ran.returncode == 2
    assert "there is no file 'no.py'" in ran.stderr


def test_the_name_is_given_back_after_the_with() -> None:
    ran = _python(
        "import sys\n"
        "from accord.numpyro import install\n"
        "with install(version='0.21.0'):\n"
        "    import numpyro, numpyro.infer.hmc, numpyro.distributions.constraints as c\n"
        "    from numpyro.infer.hmc import hmc\n"
        "    from numpyro.contrib.ecs_proxies import taylor_proxy\n"
        "    assert numpyro.__version__ == '0.21.0' and c.positive is not None\n"
        "    try:\n"
        "        taylor_proxy(None)\n"
        "    except Exception as error:\n"
        "        print(error)\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'numpyro']\n"
        "import accord.numpyro; print(accord.numpyro.__version__)\n"
    )
    assert ran.returncode == 0, ran.stderr
    assert "`numpyro.contrib.ecs_proxies.taylor_proxy` is not in accord: `HMCECS` expands" in ran.stdout
    assert "0.22.0" in ran.stdout


def test_numpyro_itself_is_not_taken_the_name_from() -> None:
    ran = _python(
        "import sys, types\n"
        "sys.modules['numpyro'] = types.ModuleType('numpyro')\n"
        "from accord.numpyro import install\n"
        "with install():\n"
        "    pass\n"
    )
    assert ran.returncode == 1
    assert "NumPyro itself has been imported in this process" in ran.stderr


def test_modules_keep_their_own_specs() -> None:
    ran = _python(
        "from accord.numpyro import install\n"
        "import accord.numpyro.infer as infer\n"
        "with install():\n"
        "    import numpyro.infer.util, numpyro.diagnostics\n"
        "    assert numpyro.infer is infer\n"
        "print(infer.__spec__.name, infer.__name__, infer.__loader__)\n"
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("accord.numpyro.infer accord.numpyro.infer")
    assert "SourceFileLoader" in ran.stdout
