"""Check models whose unknowns are sampled together, through a bijector."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers, infer
from accord.core.errors import OptionError, SiteError
from accord.reparam import LocScale, Neutra

Y = np.array([0.5, -1.0, 2.0])
TRIL = np.tril(np.arange(1.0, 26.0).reshape(5, 5) % 4 - 1.5, -1) + np.diag(np.arange(1.0, 6.0))
AFFINE = bijectors.LowerCholeskyAffine(np.linspace(-1.0, 1.0, 5), TRIL)


@ac.model
def groups(y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    with ac.plate("group", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, 1.0), obs=y)


@ac.model
def walk(y):
    scale = ac.sample("scale", dist.HalfNormal(1.0))

    def step(previous, observed):
        theta = ac.sample("theta", dist.LogNormal(0.9 * previous, scale))
        ac.sample("y", dist.Normal(theta, 1.0), obs=observed)
        return jnp.log(theta), None

    last, _ = ac.scan(step, 0.0, y)

    def wide():
        ac.sample("end", dist.LogNormal(0.0, 2.0))

    def narrow():
        ac.sample("end", dist.LogNormal(last, 0.5))

    ac.cond(scale > 1.0, wide, narrow)


@ac.model
def within(y):
    """A walk whose supports depend on the step."""
    scale = ac.sample("scale", dist.HalfNormal(1.0))

    def step(previous, observed):
        theta = ac.sample("theta", dist.Uniform(previous - scale, previous + 1.0))
        with ac.plate("place", 2):
            ac.sample("x", dist.Normal(theta, 1.0).truncate(low=theta))
        ac.sample("y", dist.Normal(theta, 1.0), obs=observed)
        return theta, None

    ac.scan(step, 0.0, y)


@ac.model
def branching():
    def low(z):
        return ac.sample("theta", dist.Uniform(z - 1.0, z))

    def high(z):
        return ac.sample("theta", dist.Uniform(z, z + 1.0))

    z = ac.sample("z", dist.Normal(0.0, 1.0))
    ac.cond(z > 0.0, low, high, z)


def radial(dim):
    """A map that is not linear."""
    return bijectors.Radial(np.linspace(0.1, 0.5, dim), 0.4, 0.7)


CASES = {
    "affine": (lambda: groups(Y), AFFINE),
    "not linear": (lambda: groups(Y), radial(5)),
    "of a reparameterised model": (lambda: handlers.reparam(groups(Y), {"theta": LocScale()}), radial(5)),
    "of a weighed model": (lambda: handlers.scale(groups(Y), scale=0.3), AFFINE),
    "of a conditioned model": (lambda: groups(Y) | {"tau": 1.5}, radial(4)),
    "of a scan and a branch": (lambda: walk(Y), radial(5)),
    "of a scan with other supports in each step": (lambda: within(Y), radial(10)),
    "of a scan with other supports, weighed": (lambda: handlers.scale(within(Y), scale=0.3), radial(10)),
    "of a branch with other supports": (lambda: branching(), radial(2)),
    "of a weighed scan": (lambda: handlers.scale(walk(Y), scale=0.3), AFFINE),
    "of a model in a scope": (lambda: handlers.scope(groups(Y), prefix="a"), AFFINE),
}


@pytest.mark.parametrize("case", CASES)
def test_the_log_density_changes_by_the_volume_alone(case):
    model, bijector = CASES[case]
    with jax.enable_x64(True):
        written, changed = model().log_density(), handlers.reparam(model(), Neutra(bijector)).log_density()
        assert [e.name.rpartition("/")[2] for e in changed.layout.entries] == ["unknowns_base"]
        place = jax.random.normal(jax.random.key(3), (changed.dim,))
        position, volume = bijector.forward_and_log_det(place)
        np.testing.assert_allclose(changed(place), written(position) + volume, rtol=1e-12)
        found = changed.constrain(place)
        for name, value in written.constrain(position).items():
            np.testing.assert_allclose(found[name], value, rtol=1e-12)


def test_a_weight_put_on_afterwards_is_about_the_sites():
    with jax.enable_x64(True):
        outside = handlers.scale(handlers.reparam(groups(Y), Neutra(AFFINE)), scale=0.3).log_density()
        inside = handlers.reparam(handlers.scale(groups(Y), scale=0.3), Neutra(AFFINE)).log_density()
        place = jnp.linspace(-1.0, 0.5, 5)
        np.testing.assert_allclose(outside(place), inside(place), rtol=1e-12)


def test_sites_keep_their_dims():
    layout = handlers.reparam(groups(Y), Neutra(AFFINE)).log_density().layout
    assert layout["theta"].dims == ("group",) and layout["theta"].kind == "deterministic"


def test_what_is_put_on_a_submodel_joins_the_model_around():
    @ac.model
    def outer():
        ac.submodel(handlers.reparam(groups(Y), Neutra(AFFINE)), prefix="a")
        ac.sample("z", dist.Normal(0, 1))

    assert [entry.name for entry in outer().log_density().layout.entries] == ["a/unknowns_base", "z"]

    @ac.model
    def in_a_plate():
        with ac.plate("copy", 2, dim=-2):
            ac.submodel(handlers.reparam(groups(Y), Neutra(AFFINE)), prefix="a")

    with pytest.raises(SiteError, match="inside of the plate"):
        in_a_plate().sites()


def test_predictions_are_made_at_the_places_that_the_vector_gives():
    changed = handlers.reparam(groups(Y), Neutra(AFFINE))
    base = np.random.default_rng(1).normal(size=(1, 3, 5))
    found = infer.predict({"unknowns_base": base}, changed, quiet=True)
    for number in range(3):
        placed = changed.log_density().constrain(base[0, number])
        for name in ("mu", "tau", "theta"):
            np.testing.assert_allclose(found[name][0, number], placed[name], rtol=1e-12)


def test_the_log_joint_at_draws_is_that_of_the_written_model():
    changed = handlers.reparam(groups(Y), Neutra(AFFINE))
    with jax.enable_x64(True):
        place = jnp.linspace(-1.0, 0.5, 5)
        values = {
            name: np.asarray(each)[None, None]
            for name, each in changed.log_density().constrain(place).items()
        }
    base = {"unknowns_base": values.pop("unknowns_base")}
    np.testing.assert_allclose(infer.log_joint(base, changed), infer.log_joint(values, groups(Y)), rtol=1e-12)


ERRORS = {
    "no bijector": (lambda: Neutra(3.0), OptionError, "bijector of `accord.bijectors`"),
    "another length": (lambda: handlers.reparam(groups(Y), Neutra(radial(4))), OptionError, "5 numbers"),
    "no vectors": (
        lambda: handlers.reparam(groups(Y), Neutra(bijectors.StickBreaking())),
        OptionError,
        "must make as many",
    ),
    "no model": (lambda: handlers.reparam(groups, Neutra(AFFINE)), OptionError, "a model with its data"),
    "conditioned later": (
        lambda: handlers.reparam(groups(Y), Neutra(AFFINE)).condition({"tau": 1.0}).sites(),
        SiteError,
        "before `handlers.reparam`",
    ),
    "drawn from": (
        lambda: handlers.seed(handlers.reparam(groups(Y), Neutra(AFFINE)), 0)(),
        Exception,
        "no prior to draw from",
    ),
}


@pytest.mark.parametrize("wrong", ERRORS)
def test_what_cannot_be_is_said(wrong):
    build, kind, words = ERRORS[wrong]
    with pytest.raises(kind) as error:
        build()
    assert words in str(error.value)
