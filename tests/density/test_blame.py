"""Check that what is not finite is blamed on the right site, derivative and line, with the right words."""

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.precision import Precision
from accord.density import LogDensity, blame
from accord.density.blaming import Blame

Y = np.array([1.0, 2.0, 3.0])
HOLED = np.array([1.0, np.nan, 1.0])


@dataclasses.dataclass(frozen=True)
class Trap:
    """A model at a position, and what is to be found: cause, sites, derivative, the line of code, and words."""

    model: Any
    position: list[float]
    cause: str
    sites: list[str]
    by: list[str] = dataclasses.field(default_factory=list)
    line: str = ""
    words: list[str] = dataclasses.field(default_factory=list)
    precision: Precision = "float64"


@ac.model
def normal():
    return ac.sample("x", dist.Normal(0.0, 1.0))


def factor(function) -> Any:
    """A model of one unknown and a factor of it."""

    @ac.model
    def of_factor():
        ac.factor("f", function(ac.sample("x", dist.Normal(0.0, 1.0))))

    return of_factor()


def observed(distribution, y=1.0) -> Any:
    """A model of one unknown with data from a distribution that depends on it."""

    @ac.model
    def of_data(y):
        ac.sample("y", distribution(ac.sample("x", dist.Normal(0.0, 1.0))), obs=y)

    return of_data(y)


@ac.model
def regression(covariate, is_masked):
    slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    with ac.plate("row", 3), handlers.mask(mask=jnp.isfinite(covariate) | (not is_masked)):
        mean = slope * covariate
        ac.sample("y", dist.Normal(mean, 1.0), obs=Y)


@ac.model
def masked_plate():
    with ac.plate("n", 3), handlers.mask(mask=np.array([False, True, True])):
        x = ac.sample("x", dist.Normal(0.0, 1.0))
        size = jnp.sqrt(x * x)
        ac.sample("y", dist.Normal(size, 1.0), obs=Y)


@ac.model
def computed_data(y):
    mean = ac.sample("mean", dist.Normal(0.0, 1.0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(mean, 1.0), obs=2.0 * y)


@ac.model
def norm_of_unknowns():
    with ac.plate("axis", 2):
        g = ac.sample("g", dist.Normal(0.0, 1.0))
    length = jnp.linalg.norm(g)
    ac.sample("y", dist.Normal(length, 1.0), obs=1.0)


@ac.model
def two_norms():
    with ac.plate("axis", 2):
        g = ac.sample("g", dist.Normal(0.0, 1.0))
    first = jnp.linalg.norm(g)
    second = jnp.linalg.norm(0.0 * g)
    ac.factor("f", first + second)


@ac.model
def two_terms():
    with ac.plate("n", 3):
        ac.sample("a", dist.Normal(0.0, 1.0))
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    with ac.plate("m", 3):
        b = ac.sample("b", dist.Normal(0.0, 1.0))
        ac.sample("y", dist.Normal(b + x, 1.0), obs=Y)
    ac.factor("root", jnp.sum(jnp.where(b > 0.0, jnp.sqrt(b), 0.0)))


@ac.model
def covariance():
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    root = jnp.linalg.cholesky(x * jnp.eye(2))
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(2), scale_tril=root), obs=np.ones(2))


@ac.model
def scale_alone():
    ac.sample("scale", dist.HalfNormal(1.0))


@ac.model
def scale_of_unknown():
    scale = ac.sample("scale", dist.HalfNormal(1.0))
    ac.sample("z", dist.Normal(0.0, scale))


@jax.custom_jvp
def with_rule(x):
    return 2.0 * x


with_rule.defjvp(
    lambda primals, tangents: (with_rule(*primals), tangents[0] * jnp.sqrt(-1.0 - primals[0] ** 2))
)


@jax.custom_vjp
def with_transpose(x):
    return 2.0 * x


with_transpose.defvjp(lambda x: (2.0 * x, None), lambda _, slope: (slope * jnp.inf,))


@jax.jit
def compiled(x):
    inner = jnp.sin(x)
    return jnp.sqrt(inner)


