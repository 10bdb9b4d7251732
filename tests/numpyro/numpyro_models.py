"""Write programs by names that NumPyro and accord's door both have, so that each test can run them in either.

`Library` holds the names of one of them; `MODELS` maps a name to a function from a library to a program with its
arguments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Case = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Library:
    """The modules of a library. **Fields**: `np`, statements; the others by NumPyro's names."""

    np: Any
    dist: Any
    handlers: Any
    infer: Any
    reparam: Any
    scan: Any
    cond: Any
    vindex: Any


def ours() -> Library:
    """The door of accord."""
    import accord.numpyro as door
    import accord.numpyro.distributions as dist
    from accord.numpyro import handlers, infer
    from accord.numpyro.contrib.control_flow import cond, scan
    from accord.numpyro.infer import reparam
    from accord.numpyro.ops.indexing import Vindex

    return Library(door, dist, handlers, infer, reparam, scan, cond, Vindex)


def theirs() -> Library:
    """NumPyro itself."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro import handlers, infer
    from numpyro.contrib.control_flow import cond, scan
    from numpyro.infer import reparam
    from numpyro.ops.indexing import Vindex

    return Library(numpyro, dist, handlers, infer, reparam, scan, cond, Vindex)


_RNG = np.random.default_rng(7)
X = _RNG.normal(size=(12, 3))
Y = _RNG.normal(size=12)
COUNTS = _RNG.poisson(3.0, size=12)
BINARY = _RNG.integers(0, 2, size=12)
GROUP = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
UNIT = _RNG.uniform(0.1, 0.9, size=12)
ANGLES = _RNG.uniform(-3, 3, size=12)

MODELS: dict[str, Callable[[Library], Case]] = {}


def case(function: Callable[[Library], Case]) -> Callable[[Library], Case]:
    """Keep a case by its name."""
    MODELS[function.__name__] = function
    return function


def law(name: str, make: Callable[[Any], Any], data: Any, **priors: Callable[[Any], Any]) -> None:
    """Keep a case of data from one law, whose parameters have priors."""

    def of(lib: Library) -> Case:
        def program(y: Any) -> None:
            values = {each: lib.np.sample(each, prior(lib.dist)) for each, prior in priors.items()}
            with lib.np.plate("row", len(y)):
                lib.np.sample("y", make(lib.dist)(**values), obs=y)

        return program, (data,), {}

    MODELS[f"law_{name}"] = of


def _positive(d: Any) -> Any:
    return d.HalfNormal(2.0)


def _real(d: Any) -> Any:
    return d.Normal(0.0, 3.0)


def _unit(d: Any) -> Any:
    return d.Beta(2.0, 3.0)


law("normal", lambda d: d.Normal, Y, loc=_real, scale=_positive)
law("student", lambda d: d.StudentT, Y, df=_positive, loc=_real, scale=_positive)
law("cauchy", lambda d: d.Cauchy, Y, loc=_real, scale=lambda d: d.HalfCauchy(1.0))
law("laplace", lambda d: d.Laplace, Y, loc=_real, scale=lambda d: d.Gamma(2.0, 1.0))
law("logistic", lambda d: d.Logistic, Y, loc=_real, scale=lambda d: d.InverseGamma(3.0, 2.0))
law("gumbel", lambda d: d.Gumbel, Y, loc=lambda d: d.Laplace(0.0, 1.0), scale=lambda d: d.LogNormal(0.0, 1.0))
law("gamma", lambda d: d.Gamma, np.exp(Y), concentration=_positive, rate=lambda d: d.Exponential(1.0))
law("weibull", lambda d: d.Weibull, np.exp(Y), scale=_positive, concentration=lambda d: d.Pareto(0.5, 2.0))
law("log_normal", lambda d: d.LogNormal, np.exp(Y), loc=lambda d: d.Uniform(-3.0, 3.0), scale=_positive)
law("exponential", lambda d: d.Exponential, np.exp(Y), rate=lambda d: d.Chi2(3.0))
law("half_normal", lambda d: d.HalfNormal, np.exp(Y), scale=_positive)
law("beta", lambda d: d.Beta, UNIT, concentration1=_positive, concentration0=_positive)
law("beta_proportion", lambda d: d.BetaProportion, UNIT, mean=_unit, concentration=_positive)
law("kumaraswamy", lambda d: d.Kumaraswamy, UNIT, concentration1=_positive, concentration0=_positive)
law("poisson", lambda d: d.Poisson, COUNTS, rate=lambda d: d.Gamma(1.0, 1.0))
law("neg_binomial", lambda d: d.NegativeBinomial2, COUNTS, mean=_positive, concentration=_positive)
law("gamma_poisson", lambda d: d.GammaPoisson, COUNTS, concentration=_positive, rate=_positive)
law("zero_inflated", lambda d: d.ZeroInflatedPoisson, COUNTS, gate=_unit, rate=_positive)
law("geometric", lambda d: d.Geometric, COUNTS, probs=_unit)
law("bernoulli", lambda d: d.Bernoulli, BINARY, logits=_real)
law("von_mises", lambda d: d.VonMises, ANGLES, loc=lambda d: d.VonMises(0.0, 1.0), concentration=_positive)
law("asymmetric", lambda d: d.AsymmetricLaplace, Y, loc=_real, scale=_positive, asymmetry=_positive)
law("soft_laplace", lambda d: d.SoftLaplace, Y, loc=_real, scale=_positive)
law("binomial", lambda d: lambda probs: d.Binomial(10, probs=probs), COUNTS, probs=_unit)
law("truncated", lambda d: lambda loc: d.TruncatedNormal(loc, 1.0, low=0.0), np.exp(Y), loc=_real)


@case
def regression(lib: Library) -> Case:
    """A regression, with a vector of coefficients."""

    def program(x: Any, y: Any = None) -> None:
        beta = lib.np.sample("beta", lib.dist.Normal(jnp.zeros(3), 1.0).to_event(1))
        sigma = lib.np.sample("sigma", lib.dist.HalfCauchy(1.0))
        with lib.np.plate("row", len(x)):
            lib.np.sample("y", lib.dist.Normal(x @ beta, sigma), obs=y)

    return program, (X,), {"y": Y}


@case
def no_plate(lib: Library) -> Case:
    """Data in a vector, without a plate."""

    def program(y: Any) -> None:
        lib.np.sample("y", lib.dist.Normal(lib.np.sample("mu", lib.dist.Normal(0.0, 1.0)), 1.0), obs=y)

    return program, (Y,), {}


@case
def hierarchy(lib: Library) -> Case:
    """Effects of groups, in two plates."""

    def program(group: Any, y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
        tau = lib.np.sample("tau", lib.dist.HalfNormal(1.0))
        with lib.np.plate("group", 3):
            effect = lib.np.sample("effect", lib.dist.Normal(mu, tau))
        with lib.np.plate("row", len(y)):
            lib.np.sample("y", lib.dist.Normal(effect[group], 1.0), obs=y)

    return program, (GROUP, Y), {}


@case
def decentred(lib: Library) -> Case:
    """A reparameterised hierarchy, by `with`."""

    def program(y: Any) -> None:
        tau = lib.np.sample("tau", lib.dist.HalfNormal(1.0))
        with (
            lib.np.plate("row", len(y)),
            lib.handlers.reparam(config={"theta": lib.reparam.LocScaleReparam(0.25)}),
        ):
            theta = lib.np.sample("theta", lib.dist.Normal(1.0, tau))
        lib.np.sample("y", lib.dist.Normal(theta, 1.0), obs=y)

    return program, (Y,), {}


@case
def shape_kept(lib: Library) -> Case:
    """A reparameterised Student's t with its own degrees of freedom."""

    def program(y: Any) -> None:
        ways = {"theta": lib.reparam.LocScaleReparam(0, shape_params=["df"])}
        with lib.handlers.reparam(config=ways):
            theta = lib.np.sample("theta", lib.dist.StudentT(4.0, jnp.arange(3.0), 2.0).to_event(1))
        lib.np.sample("y", lib.dist.Normal(theta[GROUP], 1.0), obs=y)

    return program, (Y,), {}


