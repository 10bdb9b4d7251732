"""Hold parameters with an entry for each row to what a step has seen of them, where steps take parts of the rows."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.density.dependence.taken import takes_along
from accord.distributions import constraints
from accord.vi.steppers.descent import Descent
from accord.vi.written.guide import Written
from accord.vi.written.paired import written_for
from accord.vi.written.rows import watched

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
ROWS, SIZE = 6, 2
X = np.random.default_rng(0).normal(size=ROWS)

# Of an argument of shape (6, 4), with an index that decides and another one: whether entries of axis 0 are taken alone.
TAKEN: dict[str, tuple[Callable[..., Any], bool]] = {
    "taken": (lambda z, i, _: z[i], True),
    "by jnp.take": (lambda z, i, _: jnp.take(z, i, axis=0), True),
    "after a map": (lambda z, i, _: jax.nn.softplus(z)[i].sum(), True),
    "after a sum over the others": (lambda z, i, _: z.sum(axis=1)[i], True),
    "by what is made of the index": (lambda z, i, _: z[(i + 1) % 6], True),
    "twice": (lambda z, i, _: z[i] + z[i[::-1]], True),
    "within a function": (lambda z, i, _: jax.jit(lambda z, i: z[i])(2 * z, i), True),
    "by another index": (lambda z, i, j: z[j], False),
    "by both": (lambda z, i, j: z[i + j], False),
    "by the argument itself": (lambda z, i, _: z[z[:, 0].astype(int)], False),
    "by a number": (lambda z, i, _: z[2], False),
    "of another axis": (lambda z, i, _: z[:, i % 4], False),
    "and a sum": (lambda z, i, _: z[i].sum() + (z**2).sum(), False),
    "after a sum over entries": (lambda z, i, _: (z - z.mean(axis=0, keepdims=True))[i], False),
    "not at all": (lambda z, i, _: i, False),
}


@pytest.mark.parametrize("case", TAKEN)
def test_what_takes_entries_alone_is_told(case: str) -> None:
    function, known = TAKEN[case]
    index = jax.ShapeDtypeStruct((2,), np.int32)
    traced = jax.make_jaxpr(function)(jax.ShapeDtypeStruct((6, 4), np.float32), index, index)
    assert takes_along(traced.jaxpr, 0, 0, {1}) is known


@ac.model
def rows(x: Any, size: int | None = SIZE) -> None:
    # An entry for each row of the model too, and one of all rows.
    shift, scale = (
        ac.param("shift", np.zeros(len(x))),
        ac.param("scale", 1.0, constraint=constraints.positive),
    )
    with ac.plate("row", len(x), subsample_size=size):
        z = ac.sample("z", dist.Normal(0.0, 1.0))
        ac.sample("x", dist.Normal(z + 0.1 * ac.subsample(shift), scale), obs=ac.subsample(x))


@ac.model
def each_row(x: Any, size: int | None = SIZE) -> None:
    loc = ac.param("loc", np.zeros((2, len(x))))
    spread = ac.param("spread", np.ones(len(x)), constraint=constraints.positive)
    also = ac.param("also", np.zeros(len(x)))
    with ac.plate("row", len(x), subsample_size=size) as row:
        pulled = ac.subsample(loc[0] + loc[1] ** 2) + 0.01 * jnp.tanh(also).sum()
        ac.sample("z", dist.Normal(pulled, jnp.asarray(spread)[row]))


def test_parameters_of_rows_are_found_in_guide_and_model() -> None:
    with precision.scope("float64"):
        _, _, guide = written_for(rows(X), each_row(X), "float64")
        assert guide.known.rows == {"loc": 1, "spread": 0, "shift": 0} and guide.known.epoch == 3
        _, _, whole = written_for(rows(X, None), each_row(X, None), "float64")
        assert whole.known.rows == {} and whole.known.epoch == 1


OPTIMISERS: dict[str, Any] = {
    "Adam": lambda: optax.adam(0.1),
    "momentum and a schedule": lambda: optax.sgd(optax.cosine_decay_schedule(0.1, 10), momentum=0.9),
    "weights that decay": lambda: optax.adamw(0.1, weight_decay=0.1),
    "clipping": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1)),
}


@each(OPTIMISERS)
def test_rows_without_a_gradient_stay_with_what_is_remembered_of_them(case: Any) -> None:
    """Beside the same optimiser without rows: the first step, and parameters that have no rows, are the same."""
    rng = np.random.default_rng(1)
    with precision.scope("float64"):
        stepper, plain = Descent(case, {"a": 1}), Descent(case)
        params: Any = {"a": jnp.asarray(rng.normal(size=(2, 3))), "b": jnp.asarray(rng.normal(size=3))}
        one = jnp.ones(())
        state, other = (each.begin(params, one, params) for each in (stepper, plain))
        for step in range(6):
            gradient = {name: jnp.asarray(rng.normal(size=value.shape)) for name, value in params.items()}
            is_seen = np.arange(3) == step % 3
            gradient["a"] = jnp.where(is_seen, gradient["a"], 0.0)
            before = state
            state = stepper.tell(state, state.params, one, gradient, jnp.ones((), bool), one)
            other = plain.tell(other, other.params, one, gradient, jnp.ones((), bool), one)
            now, then = state.params["a"], before.params["a"]
            assert np.array_equal(now[:, ~is_seen], then[:, ~is_seen])
            assert np.all(now[:, is_seen] != then[:, is_seen])
            pairs = zip(*map(jax.tree.leaves, (state.optimizer, before.optimizer)), strict=True)
            matrices = [pair for pair in pairs if np.ndim(pair[0]) == 2]
            assert matrices and all(np.array_equal(a[:, ~is_seen], b[:, ~is_seen]) for a, b in matrices)
            assert np.array_equal(state.params["b"], other.params["b"])
            assert step > 0 or np.array_equal(now[:, is_seen], other.params["a"][:, is_seen])


def test_a_fit_moves_the_rows_of_its_parts_alone_and_ends_with_the_same_bits(tmp_path: Any) -> None:
    options: dict[str, Any] = dict(optimizer=optax.adam(0.1), until=None, **QUIET)
    fits = [infer.fit(rows(X), each_row(X), steps=steps, **options) for steps in (1, 2)]
    moved = [np.flatnonzero(fit.params["shift"] != 0) for fit in fits]
    assert len(moved[0]) == SIZE and len(moved[1]) == 2 * SIZE and set(moved[0]) < set(moved[1])
    assert np.all(fits[0].params["also"] != 0)  # which all parts see
    store = infer.RunFolder(tmp_path / "run")
    whole = infer.fit(rows(X), each_row(X), steps=700, store=store, **options)
    for name in ("judged", "notices", "timings"):
        (tmp_path / "run" / f"record-{name}.json").unlink()
    sorted((tmp_path / "run").rglob("segment-*"))[-1].unlink()
    again: Any = infer.resume(
        tmp_path / "run", rows(X), guide=each_row(X), optimizer=optax.adam(0.1), **QUIET
    )
    assert np.array_equal(again.losses[0], whole.losses[0]) and again.bounds == whole.bounds


def test_a_plateau_is_one_of_twenty_passes_over_the_rows() -> None:
    with precision.scope("float64"):
        x = np.zeros(60)
        _, _, guide = written_for(rows(x), each_row(x), "float64")
    assert isinstance(guide, Written)
    usual, short = infer.ELBOPlateau(gain=0.02), infer.ELBOPlateau(window=100)
    assert (usual.window, usual.width, usual.period) == (None, 250, 125)
    found = watched(usual, guide)
    assert found is not None and (found.width, found.gain) == (20 * 30, usual.gain)
    assert watched(short, guide) == short and short.width == 100  # as it was given
    assert watched(None, guide) is None
    assert watched(usual, infer.guides.MeanField()) == usual
