"""Methods of classes are models, with the instance as `self`."""

import pickle
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.errors import DataError

X, Y = np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.0, 2.5])


@ac.model
def plain(x, y=None):
    """Regress y on x."""
    slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(slope * x, 1.0), obs=y)


class Study:
    """A study with a prior of its own."""

    attached = plain

    def __init__(self, scale):
        self.scale = scale

    @ac.model
    def line(self, x, y=None):
        """Regress y on x, with the prior of the study."""
        slope = ac.sample("slope", dist.Normal(0.0, self.scale))
        with ac.plate("row", len(x)):
            ac.sample("y", dist.Normal(slope * x, 1.0), obs=y)

    @ac.model
    def twice(self, x, y):
        ac.submodel(self.line(x, y), prefix="first")

    @staticmethod
    @ac.model
    def fixed(x, y=None):
        ac.submodel(plain(x, y), prefix="fixed")

    @ac.model
    @staticmethod
    def also_fixed(x, y=None):
        ac.submodel(plain(x, y), prefix="fixed")

    @classmethod
    @ac.model
    def of_class(cls, x, y=None):
        ac.submodel(cls(2.0).line(x, y), prefix=cls.__name__)

    @ac.model
    @classmethod
    def also_of_class(cls, x, y=None):
        ac.submodel(cls(2.0).line(x, y), prefix=cls.__name__)


class Narrow(Study):
    """Inherit `line`."""

    def line_of_parent(self, x, y):
        return super().line(x, y)


@dataclass(frozen=True)
class Plan:
    """A dataclass."""

    scale: float

    @ac.model
    def line(self, x, y=None):
        slope = ac.sample("slope", dist.Normal(0.0, self.scale))
        with ac.plate("row", len(x)):
            ac.sample("y", dist.Normal(slope * x, 1.0), obs=y)


class Network(eqx.Module):
    """A module of Equinox, with an array."""

    scale: jax.Array

    @ac.model
    def line(self, x, y=None):
        slope = ac.sample("slope", dist.Normal(0.0, self.scale))
        with ac.plate("row", len(x)):
            ac.sample("y", dist.Normal(slope * x, 1.0), obs=y)


def at_one(model):
    """The log density at one point."""
    return float(model.log_density()(np.ones(1)))


@pytest.mark.parametrize("make", [Study, Narrow, Plan, lambda scale: Network(np.asarray(scale))])
def test_each_instance_is_the_model_with_what_it_holds(make) -> None:
    one, other = at_one(make(1.0).line(X, Y)), at_one(make(3.0).line(X, y=Y))
    assert one == pytest.approx(at_one(plain(X, Y)))
    normal = [-0.5 / scale**2 - np.log(scale) for scale in (1.0, 3.0)]
    assert other - one == pytest.approx(normal[1] - normal[0])


def test_methods_call_each_other_and_those_of_a_parent() -> None:
    assert at_one(Study(1.0).twice(X, Y)) == pytest.approx(at_one(plain(X, Y)))
    assert at_one(Narrow(1.0).line_of_parent(X, Y)) == pytest.approx(at_one(plain(X, Y)))


def test_static_and_class_methods_need_no_instance() -> None:
    for model in (Study.fixed(X, Y), Study(9.0).fixed(X, Y), Study.also_fixed(X, Y)):
        assert [site.name for site in model.sites()] == ["fixed/slope", "fixed/y"]
    for model in (Narrow.of_class(X, Y), Narrow(9.0).of_class(X, Y), Narrow.also_of_class(X, Y)):
        assert [site.name for site in model.sites()] == ["Narrow/slope", "Narrow/y"]
        assert at_one(model) == pytest.approx(at_one(Study(2.0).line(X, Y)))


def test_a_model_that_is_an_attribute_of_a_class_takes_no_self() -> None:
    assert at_one(Study(9.0).attached(X, Y)) == at_one(plain(X, Y))


def test_a_bound_model_is_named_and_bound_as_a_function_is() -> None:
    line = Study(1.0).line
    assert (line.name, line.__doc__) == ("line", "Regress y on x, with the prior of the study.")
    assert set(line(X).arguments) == {"x", "y"}
    assert line == line
    with pytest.raises(
        DataError, match=r"model 'line': missing argument 'x'\. unknown argument 'z'.*\(x, y=None\)"
    ):
        line(z=X)


def test_models_of_instances_travel_to_other_processes() -> None:
    for model in (Study(2.0).line(X, Y), Narrow(2.0).line(X, Y), Study.fixed(X, Y), Study.of_class(X, Y)):
        assert at_one(pickle.loads(pickle.dumps(model))) == at_one(model)
    assert pickle.loads(pickle.dumps(Study.line)) is Study.line