@case
def transformed(lib: Library) -> Case:
    """A site drawn before its transforms."""

    def program(y: Any) -> None:
        affine = lib.dist.transforms.AffineTransform(1.0, 2.0)
        base = lib.dist.TransformedDistribution(
            lib.dist.Normal(0.0, 1.0), [affine, lib.dist.transforms.ExpTransform()]
        )
        with lib.handlers.reparam(config={"s": lib.reparam.TransformReparam()}):
            s = lib.np.sample("s", base)
        lib.np.sample("y", lib.dist.Normal(0.0, s), obs=y)

    return program, (Y,), {}


@case
def circular(lib: Library) -> Case:
    """An angle, drawn as a real number."""

    def program(y: Any) -> None:
        with lib.handlers.reparam(config={"a": lib.reparam.CircularReparam()}):
            a = lib.np.sample("a", lib.dist.VonMises(0.5, 2.0))
        lib.np.sample("y", lib.dist.VonMises(a, 1.0), obs=y)

    return program, (ANGLES,), {}


@case
def projected(lib: Library) -> Case:
    """A direction, drawn as a normal vector."""

    def program(y: Any) -> None:
        with lib.handlers.reparam(config={"v": lib.reparam.ProjectedNormalReparam()}):
            v = lib.np.sample("v", lib.dist.ProjectedNormal(jnp.array([1.0, 0.5])))
        lib.np.sample("y", lib.dist.Normal(v[0], 1.0), obs=y)

    return program, (Y,), {}


