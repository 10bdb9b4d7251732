"""Check that the ways of writing one model have one log joint: to 1e-12, at several points."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.reparam import LocScale

X = np.array([-1.0, 0.5, 2.0, 3.5])
Y = np.array([0.3, -0.2, 1.9, 2.2])
NAMES = ("slope", "scale", "shift")
POINTS = [(0.5, 1.2, np.array([0.1, -0.4, 0.7, 0.0])), (-2.0, 0.05, np.array([3.0, 0.0, -1.0, 2.5]))]


def priors():
    return ac.sample("slope", dist.Normal(0.0, 2.0)), ac.sample("scale", dist.HalfNormal(1.5))


@ac.model
def plate(x, y):
    slope, scale = priors()
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y)


@ac.model
def vector(x, y):
    slope, scale = priors()
    shift = ac.sample("shift", dist.StudentT(4.0, jnp.zeros(len(x)), 1.0))
    ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y)


@ac.model
def event(x, y):
    slope, scale = priors()
    shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0).expand((len(x),)).to_event(1))
    ac.sample("y", dist.Normal(slope * x + shift, scale).to_event(1), obs=y)


@ac.model
def loop(x, y):
    slope, scale = priors()
    shift = ac.sample("shift", dist.StudentT(4.0, jnp.zeros(len(x)), 1.0))
    for i in range(len(x)):
        ac.sample(f"y{i}", dist.Normal(slope * x[i] + shift[i], scale), obs=y[i])


@ac.model
def two_plates(x, y):
    slope, scale = priors()
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
    with ac.plate("pair", 2, dim=-2), ac.plate("of_pair", 2, dim=-1):
        mean = (slope * x + shift).reshape(2, 2)
        ac.sample("y", dist.Normal(mean, scale), obs=y.reshape(2, 2))


@ac.model
def factor(x, y):
    slope, scale = priors()
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        ac.factor("likelihood", dist.Normal(slope * x + shift, scale).log_prob(y))


@ac.model
def factor_outside(x, y):
    slope, scale = priors()
    shift = ac.sample("shift", dist.StudentT(4.0, jnp.zeros(len(x)), 1.0))
    ac.factor("likelihood", dist.Normal(slope * x + shift, scale).log_prob(y).sum())


@ac.model
def regression(x, y=None):
    """The likelihood, and the part of the prior that belongs to it."""
    slope, scale = priors()
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y)


@ac.model
def submodel(x, y):
    ac.submodel(regression(x, y), prefix="a")


@ac.model
def submodel_of_a_submodel(x, y):
    ac.submodel(submodel(x, y), prefix="b")


@ac.model
def submodel_without_a_prefix(x, y):
    ac.submodel(regression(x).condition({"y": y}), prefix=None)


@ac.model
def masked(x, y):
    slope, scale = priors()
    shift = ac.sample("shift", dist.StudentT(4.0, jnp.zeros(len(x) - 1), 1.0))
    with ac.plate("row", len(x)), handlers.mask(mask=jnp.isfinite(y)):
        mean = slope * jnp.nan_to_num(x) + jnp.concatenate([shift, jnp.zeros(1)])
        ac.sample("y", dist.Normal(mean, scale), obs=y)


@ac.model
def partly(x, y):
    slope, scale = priors()
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y, obs_mask=~jnp.isnan(y))


@ac.model
def scan(x, y):
    slope, scale = priors()

    def step(previous, row):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        ac.sample("y", dist.Normal(slope * row[0] + shift, scale), obs=row[1])
        return previous + shift, None

    ac.scan(step, 0.0, (x, y), name="row")


@ac.model
def scan_of_vectors(x, y):
    """Two steps of two rows; the plate around is that of the rows of a step."""
    slope, scale = priors()
    with ac.plate("of_pair", 2):

        def step(carry, pair):
            shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
            ac.sample("y", dist.Normal(slope * pair[0] + shift, scale), obs=pair[1])
            return carry, None

        ac.scan(step, None, (x.reshape(2, 2), y.reshape(2, 2)))


@ac.model
def cond(x, y):
    """The two sides say the same of the data in two ways."""
    slope, scale = priors()

    def one(slope):
        with ac.plate("row", len(x)):
            shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
            ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y)

    def other(slope):
        with ac.plate("row", len(x)):
            shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
            ac.sample("y", dist.Normal(slope * x + shift, scale).mask(True), obs=y)

    ac.cond(slope > 0, one, other, slope)


@ac.model
def lifted(x, y):
    slope = ac.param("slope", 0.0)
    scale = ac.sample("scale", dist.HalfNormal(1.5))
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y)


@ac.model
def scaled(x, y):
    slope, scale = priors()
    with ac.plate("row", len(x)):
        shift = ac.sample("shift", dist.StudentT(4.0, 0.0, 1.0))
        for half in ("first", "second"):
            with handlers.scope(prefix=half), handlers.scale(scale=0.5):
                ac.sample("y", dist.Normal(slope * x + shift, scale), obs=y)


def hidden(x, y):
    """Another site, hidden with its own seed, does not count."""
    handlers.block(handlers.seed(lambda: ac.sample("other", dist.Normal(0.0, 1.0)), 0))()
    plate.function(x, y)


SPELLINGS = {
    "vector": lambda: vector(X, Y),
    "event": lambda: event(X, Y),
    "loop": lambda: loop(X, Y),
    "two plates": lambda: two_plates(X, Y),
    "factor": lambda: factor(X, Y),
    "factor outside": lambda: factor_outside(X, Y),
    "conditioned": lambda: plate(X, None).condition({"y": Y}),
    "conditioned anew": lambda: handlers.condition(plate(X, Y + 1.0), {"y": Y}),
    "unconditioned first": lambda: plate(X, Y + 1.0).uncondition() | {"y": Y},
    "intervened and undone": lambda: plate(X, Y).do({"slope": 0.0}).undo(),
    "intervened": lambda: plate(X, Y).do({"slope": 0.0}),
    "scan": lambda: scan(X, Y),
    "scan, conditioned": lambda: scan(X, Y + 1.0).condition({"y": Y}),
    "scan inside of a plate": lambda: scan_of_vectors(X, Y),
    "cond": lambda: cond(X, Y),
    "submodel": lambda: submodel(X, Y),
    "submodel of a submodel": lambda: submodel_of_a_submodel(X, Y),
    "submodel without a prefix": lambda: submodel_without_a_prefix(X, Y),
    "submodel, conditioned from outside": lambda: submodel(X, None).condition({"a/y": Y}),
    "scope": lambda: handlers.scope(plate(X, Y), prefix="top"),
    "masked": lambda: masked(np.append(X, np.nan), np.append(Y, np.nan)),
    "scaled": lambda: scaled(X, Y),
    "hidden": lambda: ac.model(hidden)(X, Y),
    "lifted": lambda: handlers.lift(lifted(X, Y), {"slope": dist.Normal(0.0, 2.0)}),
    "observed in part, with nothing missing": lambda: partly(X, Y),
    "static": lambda: plate(ac.static(X), Y),
    # Of a standard law the auxiliary is the value.
    "reparameterised": lambda: handlers.reparam(plate(X, Y), {"shift": LocScale()}),
    "reparameterised, of a submodel": lambda: handlers.reparam(submodel(X, Y), {"a/shift": LocScale(0.3)}),
    "reparameterised, in an event": lambda: handlers.reparam(event(X, Y), {"shift": LocScale()}),
}


def value_at(model, slope, scale, shift):
    """Log density and gradient of a model where the sites, whatever prefix they have, have these values."""
    density = model.log_density()
    given = dict(zip(NAMES, map(np.asarray, (slope, scale, shift)), strict=True))
    values = {
        e.name: given[e.name.rpartition("/")[2].removesuffix("_base")].reshape(e.shape)
        for e in density.layout.entries
    }
    return density.value_and_grad(density.unconstrain(values))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_has_the_same_log_joint(spelling):
    with jax.enable_x64(True):
        for slope, scale, shift in POINTS:
            slope = 0.0 if spelling == "intervened" else slope
            wanted, gradient = value_at(plate(X, Y), slope, scale, shift)
            found, other = value_at(SPELLINGS[spelling](), slope, scale, shift)
            if spelling == "intervened":
                wanted = wanted - dist.Normal(0.0, 2.0).log_prob(slope)
                gradient = gradient[1:]  # of the others, since the sites are in this order
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            np.testing.assert_allclose(other, gradient, rtol=1e-10, atol=1e-10)
