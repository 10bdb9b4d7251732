"""Put a handler on a model that is not accord's: it composes with plates, seeds, conditions and scans."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import SiteError
from accord.language.handler import AbstractHandler
from accord.language.handlers.handled import put_on

Y = np.array([0.3, -0.1, 0.2, 0.0, 5.0])


class Robust(AbstractHandler):
    """Give normal observations the tails of Student's, with `df` degrees of freedom."""

    df: Any

    def process(self, site: Any) -> Any:
        if not (site.is_observed and isinstance(site.distribution, dist.Normal)):
            return site
        return replace(
            site, distribution=dist.StudentT(self.df, site.distribution.loc, site.distribution.scale)
        )


class Damped(AbstractHandler):
    """Raise the density of one site to a power."""

    name: str
    power: Any

    def process(self, site: Any) -> Any:
        if site.name != self.name:
            return site
        return replace(site, scale=self.power if site.scale is None else self.power * site.scale)

    def check(self, sites: Any) -> None:
        if self.name not in sites:
            raise SiteError(f"Damped: the model has no site {self.name!r}.")


@ac.model
def level(num_rows: int, y: Any = None) -> Any:
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", num_rows):
        return ac.sample("y", dist.Normal(mean, 1.0), obs=y)


def log_density(model: Any, mean: float) -> float:
    return float(model.log_density()(np.array([mean])))


def of_prior(mean: float) -> Any:
    return dist.Normal(0, 10).log_prob(mean)


def test_sites_in_a_plate_have_its_batch() -> None:
    found = log_density(level(5, Y).inside_of(Robust(2.0)), 0.1)
    assert found == pytest.approx(float(of_prior(0.1) + dist.StudentT(2.0, 0.1, 1.0).log_prob(Y).sum()))


def test_handlers_apply_from_the_inside_out() -> None:
    of_normal, of_student = (
        each.log_prob(Y).sum() for each in (dist.Normal(0.1, 1), dist.StudentT(2.0, 0.1, 1))
    )
    later = level(5).inside_of(Robust(2.0)).condition({"y": Y})
    sooner = level(5).condition({"y": Y}).inside_of(Robust(2.0))
    assert log_density(later, 0.1) == pytest.approx(float(of_prior(0.1) + of_normal))
    assert log_density(sooner, 0.1) == pytest.approx(float(of_prior(0.1) + of_student))


def test_weights_multiply() -> None:
    model = handlers.scale(level(5, Y).inside_of(Damped("y", 0.5)), scale=3.0)
    expected = 3 * (of_prior(0.1) + 0.5 * dist.Normal(0.1, 1).log_prob(Y).sum())
    assert log_density(model, 0.1) == pytest.approx(float(expected))


def test_a_seed_draws_what_it_made_of_a_site() -> None:
    class Shifted(AbstractHandler):
        def process(self, site: Any) -> Any:
            return replace(site, distribution=dist.Normal(100.0, 1.0)) if site.name == "mean" else site

    inside = handlers.seed(level(5).inside_of(Shifted()), 0)
    outside = handlers.seed(level(5), 0).inside_of(Shifted())
    assert np.all(np.abs(inside() - 100) < 10)
    np.testing.assert_array_equal(inside(), outside())


def test_it_is_put_on_functions_of_statements_and_on_part_of_a_model() -> None:
    def part(y: Any) -> None:
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(0, 1), obs=y)

    @ac.model
    def whole(y: Any) -> None:
        put_on(part, Robust(3.0))(y)
        ac.sample("z", dist.Normal(0, 1), obs=1.0)

    sites = handlers.trace(whole(Y)).get_trace()
    assert isinstance(sites["y"].distribution, dist.StudentT) and isinstance(
        sites["z"].distribution, dist.Normal
    )


def test_it_is_asked_in_scans() -> None:
    @ac.model
    def walk(y: Any) -> None:
        rate = ac.sample("rate", dist.Normal(0, 1))

        def step(state: Any, value: Any) -> Any:
            ac.sample("y", dist.Normal(rate * state, 1.0), obs=value)
            return value, None

        ac.scan(step, 0.0, y)

    plain, damped = (log_density(model, 0.5) for model in (walk(Y), walk(Y).inside_of(Damped("y", 0.25))))
    prior = float(dist.Normal(0, 1).log_prob(0.5))
    assert damped - prior == pytest.approx(0.25 * (plain - prior))


def test_names_that_the_model_lacks_are_refused() -> None:
    with pytest.raises(SiteError, match="Damped: the model has no site 'x'"):
        level(5, Y).inside_of(Damped("x", 0.5)).log_density()


def test_other_values_of_its_arrays_compile_nothing() -> None:
    options: dict[str, Any] = dict(draws=20, warmup=20, chains=1, progress=False, quiet=True)
    first = infer.sample(level(5, Y).inside_of(Robust(np.array(2.0))), **options)
    second = infer.sample(level(5, Y).inside_of(Robust(np.array(3.0))), **options)
    assert second.timings["compile"] < 0.01 * first.timings["compile"]  # it is found among the programs
    assert (first["mean"] != second["mean"]).any()


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(executor: Any) -> None:
    options: dict[str, Any] = dict(draws=100, warmup=100, chains=2, progress=False, quiet=True)
    model = level(5, Y).inside_of(Robust(2.0))
    expected = infer.sample(model, executor=infer.Serial(), **options)
    np.testing.assert_array_equal(infer.sample(model, executor=executor, **options)["mean"], expected["mean"])


def test_it_is_differentiated_and_predicted_with() -> None:
    model = level(5, Y).inside_of(Robust(2.0))
    density = model.log_density()
    slope = jax.grad(lambda x: density(x))(np.array([0.1]))
    assert np.isfinite(slope).all()
    draws = infer.sample(model, draws=50, warmup=50, chains=1, progress=False, quiet=True)
    assert infer.predict(draws, model, quiet=True)["y"].shape == (1, 50, 5)