def in_scan(x):
    def turn(carry, _):
        carry = carry - 0.25
        return carry, jnp.sqrt(carry)

    return jnp.sum(jax.lax.scan(turn, x, None, length=4)[1])


def running_sum(x):
    def turn(total, number):
        return jnp.logaddexp(total, jnp.log(x - number)), None

    return jax.lax.scan(turn, -jnp.inf, jnp.arange(0.0, 1.0, 0.25))[0]


def in_while(x):
    return jax.lax.while_loop(lambda c: c > -3.0, lambda c: jnp.log(c), jax.lax.stop_gradient(x))


def in_branch(x):
    return jax.lax.cond(x < 0.0, lambda z: jnp.log(z), lambda z: z, x)


def by_hand(x):
    high = np.inf
    return -jnp.log(jnp.exp(-x) - 1.0 / high) + (high - x) * 0.0


def double_where(x):
    safe = jnp.where(x > 0.0, x, 1.0)
    return jnp.where(x > 0.0, jnp.sqrt(safe), 0.0)


TRAPS = {
    "the log that a where leaves out": lambda: Trap(
        factor(lambda x: jnp.where(x > 0.0, jnp.log(x), 0.0)), [0.0], "where", ["x", "f"], ["x"], "jnp.log(x)", ["safe"]
    ),
    "the root that a where leaves out": lambda: Trap(
        factor(lambda x: jnp.where(x > 0.0, jnp.sqrt(x), 0.0)), [-1.0], "where", ["x", "f"], ["x"], "jnp.sqrt(x)",
        ["jnp.sqrt(safe)", "sqrt of -1"],
    ),
    "the same in float32": lambda: Trap(
        factor(lambda x: jnp.where(x > 0.0, jnp.sqrt(x), 0.0)), [-1.0], "where", ["x", "f"], ["x"], "jnp.sqrt(x)",
        ["jnp.sqrt(safe)"], "float32",
    ),
    "a root at zero": lambda: Trap(factor(jnp.sqrt), [0.0], "zero", ["x", "f"], ["x"], "function(", ["sqrt", "zero"]),
    "zero over zero": lambda: Trap(
        observed(lambda g: dist.Normal(g / g, 1.0)), [0.0], "zero", ["y"], [], "g / g", ["division of 0, 0"]
    ),
    "the norm of a zero vector": lambda: Trap(
        norm_of_unknowns(), [0.0, 0.0], "zero", ["g", "y"], ["g"], "jnp.linalg.norm(g)", ["in `norm`", "index 0, 1"]
    ),
    "the second of two norms": lambda: Trap(
        two_norms(), [0.5, 0.5], "zero", ["g", "f"], ["g"], "jnp.linalg.norm(0.0 * g)", ["sqrt at 0 is inf"]
    ),
    "a power at zero": lambda: Trap(factor(lambda x: x**0.5), [0.0], "zero", ["x", "f"], ["x"], "x**0.5", ["power"]),
    "the log of zero": lambda: Trap(factor(lambda x: jnp.log(jnp.abs(x))), [0.0], "zero", ["f"], [], "jnp.log", []),
    "the log of a negative number": lambda: Trap(
        factor(lambda x: jnp.log(x)), [-0.5], "undefined", ["f"], [], "jnp.log(x)", ["log of -0.5"]
    ),
    "an overflow": lambda: Trap(
        observed(lambda x: dist.Normal(jnp.exp(x), 1.0)), [800.0], "overflow", ["y"], [], "jnp.exp(x)", ["exp of 800"]
    ),
    "an overflow of float32": lambda: Trap(
        factor(lambda x: jnp.log(1.0 + jnp.exp(x))), [100.0], "overflow", ["f"], [], "jnp.exp(x)", ["exp of 100"],
        "float32",
    ),
    "a latent value that overflows": lambda: Trap(
        scale_alone(), [800.0], "overflow", ["scale"], [], 'ac.sample("scale"', ["init="]
    ),
    "a latent value that is rounded to the edge": lambda: Trap(
        scale_of_unknown(), [-800.0, 0.0], "parameter_out_of_range", ["z"], [], "", ["scale of Normal is 0"]
    ),
    "a factor that is NaN": lambda: Trap(
        factor(lambda x: jnp.where(x > 1.5, jnp.nan, 0.0)), [2.0], "constant", ["f"], [], "jnp.nan", ["nan is written"]
    ),
    "a factor that is infinite": lambda: Trap(
        factor(lambda x: jnp.where(x > 1.5, jnp.inf, 0.0)), [2.0], "constant", ["f"], [], "jnp.inf", ["+inf"]
    ),
    "a rule for a derivative": lambda: Trap(
        factor(with_rule), [1.0], "derivative_rule", ["x", "f"], ["x"], "function(", ["'with_rule'", "defjvp"]
    ),
    "a rule for a transposed derivative": lambda: Trap(
        factor(with_transpose), [1.0], "derivative_rule", ["x", "f"], ["x"], "function(", ["'with_transpose'"]
    ),
    "a compiled function of the user's": lambda: Trap(
        factor(compiled), [0.0], "zero", ["x", "f"], ["x"], "jnp.sqrt(inner)", []
    ),
    "a function that is computed again": lambda: Trap(
        factor(jax.checkpoint(compiled)), [-0.5], "undefined", ["f"], [], "jnp.sqrt(inner)", []
    ),
    "the derivative in a loop": lambda: Trap(
        factor(in_scan), [1.0], "zero", ["x", "f"], ["x"], "return carry, jnp.sqrt(carry)", ["step 3"]
    ),
    "a value in a loop": lambda: Trap(
        factor(in_scan), [0.6], "undefined", ["f"], [], "return carry, jnp.sqrt(carry)", ["step 2"]
    ),
    "a loop that begins with an infinity": lambda: Trap(
        factor(running_sum), [0.4], "undefined", ["f"], [], "jnp.log(x - number)", ["log of -0.1", "step 2"]
    ),
    "a root at zero that no mask leaves out": lambda: Trap(
        masked_plate(), [0.5, 0.0, 1.0], "zero", ["x", "y"], ["x"], "jnp.sqrt(x * x)", ["index 1 is"]
    ),
    "a loop with a test": lambda: Trap(factor(in_while), [0.5], "undefined", ["f"], [], "jnp.log(c)", ["step 1"]),
    "a branch": lambda: Trap(factor(in_branch), [-0.5], "undefined", ["f"], [], "jnp.log(z)", ["log of -0.5"]),
    "a NaN covariate": lambda: Trap(
        regression(HOLED, False), [0.5], "argument_not_finite", ["y"], [], "slope * covariate", ["'covariate'"]
    ),
    "a NaN covariate behind a mask": lambda: Trap(
        regression(HOLED, True), [0.5], "masked_nan", ["slope", "y"], ["slope"], "slope * covariate", ["'covariate'"]
    ),
    "a NaN observation": lambda: Trap(
        computed_data(HOLED), [0.5], "observation_not_finite", ["y"], [], "2.0 * y", ["handlers.mask", "index 1"]
    ),
    "an infinite bound by hand": lambda: Trap(
        factor(by_hand), [0.5], "infinite_bound", ["f"], [], "(high - x)", ["truncate"]
    ),
    "a support with bounds that are unknowns": lambda: Trap(
        observed(lambda x: dist.Uniform(0.0, jnp.exp(x)), 3.0), [0.0], "observation_outside_support", ["y"], [], "",
        ["between 0.0 and 1.0"],
    ),
    "data on the edge of the support": lambda: Trap(
        observed(lambda x: dist.Beta(2.0 + x, 2.0), 0.0), [0.5], "edge_of_support", ["y"], [], "", ["zero", "clip"]
    ),
    "counts without probability": lambda: Trap(
        observed(lambda x: dist.Poisson(jax.nn.relu(x)), 3), [-1000.0], "far_from_data", ["y"], [], "", ["units"]
    ),
    "a parameter out of its range": lambda: Trap(
        observed(lambda x: dist.Normal(0.0, x - 1.0)), [0.5], "parameter_out_of_range", ["y"], [], "",
        ["scale of Normal is -0.5", "above 0.0"],
    ),
    "a scale of exactly zero": lambda: Trap(
        observed(lambda x: dist.Normal(0.0, x)), [0.0], "parameter_out_of_range", ["y"], [], "", ["is 0;"]
    ),
    "no positive definite matrix": lambda: Trap(
        covariance(), [-1.0], "not_positive_definite", ["y"], [], "jnp.linalg.cholesky", ["diagonal"]
    ),
    "a prior far from the data": lambda: Trap(
        observed(lambda x: dist.Normal(x, 1.0), 1e200), [0.0], "far_from_data", ["y"], [], "", ["units"]
    ),
    "one of several terms": lambda: Trap(
        two_terms(), [0.0] * 4 + [1.0, -1.0, -2.0], "where", ["b", "root"], ["b"], "jnp.sqrt(b)", ["index 1, 2"]
    ),
}  # fmt: skip


