"""Run a kernel that is not accord's: it has what the others have, with the same bits however it is run."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from equal_draws import equal

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.hamiltonian import Hamiltonian
from accord.core import keys
from accord.core.errors import OptionError, StorageError
from accord.core.stats import Stat
from accord.kernels.base import ACCEPTANCE_RATE, AbstractKernel, Info, Standing, stats_of
from accord.mcmc.draws import Draws

OPTIONS: dict[str, Any] = dict(draws=300, warmup=200, chains=3, seed=4, progress=False, quiet=True)


def own_kernel() -> AbstractKernel:
    """A kernel of a class that no module holds: workers get it by value."""

    class Jump(AbstractKernel):
        """A random walk of which every other step is ten times as long."""

        stats = (ACCEPTANCE_RATE, Stat("is_long", "bool"))

        @property
        def adaptation(self) -> Hamiltonian:
            return Hamiltonian(0.3, "diagonal")

        def init(self, point: Any) -> Standing:
            return Standing.at(point)

        def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
            at = state.point.position.free
            is_long = keys.uniform(key, jnp.uint32(0), jnp.uint32(2), at.dtype) < 0.5
            step = tuning.step_size * jnp.where(is_long, 10.0, 1.0)
            free = at + step * tuning.metric.push(keys.normal(key, at.shape[0], 0, at.dtype))
            return replace(state.point.position, free=free), is_long

        def tell(self, key: Any, state: Standing, point: Any, pending: Any, tuning: Any, rarely: Any) -> Any:
            log_ratio = point.log_density - state.point.log_density
            moved, ratio, ending = state.decided(key, 1, point, log_ratio, tuning.is_probe)
            return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio, pending))

    return Jump()


@ac.model
def line(y: Any) -> None:
    a = ac.sample("a", dist.Normal(0, 3))
    b = ac.sample("b", dist.Normal(0, 3))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + b * np.linspace(-1, 1, len(y)), 0.5), obs=y)


MODEL = line(np.array([0.1, 0.4, 1.2, 1.1, 2.0]))


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(MODEL, own_kernel(), executor=infer.Serial(), **OPTIONS)


def test_it_draws_from_the_posterior_and_its_statistics_are_there(drawn: Draws) -> None:
    """Means are within five of their errors at a fixed seed: two of them, a false alarm of 6e-7 each."""
    exact = infer.sample(MODEL, draws=4000, warmup=300, chains=4, seed=0, progress=False, quiet=True)
    for name in ("a", "b"):
        found = drawn.summary(name)
        error = np.hypot(found["mcse_mean"][0], exact.summary(name)["mcse_mean"][0])
        assert abs(drawn[name].mean() - exact[name].mean()) < 5 * error
    assert drawn.stats["is_long"].dtype == bool and 0.3 < drawn.stats["is_long"].mean() < 0.7
    assert list(drawn.stats)[:5] == ["lp", "diverging", "non_finite", "acceptance_rate", "is_long"]


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(drawn: Draws, executor: Any) -> None:
    equal(infer.sample(MODEL, own_kernel(), executor=executor, **OPTIONS), drawn)


def test_a_stored_run_is_loaded_and_made_longer(drawn: Draws, tmp_path: Any) -> None:
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(MODEL, own_kernel(), store=store, **(OPTIONS | dict(draws=100)))
    assert infer.load(tmp_path / "run")["a"].shape == (3, 100)
    with pytest.raises(StorageError, match=r"'Jump'.*sampler="):
        infer.resume(tmp_path / "run", MODEL, quiet=True)
    equal(infer.resume(tmp_path / "run", MODEL, sampler=own_kernel(), quiet=True).extend(200), drawn)


def test_a_rule_ends_it(drawn: Draws) -> None:
    found = infer.sample(MODEL, own_kernel(), until=infer.ESS(30), **(OPTIONS | dict(draws=2000)))
    count = found["a"].shape[1]
    assert count < 2000
    np.testing.assert_array_equal(found["a"][:, :300], drawn["a"][:, :count])


def test_an_adaptation_of_another_kind_is_refused() -> None:
    class Odd(type(own_kernel())):
        @property
        def adaptation(self) -> Any:
            return infer.ChEES().adaptation

    with pytest.raises(OptionError, match="Odd: its adaptation must be an AbstractChainAdaptation"):
        infer.sample(MODEL, Odd(), **OPTIONS)
