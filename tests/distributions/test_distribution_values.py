"""Test distributions as values: the same before and after any use, under any transformation, thread or process."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import joblib
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from laws import assert_close, compiled, each, no_leaks
from table import ALL, VARIANTS, draws_of, each_line

import accord.distributions as dist
from accord.core import precision

# Built once, when this module is loaded, and used by every test below: nothing may stick to them.
MODULE_LEVEL: dict[str, dist.AbstractDistribution] = {name: case.make() for name, case in ALL.items()}
NAMES = {name: name for name in ALL}
SLOW = VARIANTS | {name for name in ALL if "runcated" in name}  # the programs of truncation are long


def total(d: dist.AbstractDistribution) -> tuple[Any, Callable[[Any, Any], jax.Array]]:
    """The floating parameters of a distribution, and the sum of its log density as their function."""
    floats, rest = eqx.partition(d, lambda leaf: np.issubdtype(np.asarray(leaf).dtype, np.floating))
    return floats, lambda floats, x: eqx.combine(floats, rest).log_prob(x).sum()


@each_line(NAMES, slow=SLOW)
def test_a_value_goes_through_every_transformation_and_stays_as_it_was(name: str) -> None:
    d, draws = MODULE_LEVEL[name], draws_of(ALL[name], 8)
    leaves = [np.array(leaf) for leaf in jax.tree.leaves(d)]
    copy = pickle.loads(pickle.dumps(d))
    floats, log_joint = total(d)
    mesh = Mesh(np.array(jax.devices()[:1]), ("draw",))
    by_draw = PartitionSpec("draw")
    sharded = jax.shard_map(lambda x: d.log_prob(x), mesh=mesh, in_specs=by_draw, out_specs=by_draw)
    two = jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * 2), d)
    arguments = (0, 1) if jnp.issubdtype(draws.dtype, jnp.floating) else 0

    def everything(x: jax.Array, floats: Any) -> tuple:
        one = jax.vmap(lambda x: d.log_prob(x))(x)
        batch = jax.vmap(lambda d, x: d.log_prob(x))(two, jnp.stack([x, x]))
        slopes = jax.grad(log_joint, arguments)(floats, x)
        many = jax.vmap(jax.grad(log_joint), in_axes=(None, 0))(floats, x)
        return d.log_prob(x), one, sharded(x), batch, slopes, many

    with no_leaks():
        plain, one, shard, batch, slopes, many = compiled(everything)(draws, floats)
        jax.eval_shape(jax.vmap(lambda key: d.sample(key, (2,))), jax.random.split(jax.random.key(0), 3))
    assert_close(one, plain, rtol=1e-10)
    assert_close(shard, plain, rtol=1e-10)
    assert_close(batch, jnp.stack([plain, plain]), rtol=1e-10)
    assert not any(np.isnan(slope).any() for slope in jax.tree.leaves(slopes))
    by_parameter = slopes[0] if isinstance(arguments, tuple) else slopes
    summed = jax.tree.map(lambda leaf: np.asarray(leaf).sum(0), many)
    assert_close(summed, jax.tree.map(np.asarray, by_parameter), rtol=1e-8, atol=1e-8)
    assert jax.tree.structure(d) == jax.tree.structure(copy)
    for leaf, before, copied in zip(jax.tree.leaves(d), leaves, jax.tree.leaves(copy), strict=True):
        np.testing.assert_array_equal(leaf, before)
        np.testing.assert_array_equal(copied, before)
    assert d == copy
    assert hash(d) == hash(copy)


@each_line(NAMES, slow=SLOW)
def test_eight_threads_trace_the_same_program_at_once(name: str) -> None:
    d, draws = MODULE_LEVEL[name], draws_of(ALL[name], 8)
    floats, log_joint = total(d)

    def trace(_: int) -> str:
        # JAX's settings belong to a thread: a new one has the defaults.
        with jax.enable_x64(True), jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
            return str(jax.make_jaxpr(lambda f, x: jax.value_and_grad(log_joint)(f, x))(floats, draws))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(trace, range(8)))) == 1


def work(pickled: bytes, draws: np.ndarray) -> np.ndarray:
    """In a worker: the log density of draws, by a distribution that came with them."""
    with precision.scope("float64"):
        return np.asarray(compiled(pickle.loads(pickled).log_prob)(draws))


@each(
    {"every twelfth": list(ALL)[::12], "the others": [n for n in ALL if n not in list(ALL)[::12]]},
    slow=["the others"],
)
def test_a_joblib_worker_computes_the_same_bits(names: list[str]) -> None:
    tasks = [(pickle.dumps(MODULE_LEVEL[name]), np.asarray(draws_of(ALL[name], 8))) for name in names]
    found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(work)(*task) for task in tasks)
    for name, (_, draws), result in zip(names, tasks, found, strict=True):
        with precision.scope("float64"):
            here = np.asarray(compiled(MODULE_LEVEL[name].log_prob)(draws))
        np.testing.assert_array_equal(result, here, err_msg=name)
