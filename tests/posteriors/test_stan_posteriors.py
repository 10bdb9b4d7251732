"""Draw from posteriors whose programs are Stan's, and compare with accord's models and with posteriordb's draws.

Of each, mean and standard deviation of every parameter lie within 4.5 joint Monte Carlo standard errors of the
reference's. One that fails is drawn once more: with other seeds, one run in 5 million would fail by chance.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from agreement import disagreements
from laws import once_more_in_doubt
from posteriors import data_of, model_of

from accord import infer
from accord.core.precision import scope
from accord.interop import stan as door

pytestmark = pytest.mark.stan
pytest.importorskip("httpstan")

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "peers" / "stan"
NAMES = (
    *("eight_schools", "kidscore_interaction", "logearn_interaction", "nes", "garch11", "arK", "blr"),
    *("low_dim_gauss_mix", "logmesquite", "gp_regr", "gp_pois_regr", "kilpisjarvi", "hmm_example", "arma11"),
)
OPTIONS = {"gp_pois_regr": dict(sampler=infer.NUTS(target_accept=0.95), draws=4000)}


def target_of(name):
    data = data_of(name)
    sizes = {f"{key}_{axis}": n for key, value in data.items() for axis, n in enumerate(np.shape(value))}
    program = PROGRAMS / f"{name}.stan"
    declared = re.findall(r"(\w+);", program.read_text().partition("parameters {")[0])
    return door.target(program, {key: each for key, each in {**data, **sizes}.items() if key in declared})


@pytest.mark.parametrize("name", NAMES)
def test_log_densities_differ_between_points_as_those_of_accords_models(name):
    """In the model's own space, since the maps from unconstrained numbers differ."""
    density, other = model_of(name).log_density(), target_of(name)
    with scope("float64"):
        ours, theirs = [], []
        for number in range(3):
            q = np.random.default_rng(number).uniform(-0.5, 0.5, density.dim)
            values = density.constrain(q)
            ours.append(density(q) - density.parts(q).jacobian)
            at = other.unconstrain({entry.name: values[entry.name] for entry in other.layout.unknowns})
            theirs.append(other(at) - other.program.parts(at, other.data).jacobian)
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@once_more_in_doubt(0, 1)
def test_draws_agree_with_the_reference(name, seed):
    options = dict(quiet=True, progress=False, **OPTIONS.get(name, {}))
    draws = infer.sample(target_of(name), seed=seed, **options)
    failures = disagreements(name, draws.sites, 4.5)
    assert not failures, "\n".join(failures)


def test_a_mode_is_that_of_accords_model():
    mode, other = (infer.find_mode(target) for target in (target_of("blr"), model_of("blr")))
    for name in ("beta", "sigma"):
        np.testing.assert_allclose(mode.values[name], other.values[name], rtol=1e-6)
        np.testing.assert_allclose(mode.standard_errors[name], other.standard_errors[name], rtol=1e-4)
