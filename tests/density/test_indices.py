"""Check that every integer of the data that indexes an axis is compared with it, before anything is compiled."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.lax import reduce_precision
from jax.scipy.stats import norm

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import DataError, SiteError
from accord.density import LogDensity, sharded_sum

SIZE = 4
FROM_ONE = np.array([1, 2, 3, 4, 2])
MISSING = np.array([0, 3, -1, 2, 1])
GOOD = np.array([0, 3, 2, 1, 1])
HELD_FROM_ONE, HELD_MISSING = FROM_ONE.copy(), MISSING.copy()
HELD = {"codes": FROM_ONE[::-1].copy()}


class Codes:
    """Hold codes, and index by them when it is called."""

    def __init__(self, codes):
        self.codes = codes

    def __call__(self, a, g):
        return a[self.codes]


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def grouped(expression):
    """A model with effects `a` of a plate "group", and a factor that is an expression of them and of the data `g`."""

    @ac.model
    def model(g):
        mean = ac.sample("mean", dist.Normal(0.0, 1.0))
        with ac.plate("group", SIZE):
            a = ac.sample("a", dist.Normal(mean, 1.0))
        ac.factor("f", jnp.sum(expression(a, g)))

    return model


def add_up(a, g):
    """Go through the rows in a loop that counts them."""
    return jax.lax.fori_loop(0, len(g), lambda i, total: total + a[g[i]], 0.0)


def go_through(a, g):
    """Go through the rows in a loop whose length the trace does not know."""
    return jax.lax.fori_loop(0, jnp.asarray(len(g)), lambda i, total: total + a[g[i]], 0.0)


@jax.custom_vjp
def looked_up(a, g):
    """Index, with a derivative of its own."""
    return a[g]


looked_up.defvjp(lambda a, g: (a[g], None), lambda _, d: (jnp.zeros(SIZE) + jnp.sum(d), None))

# expressions that index by g as it is
DIRECT = {
    "brackets": lambda a, g: a[g],
    "what follows from the site": lambda a, g: (1.0 + 2.0 * jnp.exp(a))[g],
    "take": lambda a, g: jnp.take(a, g),
    "take of the array": lambda a, g: a.take(g),
    "take_along_axis": lambda a, g: jnp.take_along_axis(a, g, 0),
    "at get": lambda a, g: a.at[g].get(),
    "in jit": lambda a, g: jax.jit(lambda a, g: a[g])(a, g),
    "in vmap": lambda a, g: jax.vmap(lambda i: a[i])(g),
    "in checkpoint": lambda a, g: jax.checkpoint(lambda a: a[g])(a),
    "in a derivative": lambda a, g: jax.grad(lambda a: a[g].sum())(a),
    "in custom_vjp": looked_up,
    "in scan": lambda a, g: jax.lax.scan(lambda c, i: (c, a[i]), 0.0, g)[1],
    "in scan, by a counter": add_up,
    "in map": lambda a, g: jax.lax.map(lambda i: a[i], g),
    "in while": lambda a, g: jax.lax.while_loop(lambda c: c < 9.0, lambda c: c + 10.0 + a[g].sum(), 0.0),
    "in cond": lambda a, g: jax.lax.cond(a[0] > 0, lambda: a[g].sum(), lambda: 0.0),
    "in ac.cond": lambda a, g: ac.cond(a[0] > 0, lambda: a[g].sum(), lambda: 0.0),
    "in ac.scan": lambda a, g: ac.scan(lambda c, i: (c, a[i]), 0.0, g)[1],
    "in a sum over devices": lambda a, g: sharded_sum(lambda i, a: a[i], g, a),
    "in a loop of unknown length": go_through,
    "in two axes": lambda a, g: jnp.stack([a, a])[0, g],
    "with an index that depends on a site": lambda a, g: jnp.stack([a, a])[(a[g] > 0).astype(int), g],
    "reshaped": lambda a, g: a[g[:, None].astype("int32")],
    "in a mask": lambda a, g: jnp.where(g >= 0, a[g], 0.0),
}
# expressions that write by g, or whose array has no plate
WRITTEN = {
    "segment_sum": lambda a, g: jax.ops.segment_sum(a[0] * jnp.ones(5), g, num_segments=SIZE),
    "at add": lambda a, g: jnp.zeros(SIZE).at[g].add(a[0]),
    "at set": lambda a, g: jnp.zeros(SIZE).at[g].set(a[0]),
    "at max": lambda a, g: jnp.zeros(SIZE).at[g].max(a[0]),
    "dynamic_update_slice": lambda a, g: jax.lax.dynamic_update_slice(
        jnp.zeros(SIZE), a[:1], (jnp.where(jnp.any(g < 0), -1, jnp.max(g)),)
    ),
}
BAD = {
    "from one": (FROM_ONE, ("row 3 is 4", "Subtract 1, as in `g - 1`")),
    "missing": (MISSING, ("row 2 is -1",)),
}


@pytest.mark.parametrize("case", DIRECT)
def test_an_index_of_the_data_that_does_not_fit_its_axis_is_an_error(case):
    density = LogDensity.from_model(grouped(DIRECT[case])(GOOD))
    assert not density.notices
    for values, words in BAD.values():
        with pytest.raises(DataError) as caught:
            density.with_data({"g": values})
        for word in ("argument 'g'", *words, "of size 4", "from 0 to 3", "test_indices.py:"):
            assert word in str(caught.value)
        assert "axes" in case or "depends" in case or "plate 'group'" in str(caught.value)


@pytest.mark.parametrize("case", WRITTEN)
def test_an_index_that_is_written_to_is_compared_too(case):
    density = LogDensity.from_model(grouped(WRITTEN[case])(GOOD))
    assert not density.notices
    for values, _ in BAD.values():
        with pytest.raises(DataError, match=r"argument 'g'.*must be from 0 to 3"):
            density.with_data({"g": values})


# name: expression, data, words
WORDED = {
    "a missing code": (lambda a, g: a[g], MISSING, ("pandas.factorize", "`jnp.where(g < 0, 0, g)`", "mask=g >= 0")),
    "a missing code, taken": (lambda a, g: jnp.take(a, g), MISSING, ("count from the end and take entry 3",)),
    "beyond": (lambda a, g: a[g], np.array([0, 9]), ("row 1 is 9", "np.unique(labels, return_inverse=True)")),
    "beyond, taken": (lambda a, g: jnp.take(a, g), np.array([0, 9]), ("JAX would put NaN there",)),
    "beyond, added": (lambda a, g: jnp.zeros(SIZE).at[g].add(a[0]), np.array([0, 9]), ("JAX would leave it out",)),
    "once too often": (lambda a, g: a[g - 1], GOOD, ("row 0 is 0, from which the model computes -1", "from 0 as they")),
    "one number": (lambda a, g: a[g[1]], np.array([0, 4]), ("the value is 4", "Subtract 1 from the index")),
    "one more row": (
        lambda a, g: a[jnp.concatenate([g, g[:1] - 1])],
        GOOD,
        ("computes an index from it, of which row 5 is -1",),
    ),
    "a matrix": (lambda a, g: a[g], np.array([[0, 1], [9, 1]]), ("entry (1, 0) is 9", "1 of 4 are not")),
    "a slice": (
        lambda a, g: jax.lax.dynamic_slice(a, (g[0],), (3,)),
        np.array([2]),
        ("is 2", "from 0 to 1, since 3 entries are taken"),
    ),
    "a list of arrays": (lambda a, g: a[g[0]], [FROM_ONE, np.zeros(3)], ("argument 'g/0'", "as in `g[0] - 1`")),
    "a dict": (lambda a, g: a[g["c"]["d"]], {"c": {"d": FROM_ONE}}, ("argument 'g/c/d'", "as in `d - 1`")),
    "data that are indexed": (
        lambda a, g: g["x"][g["i"]] * a[0],
        {"x": np.ones(3), "i": np.array([3])},
        ("axis 0, of size 3, of argument 'g/x'",),
    ),
    "an index of indices": (
        lambda a, g: a[g["of"][g["row"]]],
        {"of": FROM_ONE, "row": np.array([0, 3])},
        ("arguments 'g/of' and 'g/row'", "row 1 is 4"),
    ),
    "the indices of an index": (
        lambda a, g: a[g["of"][g["row"]]],
        {"of": GOOD, "row": np.array([0, 5])},
        ("argument 'g/row': row 1 is 5", "axis 0, of size 5, of argument 'g/of'"),
    ),
    "a branch that is taken": (
        lambda a, g: jax.lax.cond(g[0] > 0, lambda: a[g].sum(), lambda: 0.0),
        FROM_ONE,
        ("row 3 is 4",),
    ),
    "negative in spite of mode": (
        lambda a, g: a.at[g].get(mode="fill", fill_value=0.0),
        MISSING,
        ("row 2 is -1", "JAX would count from the end"),
    ),
    "held by the module": (lambda a, g: a[HELD_FROM_ONE], GOOD, ("'HELD_FROM_ONE', which the model's code holds",)),
    "held, missing": (lambda a, g: a[HELD_MISSING], GOOD, ("array 'HELD_MISSING'", "row 2 is -1")),
    "held in a dict": (lambda a, g: a[jnp.asarray(HELD["codes"])], GOOD, ("\"HELD['codes']\"",)),
    "held by an object": (Codes(FROM_ONE * 1), GOOD, ("array 'expression.codes'",)),
    "held by a closure": ((lambda codes: lambda a, g: a[codes])(FROM_ONE * 1), GOOD, ("array 'codes'",)),
    "with a condition in each turn": (
        lambda a, g: jax.lax.map(lambda i: a[jnp.where(i > 3, i, jnp.stack([i - 1, i - 1, i - 1, i - 1]))], g),
        FROM_ONE,
        ("(3, 0) is 4",),
    ),
    "a constant of the program": (lambda a, g: a[g] * int(np.max(g)), MISSING, ("argument 'g': row 2 is -1",)),
    "static": (lambda a, g: a[g], ac.static(MISSING), ("argument 'g': row 2 is -1",)),
    "small integers": (lambda a, g: a[g], FROM_ONE.astype("uint8"), ("row 3 is 4",)),
}  # fmt: skip


@pytest.mark.parametrize("case", WORDED)
def test_the_error_says_what_is_wrong_and_what_to_do(case):
    expression, values, words = WORDED[case]
    with pytest.raises(DataError) as caught:
        LogDensity.from_model(grouped(expression)(values))
    for word in words:
        assert word in str(caught.value)


# expressions that are right, with their data
PASSES = {
    "codes from one, less one": (lambda a, g: a[g - 1], FROM_ONE),
    "a hidden missing code": (lambda a, g: jnp.where(g < 0, 0.0, a[jnp.where(g < 0, 0, g)]), MISSING),
    "clipped": (lambda a, g: a[jnp.clip(g, 0, SIZE - 1)], MISSING),
    "a remainder": (lambda a, g: a[g % SIZE], MISSING),
    "counted from the end on purpose": (lambda a, g: a[jnp.where(g < 0, g + SIZE, g)], MISSING),
    "a bin of floats": (lambda a, g: a[jnp.floor(g / 2.5).astype(int)], np.linspace(0.0, 9.9, 7)),
    "a place among edges": (lambda a, g: a[jnp.searchsorted(jnp.array([1.0, 2.0, 3.0]), g)], np.linspace(0.0, 9.0, 5)),
    "sorted": (lambda a, g: a[jnp.sort(g)[jnp.argsort(g)]], GOOD),
    "a constant": (lambda a, g: a[-1] + a[jnp.array([0, -1])].sum() + a[np.array([-2])].sum(), GOOD),
    "clip, said": (lambda a, g: jnp.take(a, g, mode="clip"), np.array([-3, 9])),
    "fill, said": (lambda a, g: jnp.take(a, g, mode="fill", fill_value=0.0), np.array([0, 9])),
    "fill, said of at": (lambda a, g: a.at[g].get(mode="fill", fill_value=0.0), np.array([0, 9])),
    "drop, said": (lambda a, g: jnp.zeros(SIZE).at[g].add(a[0], mode="drop"), np.array([0, 9])),
    "drop, said of segments": (
        lambda a, g: jax.ops.segment_sum(a[0] * jnp.ones(2), g, num_segments=3, mode="drop"),
        np.array([0, 9]),
    ),
    "a branch that is not taken": (lambda a, g: jax.lax.cond(g[0] < 0, lambda: a[g].sum(), lambda: 0.0), FROM_ONE),
    "turns of a loop that are left out": (
        lambda a, g: jax.lax.map(lambda i: jax.lax.cond(i < 0, lambda: 0.0, lambda: a[i]), g),
        MISSING,
    ),
    "a branch that cannot be followed": (
        lambda a, g: jax.lax.cond(
            reduce_precision(g.astype(float), 8, 7).mean() > 100.0, lambda: a[g].sum(), lambda: 0.0
        ),
        GOOD,
    ),
    "a branch that rounded numbers do not choose": (
        lambda a, g: jax.lax.cond(jnp.exp(g).mean() > 1000.0, lambda: a[g].sum(), lambda: 0.0),
        FROM_ONE,
    ),
    "a loop that is not begun": (
        lambda a, g: jax.lax.while_loop(lambda c: c[0] < g[0], lambda c: (c[0] + 1, a[g].sum()), (2, 0.0))[1],
        FROM_ONE,
    ),
    "by a site": (lambda a, g: a[(a > 0).astype(int)] + g[0], FROM_ONE),
    "repeated, by JAX's own indices": (lambda a, g: jnp.repeat(a, g, total_repeat_length=10), np.array([0, 1, 0, 9])),
    "counted, by JAX's own indices": (lambda a, g: jnp.bincount(g, length=3) * a[0], FROM_ONE),
    "rolled": (lambda a, g: jnp.roll(a, g[0]), np.array([-7])),
    "one hot": (lambda a, g: jax.nn.one_hot(g, SIZE) @ a, MISSING),
    "no rows": (lambda a, g: a[g], np.zeros(0, int)),
    "not an index": (lambda a, g: a[0] * g, np.array([-5, 77])),
}  # fmt: skip


@pytest.mark.parametrize("case", PASSES)
def test_an_index_that_fits_and_what_only_looks_like_one_pass(case):
    expression, values = PASSES[case]
    density = LogDensity.from_model(grouped(expression)(values))
    assert not [notice for notice in density.notices if notice.code == "index_not_checked"]


# expressions in the namespace of NumPy or JAX
PROGRAMS = {
    "a[i]": lambda xp, a, i, j: a[i],
    "a[i, j]": lambda xp, a, i, j: a[i, j],
    "a[:, j]": lambda xp, a, i, j: a[:, j],
    "a[i[:, None], j]": lambda xp, a, i, j: a[i[:, None], j],
    "a[i][..., j]": lambda xp, a, i, j: a[i][..., j],
    "a[i + 1]": lambda xp, a, i, j: a[i + 1],
    "a[i // 2]": lambda xp, a, i, j: a[i // 2],
    "a[2 - i]": lambda xp, a, i, j: a[2 - i],
    "a[abs(i)]": lambda xp, a, i, j: a[xp.abs(i)],
    "a[i * i]": lambda xp, a, i, j: a[i * i],
    "a[maximum]": lambda xp, a, i, j: a[xp.maximum(i, j)],
    "a[where]": lambda xp, a, i, j: a[xp.where(i > j, i, j)],
    "a[concatenate]": lambda xp, a, i, j: a[xp.concatenate([i, j])],
    "a[stack]": lambda xp, a, i, j: a[xp.stack([i, j], 1)],
    "a[cumsum]": lambda xp, a, i, j: a[xp.cumsum(i)],
    "a[diff]": lambda xp, a, i, j: a[i[1:] - i[:-1]],
    "a[sort]": lambda xp, a, i, j: a[xp.sort(i)[::-1][:2]],
    "a[sum]": lambda xp, a, i, j: a[xp.sum(i)],
    "a[outer]": lambda xp, a, i, j: a[i[:, None] * j, xp.max(j)],
    "a[transpose]": lambda xp, a, i, j: a[xp.stack([i, j]).T[:, 1]],
    "a[tile]": lambda xp, a, i, j: a[xp.tile(i, 2)],
    "a[dot]": lambda xp, a, i, j: a[xp.dot(xp.stack([i, j], 1), np.array([2, 1]))],
    "a[argmax]": lambda xp, a, i, j: a[xp.argmax(i) + j[0]],
    "a[astype]": lambda xp, a, i, j: a[(i / 2).astype("int64")],
    "a[bool]": lambda xp, a, i, j: a[(i > j).astype("int64") + i],
    "take": lambda xp, a, i, j: xp.take(a, i, axis=0),
    "take_along_axis": lambda xp, a, i, j: xp.take_along_axis(a, xp.tile(i[:, None], (1, 4)), axis=0),
}


def numpy_refuses(program, a, i, j):
    """Whether NumPy raises, or would count a number of the data from the end."""

    class Watched(np.ndarray):
        """An array that takes no negative index."""

        def __getitem__(self, index):
            for each in index if isinstance(index, tuple) else (index,):
                if isinstance(each, np.ndarray | np.integer) and np.any(np.asarray(each) < 0):
                    raise IndexError
            return super().__getitem__(index)

        def take(self, indices, axis=None, out=None, mode="raise"):
            if np.any(np.asarray(indices) < 0):
                raise IndexError
            return np.asarray(self).take(indices, axis)

    try:
        program(np, a.view(Watched), i, j)
    except IndexError:
        return True
    return False


@pytest.mark.parametrize("case", PROGRAMS)
def test_an_index_is_refused_where_numpy_refuses_it_or_counts_from_the_end(case):
    program, random = PROGRAMS[case], np.random.default_rng(len(case))
    a = np.ones((3, 4))

    @ac.model
    def model(i, j):
        x = ac.sample("x", dist.Normal(jnp.zeros((3, 4)), 1.0))
        ac.factor("f", jnp.sum(program(jnp, x, i, j)))

    density = LogDensity.from_model(model(np.zeros(3, int), np.zeros(3, int)))
    seen = set()
    for low, high in [(0, 2), (0, 3), (0, 4), (-1, 3), (-3, 2), (0, 2), (0, 3), (0, 1)] * 3:
        data = {"i": random.integers(low, high, 3), "j": random.integers(0, 5, 3)}
        expected = numpy_refuses(program, a, **data)
        seen.add(expected)
        try:
            density.with_data(data)
            is_refused = False
        except DataError:
            is_refused = True
        assert is_refused == expected, data
    assert len(seen) == 2  # both have been tried


# expressions of numbers that NumPy and XLA round differently: values that fit, and values of which row 2 does not
ROUNDED = {
    "log": (lambda a, g: a[jnp.log(g).astype(int)], [1.0, 50.0, 1.5], [1.0, 50.0, 60.0]),
    "of another base": (lambda a, g: a[jnp.floor(jnp.log2(g)).astype(int)], [1.0, 2.0, 8.0], [1.0, 2.0, 17.0]),
    "sqrt of a sum": (lambda a, g: a[jnp.sqrt(jnp.cumsum(g)).astype(int)], [0.1, 8.0, 0.1], [0.1, 8.0, 9.0]),
    "mean": (lambda a, g: a[(g + 0.1 * g.mean()).astype(int)], [0.3, 1.0, 1.4], [0.3, 1.0, 4.0]),
    "probability": (lambda a, g: a[(4.6 * norm.cdf(g)).astype(int)], [-9.0, 0.0, 1.0], [-9.0, 0.0, 3.0]),
    "rows of a scan": (
        lambda a, g: a[jax.lax.scan(lambda t, x: (t, jnp.log(x)), 0, g)[1].astype(int)],
        [1.0, 2.0, 4.0],
        [1.0, 2.0, 60.0],
    ),
    "angle": (lambda a, g: a[(jnp.arctan2(g, 1.0) + 1.6).astype(int) + 1], [0.0, 1.0, 0.1], [0.0, 1.0, 99.0]),
}  # fmt: skip


@pytest.mark.parametrize("case", ROUNDED)
def test_an_index_of_rounded_numbers_is_compared_where_rounding_makes_no_difference(case):
    expression, fits, beyond = ROUNDED[case]
    model = grouped(expression)
    density = LogDensity.from_model(model(np.array(fits)))
    assert not density.notices
    for refused in (model(np.array(beyond)).log_density, lambda: density.with_data({"g": np.array(beyond)})):
        with pytest.raises(
            DataError, match=r"'g': row 2 is .*from which the model computes 4.*plate 'group'"
        ):
            refused()


EDGES = {
    "log": (lambda a, g: a[(jnp.log10(g) + 1.0).astype(int)], [1000.0]),  # 3 or 4
    "sum": (lambda a, g: a[jnp.sum(g).astype(int)], [0.1] * 40),
    "below": (lambda a, g: a[jnp.floor(jnp.sin(g)).astype(int)], [2 * np.pi]),
    "float32": (lambda a, g: a[(jnp.exp(g.astype("float32")) + 2).astype(int)], [np.log(2.0)]),
}


@pytest.mark.parametrize("case", EDGES)
def test_an_index_that_the_last_digit_takes_over_an_edge_is_told_by_a_notice(case):
    expression, values = EDGES[case]
    (notice,) = LogDensity.from_model(grouped(expression)(np.array(values))).notices
    assert notice.code == "index_not_checked" and notice.severity == "info"
    for word in ("plate 'group' of size 4", "'g'", "rounding of the last digit", "test_indices.py:"):
        assert word in notice.message


def regime(a, g):
    """Count the changes of a series, beside a number that sites change."""

    def step(carry, now):
        number, level, before = carry
        number = number + (now != before)
        return (number, level + a[number], now), a[number]

    return jax.lax.scan(step, (0, a[0], g[0]), g)[1]


# expressions by what a loop carries: values that fit, and values that do not
CARRIED = {
    "changes": (regime, [5, 5, 7, 5, 5], [5, 6, 7, 8, 9]),
    "in reverse": (
        lambda a, g: jax.lax.scan(lambda c, i: (c + i, a[c]), 0, g, reverse=True)[1],
        [9, 1, 1, 1],
        [9, 2, 2, 1],
    ),
    "of rounded numbers": (
        lambda a, g: jax.lax.scan(lambda c, i: (c + jnp.log1p(i), a[c.astype(int)]), 0.0, g)[1],
        [1.0, 2.0, 3.0, 4.0],
        [9.0, 9.0, 3.0],
    ),
    "in a loop of a loop": (
        lambda a, g: jax.lax.map(
            lambda k: jax.lax.fori_loop(0, 3, lambda _, c: (c[0] + k, c[1] + a[c[0]]), (0, 0.0)), g
        )[1],
        [0, 1],
        [0, 2],
    ),
    "in ac.scan": (lambda a, g: ac.scan(lambda c, i: (c + i, a[c]), 0, g)[1], [1, 1, 1, 9], [1, 1, 2, 9]),
}  # fmt: skip


@pytest.mark.parametrize("case", CARRIED)
def test_an_index_that_a_loop_carries_is_compared_in_every_turn(case):
    expression, fits, beyond = CARRIED[case]
    model = grouped(expression)
    density = LogDensity.from_model(model(np.array(fits)))
    assert not density.notices
    for refused in (model(np.array(beyond)).log_density, lambda: density.with_data({"g": np.array(beyond)})):
        with pytest.raises(DataError, match="plate 'group'"):
            refused()


# expressions that NumPy cannot follow
UNKNOWN = {
    "reduce_precision": lambda a, g: a[reduce_precision(g.astype(float), 8, 7).astype(int)],
    "while": lambda a, g: jax.lax.while_loop(
        lambda c: c[0] < g[0], lambda c: (2 * c[0] + 1, c[1] + a[c[0]]), (0, 0.0)
    )[1],
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_index_that_numpy_cannot_follow_is_told_by_a_notice(case):
    (notice,) = LogDensity.from_model(grouped(UNKNOWN[case])(np.array([1, 2]))).notices
    assert notice.code == "index_not_checked" and notice.severity == "info"
    for word in ("plate 'group' of size 4", "'g'", f"`{case}`", "test_indices.py:"):
        assert word in notice.message


def rare(a, g):
    """Whether something holds of the data for which NumPy has no rule."""
    return reduce_precision(g.astype(float), 8, 7).mean() > 1000.0


# expressions that index by data which do not fit, where it is not known whether they come to it
PERHAPS = {
    "cond": lambda a, g: jax.lax.cond(rare(a, g), lambda: a[g].sum(), lambda: 0.0),
    "ac.cond": lambda a, g: ac.cond(rare(a, g), lambda: a[g].sum(), lambda: 0.0),
    "a condition of data and a site": lambda a, g: jax.lax.cond(
        rare(a, g) & (a[0] > 0), lambda: a[g].sum(), lambda: 0.0
    ),
    "switch": lambda a, g: jax.lax.switch(rare(a, g).astype(int), [lambda: 0.0, lambda: a[g].sum()]),
    "a branch of a branch": lambda a, g: jax.lax.cond(
        rare(a, g), lambda: jax.lax.cond(g[0] > 0, lambda: a[g].sum(), lambda: 0.0), lambda: 0.0
    ),
    "in each turn of a scan": lambda a, g: jax.lax.map(
        lambda i: jax.lax.cond(reduce_precision(i.astype(float), 8, 7) > 1000.0, lambda: a[i], lambda: 0.0), g
    ),
    "while": lambda a, g: jax.lax.while_loop(
        lambda c: rare(a, g) & (c[0] < 3), lambda c: (c[0] + 1, c[1] + a[g].sum()), (0, 0.0)
    )[1],
    "as many turns as data say": lambda a, g: jax.lax.fori_loop(
        0, g[0], lambda i, total: total + a[g[i]], 0.0
    ),
}


@pytest.mark.parametrize("case", PERHAPS)
def test_an_index_that_does_not_fit_in_a_branch_that_is_not_known_is_told_by_a_notice(case):
    model = grouped(PERHAPS[case])
    fits = LogDensity.from_model(model(GOOD))
    assert not fits.notices
    for density in (fits.with_data({"g": FROM_ONE}), LogDensity.from_model(model(FROM_ONE))):
        (notice,) = density.notices
        assert notice.code == "index_not_checked" and notice.severity == "info"
        for word in ("If it is: argument 'g': row 3 is 4", "plate 'group'", "test_indices.py:"):
            assert word in notice.message
        assert np.isfinite(density(jnp.zeros(SIZE + 1)))
        assert not density.with_data({"g": GOOD}).notices


def test_a_missing_code_among_floats_is_refused_and_not_the_first_group():
    with pytest.raises(DataError, match="row 1 is nan, from which the model computes"):
        LogDensity.from_model(grouped(lambda a, g: a[g.astype(int)])(np.array([0.0, np.nan, 2.0])))


def test_data_that_jax_is_tracing_are_not_looked_at():
    model = grouped(lambda a, g: a[g])
    trace = jax.make_jaxpr(lambda g: LogDensity.from_model(model(g))(jnp.zeros(SIZE + 1)))
    assert trace(jnp.asarray(FROM_ONE)).out_avals[0].shape == ()


def test_an_array_that_was_given_away_and_is_not_used_is_no_error():
    given_away, codes = jnp.arange(3), jnp.asarray(GOOD)
    given_away.delete()
    model = grouped(lambda a, g: a[codes] if g.size else given_away)
    assert LogDensity.from_model(model(GOOD)).dim


def test_a_density_that_has_travelled_evaluates_and_keeps_no_trace():
    density = LogDensity.from_model(line_of_groups(GOOD))
    assert density.program.uses.all
    sent = pickle.loads(pickle.dumps(density.program.uses))
    assert sent.all == ()


def test_a_deep_copy_still_judges_other_data():
    density = copy.deepcopy(LogDensity.from_model(line_of_groups(GOOD, np.zeros(5))))
    with pytest.raises(DataError, match="row 0 is 4"):
        density.with_data({"g": np.array([4, 0, 1, 2, 3])})


TRAVELLED = {
    "an index": ({"g": np.array([9, 0, 1, 2, 3])}, DataError, "argument 'g': row 0 is 9"),
    "an observation": ({"y": np.array([0, 1, 5, 0, 1])}, SiteError, "The first is 5 at index 2"),
}


@pytest.mark.parametrize("case", TRAVELLED)
def test_a_density_that_was_pickled_judges_other_data_too(case):
    data, error, words = TRAVELLED[case]
    density = pickle.loads(
        pickle.dumps(LogDensity.from_model(hits_of_groups(GOOD, np.array([0, 1, 1, 0, 1]))))
    )
    with pytest.raises(error, match=words):
        density.with_data(data)
    other = density.with_data({"g": GOOD[::-1].copy()})  # which is traced again, so that it knows
    with pytest.raises(error, match=words):
        other.with_data(data)
    assert other.with_data({"g": GOOD}).program is other.program


def test_a_density_that_was_pickled_is_not_traced_again_by_a_worker():
    density = pickle.loads(
        pickle.dumps(LogDensity.from_model(hits_of_groups(GOOD, np.array([0, 1, 1, 0, 1]))))
    )
    seen = []
    jax.make_jaxpr(lambda data: seen.append(density.with_data(data)))(density.data)
    assert [each.program for each in (*seen, density.with_data({}))] == [density.program] * 2


@ac.model
def hits_of_groups(g, y):
    """Rows of groups that observe zeros and ones."""
    with ac.plate("group", SIZE):
        a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(g)):
        ac.sample("y", dist.Bernoulli(logits=a[g]), obs=y)


@ac.model
def line_of_groups(g, y=None):
    """Rows of groups, some of which have no group."""
    with ac.plate("group", SIZE):
        a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(g)), handlers.mask(mask=g >= 0):
        ac.sample("y", dist.Normal(a[jnp.where(g < 0, 0, g)], 1.0), obs=y)


def test_a_row_without_a_group_is_hidden_by_a_mask_and_another_index():
    density = LogDensity.from_model(line_of_groups(MISSING, np.zeros(5)))
    assert not density.notices
