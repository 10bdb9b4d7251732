"""Compare every rule that computes an operation in NumPy with what JAX computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from accord.density.flat import flatten
from accord.density.host import ELEMENTWISE, ROUNDINGS
from accord.density.host.evaluate import results_of, run
from accord.density.host.rules import RULES
from accord.density.host.unevaluable import Parameters, UnevaluableError

X = np.array([[0.5, -1.25, 2.5], [3.0, -0.5, 1.5]])
Y = np.array([[2.0, 0.75, -1.5], [-3.0, 4.0, 1.5]])
POSITIVE = np.abs(X)
I = np.array([[5, -7, 0], [3, -2, 9]])  # noqa: E741
J = np.array([[2, 2, 0], [-3, 5, 4]])
SMALL = np.array([[100, -100, 7], [120, 5, -128]], np.int8)
B, C = I > 0, J > 2
CUBE = np.arange(24).reshape(2, 3, 4) % 7
NAN = np.array([np.nan, 1.0, np.inf])


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def gather_of(mode):
    """Cut windows of two entries, some of which do not fit."""
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0, 1))
    return lambda x, i: lax.gather(x, i, numbers, (1, 2), mode=mode)


def scatter_of(function):
    """Change windows of two entries, some of which do not fit."""
    numbers = lax.ScatterDimensionNumbers((1,), (0,), (0, 1))
    return lambda x, i, u: function(x, i, u, numbers)


PLACES = np.array([[0, 1], [1, 0], [1, 2], [2, 0], [0, -1]])
UPDATES = np.arange(10.0).reshape(5, 2) + 0.5
ONE_EACH = np.array([[0, 1], [1, 0], [5, 0]])
WRITES = (X, PLACES, UPDATES)

# operation: pairs of a function that uses it, and its arguments
CASES = {
    "add": [(lax.add, (X, Y)), (lax.add, (SMALL, SMALL))],
    "add_any": [(lambda x: jax.vjp(lambda t: (t, t), x)[1]((x, x))[0], (X,))],
    "sub": [(lax.sub, (X, Y)), (lax.sub, (I, J))],
    "mul": [(lax.mul, (X, Y)), (lax.mul, (SMALL, SMALL))],
    "div": [(lax.div, (X, Y)), (lax.div, (I, J))],
    "rem": [(lax.rem, (X, Y)), (lax.rem, (I, J))],
    "neg": [(lax.neg, (X,)), (lax.neg, (SMALL,))],
    "sign": [(lax.sign, (X,)), (lax.sign, (I,)), (lax.sign, (NAN,))],
    "abs": [(lax.abs, (X,)), (lax.abs, (SMALL,)), (lax.abs, (X + 1j * Y,))],
    "max": [(lax.max, (X, Y)), (lax.max, (NAN, NAN[::-1].copy()))],
    "min": [(lax.min, (X, Y)), (lax.min, (I, J))],
    "floor": [(lax.floor, (X,))],
    "ceil": [(lax.ceil, (X,))],
    "eq": [(lax.eq, (I, J))],
    "ne": [(lax.ne, (I, J))],
    "lt": [(lax.lt, (X, Y)), (lax.lt, (NAN, NAN))],
    "le": [(lax.le, (X, Y))],
    "gt": [(lax.gt, (X, Y))],
    "ge": [(lax.ge, (X, Y))],
    "and": [(lax.bitwise_and, (I, J)), (lax.bitwise_and, (B, C))],
    "or": [(lax.bitwise_or, (I, J)), (lax.bitwise_or, (B, C))],
    "xor": [(lax.bitwise_xor, (I, J)), (lax.bitwise_xor, (B, C))],
    "not": [(lax.bitwise_not, (I,)), (lax.bitwise_not, (B,))],
    "shift_left": [(lax.shift_left, (I, np.abs(J)))],
    "shift_right_arithmetic": [(lax.shift_right_arithmetic, (I, np.abs(J)))],
    "is_finite": [(lax.is_finite, (NAN,))],
    "square": [(lax.square, (X,)), (lax.square, (SMALL,))],
    "sqrt": [(lax.sqrt, (POSITIVE,))],
    "select_n": [
        (lambda b, x, y: lax.select_n(b, x, y), (B, X, Y)),
        (lambda i, *x: lax.select_n(i, *x), (np.array([2, 0, 1], np.int32), X[0], X[1], Y[0])),
        (lambda i, *x: lax.select_n(i, *x), (np.int32(65), *np.arange(70.0))),
    ],
    "exp": [(lax.exp, (X,))],
    "log": [(lax.log, (POSITIVE,))],
    "log1p": [(lax.log1p, (POSITIVE,))],
    "expm1": [(lax.expm1, (X,))],
    "pow": [(lax.pow, (POSITIVE, Y))],
    "exp2": [(lax.exp2, (X,))],
    "cbrt": [(lax.cbrt, (X,))],
    "rsqrt": [(lax.rsqrt, (POSITIVE,))],
    "logistic": [(lax.logistic, (X,))],
    "sin": [(lax.sin, (X,))],
    "cos": [(lax.cos, (X,))],
    "tan": [(lax.tan, (X,))],
    "asin": [(lax.asin, (X / 4,))],
    "acos": [(lax.acos, (X / 4,))],
    "atan": [(lax.atan, (X,))],
    "atan2": [(lax.atan2, (X, Y))],
    "sinh": [(lax.sinh, (X,))],
    "cosh": [(lax.cosh, (X,))],
    "tanh": [(lax.tanh, (X,))],
    "asinh": [(lax.asinh, (X,))],
    "acosh": [(lax.acosh, (1 + POSITIVE,))],
    "atanh": [(lax.atanh, (X / 4,))],
    "erf": [(lax.erf, (X,))],
    "erfc": [(lax.erfc, (X,))],
    "erf_inv": [(lax.erf_inv, (X / 4,))],
    "polygamma": [(lax.polygamma, (np.full_like(X, 2.0), 1 + POSITIVE))],
    "igamma": [(lax.igamma, (POSITIVE, np.abs(Y)))],
    "igammac": [(lax.igammac, (POSITIVE, np.abs(Y)))],
    "zeta": [(lax.zeta, (1.5 + POSITIVE, np.abs(Y)))],
    "regularized_incomplete_beta": [(lax.betainc, (POSITIVE, np.abs(Y), POSITIVE / 4))],
    "bessel_i0e": [(lax.bessel_i0e, (X,))],
    "bessel_i1e": [(lax.bessel_i1e, (X,))],
    "population_count": [(lax.population_count, (np.abs(I),)), (lax.population_count, (SMALL,))],
    "nextafter": [(lax.nextafter, (X, Y))],
    "real": [(lax.real, (X + 1j * Y,))],
    "imag": [(lax.imag, (X + 1j * Y,))],
    "conj": [(lax.conj, (X + 1j * Y,))],
    "complex": [(lax.complex, (X, Y))],
    "top_k": [(lambda x: lax.top_k(x, 2), (X,)), (lambda x: lax.top_k(x, 3), (CUBE,))],
    "lgamma": [(lax.lgamma, (POSITIVE,))],
    "digamma": [(lax.digamma, (2 + POSITIVE,))],
    "clamp": [(lambda x: lax.clamp(-1.0, x, 1.0), (X,)), (lambda x: lax.clamp(0.0, x, 2.0), (NAN,))],
    "copy": [(jnp.copy, (X,))],
    "convert_element_type": [
        (lambda x: x.astype("int32"), (np.array([1.9, -1.9, 1e12, -1e12]),)),
        (lambda x: x.astype("int8"), (I * 100,)),
        (lambda x: x.astype(bool), (X,)),
        (lambda x: x.astype("float32"), (X,)),
        (lambda x: x.astype(complex), (X,)),
    ],
    "integer_pow": [
        (lambda x: lax.integer_pow(x, 3), (I,)),
        (lambda x: lax.integer_pow(x, -2), (X,)),
        (lambda x: lax.integer_pow(x, -2), (X + 1j * Y,)),
    ],
    "round": [
        (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), (X,)),
        (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), (X,)),
    ],
    "broadcast_in_dim": [(lambda x: lax.broadcast_in_dim(x, (2, 4, 3), (0, 2)), (X,))],
    "reshape": [(lambda x: lax.reshape(x, (3, 2)), (X,))],
    "squeeze": [(lambda x: lax.squeeze(x, (0, 2)), (X[None, :, None],))],
    "transpose": [(lambda x: lax.transpose(x, (2, 0, 1)), (CUBE,))],
    "rev": [(lambda x: lax.rev(x, (1, 2)), (CUBE,))],
    "concatenate": [(lambda x, y: lax.concatenate([x, y, x], 1), (X, Y))],
    "slice": [
        (lambda x: lax.slice(x, (0, 1, 0), (2, 3, 4), (1, 1, 3)), (CUBE,)),
        (lambda x: lax.slice(x, (1, 0), (2, 2)), (X,)),
    ],
    "split": [(lambda x: lax.split(x, (1, 0, 2), 1), (X,))],
    "pad": [
        (lambda x: lax.pad(x, 9.0, ((1, 2, 0), (0, 1, 2))), (X,)),
        (lambda x: lax.pad(x, 9.0, ((-1, 0, 0), (1, -2, 1))), (X,)),
    ],
    "iota": [(lambda: lax.broadcasted_iota("int32", (2, 3), 1), ()), (lambda: lax.iota("float64", 4), ())],
    "reduce_sum": [(lambda x: jnp.sum(x, (0, 2)), (CUBE,)), (lambda x: jnp.sum(x, 1, "int8"), (SMALL,))],
    "reduce_prod": [(lambda x: jnp.prod(x, 1), (CUBE,))],
    "reduce_max": [(lambda x: jnp.max(x, 0), (X,)), (jnp.max, (NAN,))],
    "reduce_min": [(lambda x: jnp.min(x, (0, 1)), (CUBE,))],
    "reduce_and": [(lambda x: jnp.all(x, 0), (B,)), (lambda x: jnp.bitwise_and.reduce(x, axis=1), (CUBE,))],
    "reduce_or": [(lambda x: jnp.any(x, 0), (B,)), (lambda x: jnp.bitwise_or.reduce(x, axis=1), (CUBE,))],
    "argmax": [(lambda x: jnp.argmax(x, 1), (CUBE,)), (jnp.argmax, (NAN[::-1].copy(),))],
    "argmin": [(lambda x: lax.argmin(x, 2, np.int32), (CUBE,))],
    "cumsum": [(lambda x: lax.cumsum(x, 1), (CUBE,)), (lambda x: lax.cumsum(x, 1, reverse=True), (SMALL,))],
    "cumprod": [(lambda x: lax.cumprod(x, 0), (X,)), (lambda x: lax.cumprod(x, 2, reverse=True), (CUBE,))],
    "cummax": [(lambda x: lax.cummax(x, 1), (I,)), (lambda x: lax.cummax(x, 1, reverse=True), (I,))],
    "cummin": [(lambda x: lax.cummin(x, 0), (I,))],
    "sort": [
        (lambda x: lax.sort(x, 0), (CUBE,)),
        (lax.sort, (NAN,)),
        (lambda *x: lax.sort(x, 1, num_keys=1), (CUBE[0] % 2, CUBE[1])),
        (lambda *x: lax.sort(x, 1, num_keys=2), (CUBE[0] % 2, CUBE[1], CUBE[0])),
    ],
    "dot_general": [
        (lambda x, y: x @ y.T, (X, Y)),
        (lambda x, y: lax.dot_general(x, y, (((1,), (1,)), ((0,), (0,)))), (CUBE, CUBE[..., 1:] + 1)),
        (lambda x, y: lax.dot(x, y, preferred_element_type="int32"), (SMALL, SMALL.T.copy())),
    ],
    "dynamic_slice": [(lambda x, i: lax.dynamic_slice(x, (i, 2 * i), (1, 2)), (X, np.int64(1)))],
    "dynamic_update_slice": [
        (lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i + 1)), (X, Y[:1, :2], np.int64(1)))
    ],
    "gather": [
        *((gather_of(mode), (X, PLACES)) for mode in ("fill", "clip")),
        (gather_of("fill"), (I, PLACES)),
        (gather_of("fill"), (B, PLACES)),
        (lambda x, i: jax.vmap(lambda row, j: row[j])(x, i), (X, np.array([2, 0]))),
    ],
    "scatter": [
        (scatter_of(lax.scatter), (X, ONE_EACH, UPDATES[:3])),
        (lambda x, i: x.at[i].set(7.0), (Y[0], I[0] % 3)),
    ],
    "scatter-add": [(scatter_of(lax.scatter_add), WRITES), (lambda x: x.at[np.array([0, 0])].add(1.5), (X,))],
    "scatter-mul": [(scatter_of(lax.scatter_mul), WRITES)],
    "scatter-min": [(scatter_of(lax.scatter_min), WRITES)],
    "scatter-max": [(scatter_of(lax.scatter_max), WRITES)],
}  # fmt: skip


class SearchSorted:
    """Stand for an operation that newer versions of JAX keep as a whole."""

    def __init__(self, side):
        self.params = {"batch_dims": 0, "side": side}


# operations that not every version of JAX writes, or only for devices: parameters, arrays, and what it must be
WRITTEN_ELSEWHERE = {
    **{name: ({}, (X,), X) for name in ("copy_p", "pvary", "device_put", "sharding_constraint")},
    "optimization_barrier": ({}, (X,), X),
    "lt_to": ({}, (X, Y), X < Y),
    "le_to": ({}, (X, Y), X <= Y),
    "eq_to": ({}, (I, J), I == J),
    "expand_dims": ({"dimensions": (0, 2)}, (X,), X[None, :, None]),
    "stack": ({"axis": 1}, (X, Y), np.array([[X[0], Y[0]], [X[1], Y[1]]])),
    "tile": ({"reps": (2, 1)}, (X,), X[[0, 1, 0, 1]]),
    "call_hi_primitive": ({"_prim": SearchSorted("right")}, (np.arange(4.0), X), [[1, 0, 3], [4, 0, 2]]),
}  # fmt: skip


def test_every_rule_is_compared():
    assert CASES.keys() | WRITTEN_ELSEWHERE.keys() == RULES.keys()
    assert RULES.keys() > ELEMENTWISE.keys()


@pytest.mark.parametrize("name", WRITTEN_ELSEWHERE)
def test_a_rule_that_this_version_of_jax_may_not_write_computes_its_operation(name):
    parameters, arrays, expected = WRITTEN_ELSEWHERE[name]
    np.testing.assert_array_equal(RULES[name](parameters, *arrays), expected)


@pytest.mark.parametrize(
    ("name", "number"), [(name, n) for name, cases in CASES.items() for n in range(len(cases))]
)
def test_a_rule_computes_what_jax_computes(name, number):
    """A rule that is wrong would pass an index that does not fit, or refuse one that does."""
    function, arguments = CASES[name][number]
    closed = jax.make_jaxpr(function)(*arguments)
    steps = flatten(closed, is_bounded=False).steps
    # Versions after the first may write an operation in another way.
    assert name in [step.name for step in steps] or jax.__version_info__[:2] > (0, 10)
    found, expected = (
        run(closed, [*map(np.asarray, arguments)]),
        jax.tree.leaves(jax.jit(function)(*arguments)),
    )
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14, atol=0.0, strict=True)


def step_of(function, *arguments):
    """The only operation of a function."""
    (step,) = flatten(jax.make_jaxpr(function)(*arguments), is_bounded=False).steps
    return step


def test_a_fault_of_a_rule_and_a_lack_of_memory_are_not_taken_for_an_operation_without_a_rule():
    """Of which nothing is said, so that no test would see the fault."""

    class Failing(np.ndarray):
        def __array_ufunc__(self, *_, **__):
            raise error

    step = step_of(lax.neg, X)
    for error in (MemoryError(), IndexError(), TypeError(), ValueError()):
        with pytest.raises(type(error)):
            results_of(step, [X.view(Failing)])


UNKNOWN = {
    "a dtype that is not of NumPy": (lambda x: -x, jnp.ones(3, "bfloat16")),
    "an operation without a rule": (lambda x: lax.reduce_precision(x, 8, 7), X),
    "a loop with too many turns": (lambda x: lax.fori_loop(0, 20_000, lambda _, t: -t, x), X),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_no_rule_knows_is_told_as_such(case):
    function, argument = UNKNOWN[case]
    with pytest.raises(UnevaluableError):
        run(jax.make_jaxpr(function)(argument), [np.asarray(argument)])


def test_a_parameter_that_a_version_of_jax_does_not_have_is_no_fault():
    with pytest.raises(UnevaluableError, match="no parameter 'rounding_method'"):
        RULES["round"](Parameters({}), X)


def moved(function, *arguments):
    """What a function may give, however its operations are rounded, in NumPy and in XLA."""
    closed = jax.make_jaxpr(function)(*arguments)
    with jax.numpy_dtype_promotion("standard"):
        theirs = np.asarray(jax.jit(function)(*arguments))
    return np.array([run(closed, [*arguments], rounding)[0] for rounding in (None, *ROUNDINGS)]), theirs


NUMBERS = np.random.default_rng(0).normal(size=400)
ROUNDED = {
    "sum": (jnp.sum, NUMBERS),
    "float32": (jnp.sum, NUMBERS.astype("float32")),
    "cumsum": (jnp.cumsum, NUMBERS),
    "dot": (lambda x: x @ x[::-1], NUMBERS),
    "scatter": (lambda x: jnp.zeros(1).at[np.zeros(400, int)].add(x), NUMBERS),
    "log": (lambda x: jnp.log(jnp.abs(x)), NUMBERS),
    "sin": (lambda x: jnp.sin(1000 * x), NUMBERS),
    "loop": (lambda x: lax.fori_loop(0, 5, lambda _, c: jnp.tanh(c), x), NUMBERS),
    "branch": (lambda x: lax.cond(x[0] > 0, jnp.exp, jnp.exp2, x), NUMBERS),
}


@pytest.mark.parametrize("case", ROUNDED)
def test_what_xla_computes_lies_between_what_other_roundings_give(case):
    function, argument = ROUNDED[case]
    found, theirs = moved(function, argument)
    assert np.all(found.min(0) <= theirs) and np.all(theirs <= found.max(0))
    assert np.all(np.ptp(found, axis=0) > 0)
    assert np.all(np.ptp(found, axis=0) < (0.1 if case == "float32" else 1e-10))


def test_what_is_exact_is_not_moved():
    found, theirs = moved(lambda x: jnp.floor(x / 0.25) * 2 - jnp.sqrt(jnp.abs(x)), NUMBERS)
    assert np.all(np.ptp(found, axis=0) == 0)
    np.testing.assert_allclose(found[0], theirs, rtol=1e-15)
    assert np.all(moved(lambda x: jnp.log(x[:1] * 0 + 1), NUMBERS)[0] == 0)  # of one