def blamed(trap: Trap) -> Blame:
    density = LogDensity.from_model(trap.model, trap.precision)
    return blame(density, np.asarray(trap.position))


@each(
    TRAPS,
    slow={
        "no positive definite matrix",
        "data on the edge of the support",
        "a latent value that is rounded to the edge",
        "the log of zero",
        "a function that is computed again",
    },
)
def test_a_trap_is_blamed_on_its_site_derivative_and_line(trap):
    found = blamed(trap)
    report = str(found)
    assert found.cause == trap.cause, report
    assert [*found.sites] == trap.sites, report
    assert [each.site for each in found.bad_derivatives] == trap.by, report
    for word in trap.words:
        assert word in report
    if trap.line:
        operation = found.operation
        assert operation is not None
        assert trap.line in operation.line, report
        file_name, number = operation.where.rsplit(":", 1)
        assert Path(file_name) == Path(__file__)
        assert trap.line in Path(__file__).read_text().splitlines()[int(number) - 1]


def test_a_double_where_is_finite():
    found = blamed(Trap(factor(double_where), [-1.0], "", []))
    assert found.is_finite and found.cause == "finite" and found.operation is None
    assert "everything is finite here" in str(found)
    assert found.values["x"] == -1.0 and found.log_density == pytest.approx(sum(found.terms.values()))


