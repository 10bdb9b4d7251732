"""Check reparameterised sites: the joint law is that of the model as it is written, to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each
from scipy import integrate

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers
from accord.density.reduction import term
from accord.distributions import constraints
from accord.language.reparam.wrapped import parts_of
from accord.reparam import (
    Circular,
    DiscreteCosine,
    Explicit,
    Haar,
    LocScale,
    ProjectedNormal,
    Structured,
    Transform,
)

TRIL = np.array([[1.5, 0.0, 0.0], [-0.4, 0.7, 0.0], [0.2, 0.9, 1.1]])
LOC = np.array([0.3, -1.0, 2.0])
MASK = np.array([True, False, True])


def one(law, reparam, **others):
    """A model of `m`, `s` and one site whose law depends on both, in a plate of three where its batch has room."""

    def statements():
        m = ac.sample("m", dist.Normal(0.5, 1.0))
        s = ac.sample("s", dist.LogNormal(0.0, 0.5))
        theta = ac.sample("theta", law(m, s))
        ac.factor("data", -0.5 * jnp.sum((jnp.atleast_1d(theta) - 0.3) ** 2))

    return ac.model(statements), {"theta": reparam, **others}


def in_plate(law, reparam, within=None):
    def statements():
        m = ac.sample("m", dist.Normal(0.5, 1.0))
        s = ac.sample("s", dist.LogNormal(0.0, 0.5))
        with ac.plate("row", 3):
            if within is None:
                ac.sample("theta", law(m, s))
            else:
                with within():
                    ac.sample("theta", law(m, s))

    return ac.model(statements), {"theta": reparam}


def partly_observed(law, reparam):
    def statements():
        m = ac.sample("m", dist.Normal(0.5, 1.0))
        s = ac.sample("s", dist.LogNormal(0.0, 0.5))
        with ac.plate("row", 3):
            ac.sample("y", law(m + LOC, s), obs=LOC, obs_mask=MASK)

    return ac.model(statements), {"y_unobserved": reparam}


CASES = {
    "non-centred": lambda: one(dist.Normal, LocScale()),
    "half centred": lambda: one(dist.Normal, LocScale(0.5)),
    "in a plate": lambda: in_plate(dist.Normal, LocScale()),
    "centred by entry": lambda: in_plate(dist.Normal, LocScale([0.0, 0.3, 1.0])),
    "parameters by entry": lambda: in_plate(lambda m, s: dist.Normal(m + LOC, s), LocScale()),
    "expanded": lambda: one(lambda m, s: dist.Normal(m, s).expand((2, 3)), LocScale()),
    "an event": lambda: one(lambda m, s: dist.Normal(m * LOC, s).to_event(1), LocScale(0.25)),
    "an event in a plate": lambda: in_plate(
        lambda m, s: dist.Normal(m * LOC, s).to_event(1).expand((3,)), LocScale()
    ),
    "of another shape": lambda: one(lambda m, s: dist.StudentT(3.0 + s, m, s), LocScale(0.2)),
    "Laplace": lambda: one(dist.Laplace, LocScale()),
    "Gumbel": lambda: one(dist.Gumbel, LocScale(0.7)),
    "skewed": lambda: one(lambda m, s: dist.SkewNormal(m, s, m), LocScale()),
    "of a scale": lambda: one(lambda m, s: dist.HalfCauchy(s), LocScale(0.3)),
    "truncated normal": lambda: one(lambda m, s: dist.TruncatedNormal(m, s, low=-1.0, high=m + 4), LocScale()),
    "truncated on one side": lambda: in_plate(
        lambda m, s: dist.StudentT(4.0, m, s).truncate(low=np.array([-np.inf, 0.0, -1.0])), LocScale(0.5)
    ),
    "with its own mask": lambda: in_plate(lambda m, s: dist.Normal(m, s).mask(MASK), LocScale()),
    "its own mask in an event": lambda: one(
        lambda m, s: dist.Normal(m * LOC, s).mask(MASK).to_event(1), LocScale()
    ),
    "masked": lambda: in_plate(dist.Normal, LocScale(), lambda: handlers.mask(mask=MASK)),
    "masked away": lambda: in_plate(dist.Normal, LocScale(), lambda: handlers.mask(mask=False)),
    "scaled": lambda: in_plate(dist.Normal, LocScale(0.4), lambda: handlers.scale(scale=2.5)),
    "observed in part": lambda: partly_observed(dist.Normal, LocScale()),
    "affine image": lambda: one(
        lambda m, s: dist.TransformedDistribution(dist.Normal(0.0, 1.0), bijectors.Affine(m, s)), Transform()
    ),
    "chain of images by entry": lambda: in_plate(
        lambda m, s: dist.TransformedDistribution(
            dist.StudentT(4.0, 0.0, 1.0), [bijectors.Affine(m + LOC, s), bijectors.Exp()]
        ),
        Transform(),
    ),
    "image of vectors": lambda: one(
        lambda m, s: dist.TransformedDistribution(dist.Normal(m, s).expand((3,)), bijectors.Ordered()), Transform()
    ),
    "log-normal": lambda: in_plate(dist.LogNormal, Transform()),
    "log-normal, twice": lambda: one(dist.LogNormal, Transform(), theta_base=LocScale()),
    "logit-normal": lambda: one(dist.LogitNormal, Transform()),
    "multivariate log-normal": lambda: one(
        lambda m, s: dist.MultivariateLogNormal(m * LOC, scale_tril=s * TRIL), Transform()
    ),
    "whitened": lambda: one(lambda m, s: dist.MultivariateNormal(m * LOC, scale_tril=s * TRIL), Structured()),
    "whitened, from a precision": lambda: in_plate(
        lambda m, s: dist.MultivariateNormal(m, precision_matrix=s * TRIL @ TRIL.T), Structured()
    ),
    "whitened t": lambda: one(lambda m, s: dist.MultivariateStudentT(4.0, m * LOC, s * TRIL), Structured()),
    "whitened of low rank": lambda: one(
        lambda m, s: dist.LowRankMultivariateNormal(m * LOC, s * TRIL[:, :1], np.ones(3)), Structured()
    ),
    "random walk": lambda: in_plate(lambda m, s: dist.GaussianRandomWalk(s, 4), Structured()),
    "state space": lambda: one(
        lambda m, s: dist.GaussianStateSpace(2, TRIL / 2, scale_tril=s * TRIL), Structured()
    ),
    "zero sum": lambda: in_plate(lambda m, s: dist.ZeroSumNormal(s, (3,)), Structured()),
    "by a map of one's own": lambda: in_plate(
        dist.LogNormal, Explicit(bijectors.Inverse(bijectors.Exp()), constraints.real)
    ),
    "Haar": lambda: one(lambda m, s: dist.GaussianRandomWalk(s, 5), Haar()),
    "cosine": lambda: one(lambda m, s: dist.Normal(m, s).expand((4,)).to_event(1), DiscreteCosine(smooth=0.5)),
}  # fmt: skip


# Those whose auxiliary says more than the value does: a radius, a length.
DIRECTIONS = {
    "an angle": lambda: one(dist.VonMises, Circular()),
    "angles in a plate": lambda: in_plate(lambda m, s: dist.WrappedCauchy(m, s / (1 + s)), Circular()),
    "angles in an event": lambda: one(
        lambda m, s: dist.WrappedCauchy(m * LOC, s / (1 + s)).to_event(1), Circular()
    ),
    "directions": lambda: in_plate(lambda m, s: dist.ProjectedNormal(s * TRIL), ProjectedNormal()),
}
SLOW_DIRECTIONS = ("an angle", "angles in an event", "directions")


# What shares its path with another case, or takes a second to compile.
SLOW = (
    *(
        "half centred",
        "in a plate",
        "parameters by entry",
        "expanded",
        "an event in a plate",
        "Laplace",
        "Gumbel",
    ),
    *("image of vectors", "of another shape"),
    *("skewed", "truncated normal", "truncated on one side", "masked away", "affine image", "log-normal"),
    *(
        "logit-normal",
        "multivariate log-normal",
        "whitened",
        "whitened t",
        "whitened of low rank",
        "state space",
        "Haar",
        "cosine",
    ),
)


@each(CASES, slow=SLOW)
def test_the_log_density_changes_by_the_jacobian_alone(case):
    function, config = case
    with jax.enable_x64(True):
        model = function()
        written, changed = model.log_density(), handlers.reparam(model, config).log_density()
        assert written.dim == changed.dim and written.layout != changed.layout

        def back(position):
            values = changed.constrain(position)
            return written.unconstrain({entry.name: values[entry.name] for entry in written.layout.entries})

        def both(position):
            jacobian = jax.jacfwd(back)(position)
            return changed(position), written(back(position)) + jnp.linalg.slogdet(jacobian)[1]

        position = 0.7 * jax.random.normal(jax.random.key(5), (3, changed.dim))
        found, wanted = compiled(jax.vmap(both))(position)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@each(DIRECTIONS, slow=DIRECTIONS)
def test_what_is_forgotten_integrates_to_the_law_of_the_value(case):
    function, config = case
    with jax.enable_x64(True):
        site = site_of(handlers.seed(function(), 3), "theta")
        parts = parts_of(config["theta"], site.distribution)
        law, truth = parts.auxiliary, site.distribution
        if law.event_dim > 1:  # several points, each of its own radius
            law, truth = law.base, truth.base
        radius = np.linspace(1e-4, 14.0, 2001)
        unit = parts.way.inverse(site.value)
        unit = unit / jnp.linalg.norm(unit, axis=-1, keepdims=True)
        found = compiled(jax.vmap(lambda r: jnp.exp(law.log_prob(r * unit))))(radius)
        area = radius.reshape((-1,) + (1,) * (found.ndim - 1)) ** (unit.shape[-1] - 1)
        found = integrate.simpson(np.asarray(found) * area, x=radius, axis=0)
        np.testing.assert_allclose(found, np.exp(truth.log_prob(site.value)), rtol=1e-8)


@each(DIRECTIONS, slow=SLOW_DIRECTIONS)
def test_a_direction_weighs_what_its_auxiliary_says_beyond_it(case):
    function, config = case
    with jax.enable_x64(True):
        site = site_of(handlers.seed(function(), 3), "theta")
        parts = parts_of(config["theta"], site.distribution)

        @compiled
        def look(point):
            value, weight = parts.way.forward_and_log_det(point)
            back, weight_back = parts.way.inverse_and_log_det(value)
            law = parts.auxiliary.log_prob(point) - site.distribution.log_prob(value)
            slope = jax.grad(lambda x: jnp.sum(parts.auxiliary.log_prob(x)))(point)
            return value, weight, law, parts.way.forward_and_log_det(back), weight_back, slope

        value, weight, law, (again, weight_there), weight_back, _ = look(1.3 * parts.way.inverse(site.value))
        np.testing.assert_allclose(value, site.value, atol=1e-14)
        np.testing.assert_allclose(weight, law, rtol=1e-12)
        np.testing.assert_allclose(again, value, atol=1e-14)
        np.testing.assert_allclose(weight_there, -weight_back, rtol=1e-12)
        at_origin = look(jnp.zeros(parts.auxiliary.batch_shape + parts.auxiliary.event_shape))
        assert all(np.all(np.isfinite(each)) for each in jax.tree.leaves(at_origin))


@pytest.mark.slow
def test_a_weighed_direction_keeps_the_density_of_its_own():
    function, config = DIRECTIONS["directions"]()
    with jax.enable_x64(True):
        weighed = handlers.scale(handlers.reparam(function(), config), scale=0.25)
        sites = handlers.trace(handlers.seed(weighed, 3)).get_trace()
        values = {name: sites[name].value for name in ("m", "s", "theta")}
        plain = handlers.trace(handlers.substitute(function(), values)).get_trace()
        np.testing.assert_allclose(term(sites["theta"]), 0.25 * term(plain["theta"]), rtol=1e-12)
        parts = parts_of(config["theta"], plain["theta"].distribution)
        weight = parts.way.forward_and_log_det(sites["theta_base"].value)[1]
        np.testing.assert_allclose(term(sites["theta_base"]), jnp.sum(weight), rtol=1e-12)


QUICK = ("in a plate", "angles in a plate")


@each(CASES | DIRECTIONS, slow=[name for name in CASES | DIRECTIONS if name not in QUICK])
def test_draws_from_the_prior_have_the_law_of_the_model_as_it_is_written(case):
    function, config = case
    name = next(iter(config))

    def draw(model):
        def one_draw(key):
            sites = handlers.trace(handlers.seed(model, key)).get_trace()
            bounded = jnp.arctan(sites[name].value)  # some have no moments of their own
            return jnp.stack([bounded.mean(), (bounded**2).mean(), (bounded * sites["m"].value).mean()])

        return np.asarray(compiled(jax.vmap(one_draw))(jax.random.split(jax.random.key(8), 4000)))

    with jax.enable_x64(True):
        model = function()
        found, wanted = draw(handlers.reparam(model, config)), draw(model)
    difference = found.mean(0) - wanted.mean(0)
    error = np.sqrt((found.var(0) + wanted.var(0)) / len(found))
    # 42 cases of 3 numbers, each beyond 5.5 standard errors with a chance of 4e-8: a false alarm in 200,000.
    assert np.all(np.abs(difference) <= 5.5 * error + 1e-12)


def site_of(model, name):
    return handlers.trace(model).get_trace()[name]