@case
def haar(lib: Library) -> Case:
    """A series, drawn by its wavelets."""

    def program(y: Any) -> None:
        with lib.handlers.reparam(config={"h": lib.reparam.HaarReparam()}):
            h = lib.np.sample("h", lib.dist.Normal(0.0, 1.0).expand([12]).to_event(1))
        lib.np.sample("y", lib.dist.Normal(jnp.cumsum(h), 1.0), obs=y)

    return program, (Y,), {}


@case
def cosine(lib: Library) -> Case:
    """A series, drawn by its cosine transform."""

    def program(y: Any) -> None:
        with lib.handlers.reparam(config={"h": lib.reparam.DiscreteCosineReparam()}):
            h = lib.np.sample("h", lib.dist.Normal(0.0, 1.0).expand([12]).to_event(1))
        lib.np.sample("y", lib.dist.Normal(jnp.cumsum(h), 1.0), obs=y)

    return program, (Y,), {}


@case
def masked(lib: Library) -> Case:
    """Rows that do not count, by a handler and by a distribution."""

    def program(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
        with lib.np.plate("row", len(y)), lib.handlers.mask(mask=y > 0):
            lib.np.sample("y", lib.dist.Normal(mu, 1.0), obs=y)
        with lib.np.plate("again", len(y)):
            lib.np.sample("z", lib.dist.Normal(mu, 2.0).mask(y < 1), obs=y)

    return program, (Y,), {}


@case
def scaled(lib: Library) -> Case:
    """Log densities that count double."""

    def program(y: Any) -> None:
        with lib.handlers.scale(scale=0.5):
            mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
            with lib.handlers.scale(scale=3.0), lib.np.plate("row", len(y)):
                lib.np.sample("y", lib.dist.Normal(mu, 1.0), obs=y)

    return program, (Y,), {}


@case
def factors(lib: Library) -> Case:
    """Factors without a plate, and in one."""

    def program(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
        lib.np.factor("one", -(mu**2))
        lib.np.factor("many", -0.1 * (mu - jnp.asarray(y)) ** 2)
        with lib.np.plate("row", len(y)):
            lib.np.factor("each", -0.2 * (mu - jnp.asarray(y)) ** 2)

    return program, (Y,), {}


@case
def conditioned(lib: Library) -> Case:
    """Data that a handler gives, and a value that is fixed."""

    def inner(x: Any) -> None:
        a = lib.np.sample("a", lib.dist.Normal(0.0, 1.0))
        b = lib.np.sample("b", lib.dist.HalfNormal(1.0))
        with lib.np.plate("row", len(x)):
            lib.np.sample("y", lib.dist.Normal(a * x, b), obs=None)

    given = lib.handlers.condition(inner, data={"y": Y, "absent": 1.0})
    return lib.handlers.substitute(given, data={"b": 0.7}), (X[:, 0],), {}


@case
def scoped(lib: Library) -> Case:
    """The same part twice, with names of its own."""

    def part(y: Any) -> Any:
        with lib.np.plate("row", len(y)):
            mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
            lib.np.sample("y", lib.dist.Normal(mu, 1.0), obs=y)

    def program(y: Any) -> None:
        lib.handlers.scope(part, prefix="a")(y)
        with lib.handlers.scope(prefix="b", divider=":"):
            part(y[:4])

    return program, (Y,), {}


@case
def lifted(lib: Library) -> Case:
    """A parameter that has become an unknown."""

    def inner(y: Any) -> None:
        s = lib.np.param("s", 1.0, constraint=lib.dist.constraints.positive)
        lib.np.sample("y", lib.dist.Normal(lib.np.sample("m", lib.dist.Normal(0.0, 1.0)), s), obs=y)

    return lib.handlers.lift(inner, prior={"s": lib.dist.Gamma(2.0, 2.0)}), (Y,), {}


@case
def parameter(lib: Library) -> Case:
    """A parameter, which is a constant of a run."""

    def program(y: Any) -> None:
        s = lib.np.param("s", 1.5)
        lib.np.sample("y", lib.dist.Normal(lib.np.sample("m", lib.dist.Normal(0.0, 1.0)), s), obs=y)

    return program, (Y,), {}


@case
def stacked_plates(lib: Library) -> Case:
    """An array in a stack of plates, and one in plates with dims."""

    def program(y: Any) -> None:
        with lib.np.plate_stack("axis", [3, 4]):
            mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
            lib.np.sample("y", lib.dist.Normal(mu, 1.0), obs=y)
        rows, columns = lib.np.plate("r", 3, dim=-2), lib.np.plate("c", 4, dim=-1)
        with rows:
            a = lib.np.sample("a", lib.dist.Normal(0.0, 1.0))
        with columns:
            b = lib.np.sample("b", lib.dist.Normal(0.0, 1.0))
        with rows, columns:
            lib.np.sample("z", lib.dist.Normal(a + b, 1.0), obs=y)

    return program, (Y.reshape(3, 4),), {}


@case
def events(lib: Library) -> Case:
    """Laws of vectors and matrices."""

    def program(y: Any) -> None:
        p = lib.np.sample("p", lib.dist.Dirichlet(jnp.ones(3)))
        chol = lib.np.sample("chol", lib.dist.LKJCholesky(3, 2.0))
        s = lib.np.sample("s", lib.dist.LogNormal(0.0, 1.0).expand([3]).to_event(1))
        with lib.np.plate("row", len(y)):
            lib.np.sample("y", lib.dist.MultivariateNormal(p, scale_tril=s[:, None] * chol), obs=y)

    return program, (X,), {}


@case
def ordered(lib: Library) -> Case:
    """Cut points in order, and a sum of zero."""

    def program(y: Any) -> None:
        normal = lib.dist.Normal(0.0, 2.0).expand([2]).to_event(1)
        cuts = lib.np.sample(
            "cuts", lib.dist.TransformedDistribution(normal, lib.dist.transforms.OrderedTransform())
        )
        zero = lib.np.sample("zero", lib.dist.ZeroSumNormal(1.0, (3,)))
        lib.np.sample("y", lib.dist.OrderedLogistic(zero[GROUP], cuts), obs=y)

    return program, (GROUP,), {}


@case
def improper(lib: Library) -> Case:
    """A flat prior on ordered numbers."""

    def program(y: Any) -> None:
        d = lib.dist
        mu = lib.np.sample("mu", d.ImproperUniform(d.constraints.ordered_vector, (), (3,)))
        lib.np.sample("y", d.Normal(mu[GROUP], 1.0), obs=y)

    return program, (Y,), {}


@case
def walk(lib: Library) -> Case:
    """A random walk as one law."""

    def program(y: Any) -> None:
        s = lib.np.sample("s", lib.dist.Exponential(2.0))
        h = lib.np.sample("h", lib.dist.GaussianRandomWalk(s, 12))
        lib.np.sample("y", lib.dist.Normal(0.0, jnp.exp(h / 2)), obs=y)

    return program, (Y,), {}


@case
def scanned(lib: Library) -> Case:
    """Latent states in a scan, with data in the step."""

    def program(y: Any) -> None:
        phi = lib.np.sample("phi", lib.dist.Uniform(-1.0, 1.0))
        tau = lib.np.sample("tau", lib.dist.HalfNormal(1.0))

        def step(last: Any, now: Any) -> Any:
            h = lib.np.sample("h", lib.dist.Normal(phi * last, tau))
            lib.np.sample("y", lib.dist.Normal(h, 1.0), obs=now)
            return h, h

        _, states = lib.scan(step, 0.0, y)
        lib.np.deterministic("states", states)

    return program, (Y,), {}


@case
def scanned_given(lib: Library) -> Case:
    """A scan whose data come from outside."""

    def program(y: Any) -> None:
        phi = lib.np.sample("phi", lib.dist.Uniform(-1.0, 1.0))

        def step(last: Any, _: Any) -> Any:
            now = lib.np.sample("y", lib.dist.Normal(phi * last, 1.0))
            return now, None

        with lib.handlers.condition(data={"y": jnp.asarray(y)}):
            lib.scan(step, 0.0, None, length=len(y))

    return program, (Y,), {}


@case
def scanned_plate(lib: Library) -> Case:
    """A plate in the step of a scan."""

    def program(y: Any) -> None:
        tau = lib.np.sample("tau", lib.dist.HalfNormal(1.0))

        def step(last: Any, now: Any) -> Any:
            with lib.np.plate("series", 3):
                h = lib.np.sample("h", lib.dist.Normal(last, tau))
                lib.np.sample("y", lib.dist.Normal(h, 1.0), obs=now)
            return h, None

        lib.scan(step, jnp.zeros(3), y)

    return program, (X,), {}


@case
def explicit(lib: Library) -> Case:
    """A positive number through another map."""

    def program(y: Any) -> None:
        way = lib.reparam.ExplicitReparam(lib.dist.transforms.SoftplusTransform().inv)
        with lib.handlers.reparam(config={"s": way}):
            s = lib.np.sample("s", lib.dist.Gamma(4.0, 4.0))
        lib.np.sample("y", lib.dist.Normal(0.0, s), obs=y)

    return program, (Y,), {}


@case
def branched(lib: Library) -> Case:
    """Two laws for the same data, by a branch."""

    def program(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))

        def narrow(mu: Any) -> Any:
            return mu * 2.0

        def wide(mu: Any) -> Any:
            return mu * 0.5

        mean = lib.cond(mu > 0.0, narrow, wide, mu)
        lib.np.sample("y", lib.dist.Normal(mean, 1.0), obs=y)

    return program, (Y,), {}


@case
def summed_out(lib: Library) -> Case:
    """A mixture with labels."""

    def program(y: Any) -> None:
        w = lib.np.sample("w", lib.dist.Dirichlet(jnp.ones(2)))
        with lib.np.plate("component", 2):
            mu = lib.np.sample("mu", lib.dist.Normal(0.0, 3.0))
        with lib.np.plate("row", len(y)):
            z = lib.np.sample("z", lib.dist.Categorical(w), infer={"enumerate": "parallel"})
            lib.np.sample("y", lib.dist.Normal(lib.vindex(mu)[..., z], 1.0), obs=y)

    return program, (Y,), {}


@case
def of_own(lib: Library) -> Case:
    """A law written as a class."""

    class Moons(lib.dist.Distribution):
        support = lib.dist.constraints.real_vector

        def __init__(self, radius: Any) -> None:
            self.radius = radius
            super().__init__((), (2,))

        def sample(self, key: Any, sample_shape: Any = ()) -> Any:
            return jax.random.normal(key, (*sample_shape, 2))

        def log_prob(self, value: Any) -> Any:
            return -0.5 * ((jnp.linalg.norm(value, axis=-1) - self.radius) / 0.4) ** 2

    def program(y: Any) -> None:
        r = lib.np.sample("r", lib.dist.HalfNormal(1.0))
        x = lib.np.sample("x", Moons(r + 1.0))
        lib.np.sample("y", lib.dist.Normal(x[0], 1.0), obs=y)

    return program, (Y,), {}


@case
def numbers_of_arguments(lib: Library) -> Case:
    """Arguments that are sizes, flags, functions and None."""

    def program(x: Any, degree: int, link: Any, shift: Any = None, centred: bool = False) -> None:
        beta = lib.np.sample("beta", lib.dist.Normal(jnp.zeros(degree), 1.0))
        mean = sum(beta[k] * link(x) ** k for k in range(degree))
        if shift is not None:
            mean = mean + shift
        if centred:
            mean = mean - jnp.mean(mean)
        lib.np.sample("y", lib.dist.Normal(mean, 1.0), obs=Y)

    return program, (X[:, 0], 3, jnp.tanh), {"centred": True}


@case
def repeated(lib: Library) -> Case:
    """Copies by `sample_shape`, `expand` and `expand_by`."""

    def program(y: Any) -> None:
        a = lib.np.sample("a", lib.dist.Normal(0.0, 1.0), sample_shape=(3,))
        b = lib.np.sample("b", lib.dist.Normal(jnp.zeros(2), 1.0).expand([3, 2]))
        lib.np.sample("y", lib.dist.Normal(a[GROUP] + b[GROUP, 0], 1.0), obs=y)

    return program, (Y,), {}


@case
def seeded_inside(lib: Library) -> Case:
    """A part that is hidden, and draws by a key of its own."""

    def program(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
        with lib.handlers.block(), lib.handlers.seed(rng_seed=3):
            noise = lib.np.sample("noise", lib.dist.Normal(0.0, 1.0))
        lib.np.sample("y", lib.dist.Normal(mu + noise, 1.0), obs=y)

    return program, (Y,), {}


@case
def delta_observed(lib: Library) -> Case:
    """An observed constant, as a way to record it."""

    def program(y: Any) -> None:
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 1.0))
        lib.np.sample("twice", lib.dist.Delta(mu), obs=mu)
        lib.np.sample("y", lib.dist.Normal(mu, 1.0), obs=y)

    return program, (Y,), {}


@case
def mixture_law(lib: Library) -> Case:
    """A mixture as one law."""

    def program(y: Any) -> None:
        w = lib.np.sample("w", lib.dist.Beta(2.0, 2.0))
        mu = lib.np.sample("mu", lib.dist.Normal(0.0, 2.0).expand([2]).to_event(1))
        weights = lib.dist.Categorical(probs=jnp.stack([w, 1 - w]))
        with lib.np.plate("row", len(y)):
            lib.np.sample("y", lib.dist.MixtureSameFamily(weights, lib.dist.Normal(mu, 1.0)), obs=y)

    return program, (Y,), {}