def test_a_finite_log_density_that_no_chain_would_leave_is_far():
    found = blamed(Trap(observed(lambda x: dist.Normal(x, 1.0), 1e5), [0.0], "", []))
    assert found.is_finite and found.cause == "far_from_data"
    assert "'y'" in str(found) and "-5e+09" in str(found)


def test_a_position_that_is_not_finite_is_said_to_be():
    found = blamed(Trap(normal(), [np.nan], "", []))
    assert found.cause == "position_not_finite" and "must be finite" in str(found)


def test_terms_and_derivatives_say_through_which_site():
    found = blamed(TRAPS["one of several terms"]())
    (derivative,) = found.bad_derivatives
    assert derivative.through == ("root",) and derivative.num_entries == 2
    assert set(found.terms) == {"a", "x", "b", "y", "root"}


def test_the_entries_of_data_to_blame_are_counted():
    @ac.model
    def rates(y):
        x = ac.sample("x", dist.Normal(0.0, 1.0))
        with ac.plate("n", y.shape[0]):
            ac.sample("y", dist.TruncatedNormal(x, 1.0, low=x + 0.5), obs=y)

    y = np.where(np.arange(40) % 4 == 2, -1.0, 1.0) * np.arange(40)
    (term,) = blame(LogDensity.from_model(rates(y)), np.zeros(1)).bad_terms
    assert term.num_entries == 11 and term.is_outside  # ten negative ones, and the zero
    assert term.entries[:2] == (((0,), 0.0), ((2,), -2.0))
    assert "and 8 more" in str(term)


def test_a_blame_can_be_pickled():
    found = blamed(TRAPS["a root at zero"]())
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
