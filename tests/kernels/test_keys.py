"""Check the random numbers: the cipher, the derivation of keys, and the distributions."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from accord.core import keys
from accord.core.errors import OptionError

ALPHA = 1e-6  # false-alarm rate of each statistical test here; keys are fixed


def test_the_cipher_is_threefry_2x32_with_20_rounds() -> None:
    # Known answers of the Random123 library.
    table = [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]
    for key, counter, expected in table:
        with np.errstate(over="ignore"):
            words = keys.threefry(
                tuple(map(np.uint32, key)),
                tuple(map(np.uint32, counter)),
            )
        assert tuple(int(word) for word in words) == expected


def test_folding_is_that_of_jax() -> None:
    for seed, number in ((0, 0), (1, 5), (2**32 + 7, 2**32 - 1)):
        root = np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)
        expected = jax.random.key_data(
            jax.random.fold_in(jax.random.wrap_key_data(root, impl="threefry2x32"), number)
        )
        np.testing.assert_array_equal(keys.fold(root, np.uint32(number)), expected)
        np.testing.assert_array_equal(keys.chain_key(seed, number), expected)


def test_host_and_device_fold_alike() -> None:
    key = keys.chain_key(123, 4)
    numbers = np.concatenate([np.arange(1000), [2**31, 2**32 - 1]]).astype(np.uint32)
    device = jax.jit(jax.vmap(keys.fold, (None, 0)))(key, numbers)
    np.testing.assert_array_equal(device, [keys.fold(key, number) for number in numbers])


def test_host_and_device_derive_the_keys_of_items_alike() -> None:
    key = keys.chain_key(123, 4)
    numbers = np.concatenate([np.arange(1000), [2**31, 2**32 - 1]]).astype(np.uint32)
    uses = np.arange(len(numbers), dtype=np.uint32) % 2
    expected = [keys.item(key, use, number) for use, number in zip(uses, numbers, strict=True)]
    device = jax.jit(jax.vmap(keys.item, (None, 0, 0)))(key, uses, numbers)
    lanes = keys.item(np.broadcast_to(key[:, None], (2, len(numbers))), uses, numbers).T
    np.testing.assert_array_equal(device, expected)
    np.testing.assert_array_equal(lanes, expected)


def test_no_two_uses_of_a_run_share_a_key() -> None:
    words, numbers = set(), np.arange(2000, dtype=np.uint32)
    for chain in range(20):
        root = keys.chain_key(7, chain)
        items = jax.vmap(keys.item, (None, None, 0))
        started = jax.vmap(keys.fold, (None, 0))(keys.fold(root, np.uint32(keys.USE_START)), numbers)
        folded = jax.vmap(keys.fold, (None, 0))(
            root, numbers
        )  # streams, from which items of other uses are made
        for found in (
            items(root, np.uint32(keys.USE_DRAW), numbers),
            items(root, np.uint32(keys.USE_TUNE), numbers),
            started,
            folded,
        ):
            words |= set(map(tuple, np.asarray(found).tolist()))
    assert len(words) == 20 * 4 * 2000


def test_each_use_has_a_number_of_its_own() -> None:
    uses = [number for name, number in vars(keys).items() if name.startswith("USE_")]
    assert len(uses) >= 8 and len(set(uses)) == len(uses)


def test_neighbouring_seeds_and_chains_share_no_key() -> None:
    seeds = [0, 1, 2, 2**32 - 1, 2**32, 2**32 + 1, 2**64 - 1]
    found = {tuple(keys.chain_key(seed, chain).tolist()) for seed in seeds for chain in range(1000)}
    assert len(found) == len(seeds) * 1000


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "0", True, None])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(OptionError, match="seed must be an integer"):
        keys.chain_key(seed, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_uniform_numbers_lie_strictly_between_zero_and_one(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bits in (0x00000000, 0xFFFFFFFF):
        word = jnp.full((), bits, jnp.uint32)
        monkeypatch.setattr(keys, "threefry", lambda key, counter, word=word: (word, word))
        u = keys.uniform(jnp.zeros(2, jnp.uint32), jnp.uint32(0), jnp.uint32(0), jnp.dtype(dtype))
        assert 0 < u < 1 and u.dtype == dtype
        for u in keys.uniforms(jnp.zeros(2, jnp.uint32), jnp.uint32(0), jnp.uint32(0), jnp.dtype(dtype)):
            assert 0 < u < 1 and u.dtype == dtype
        z = keys.normal(jnp.zeros(2, jnp.uint32), 1, 0, jnp.dtype(dtype))
        assert np.all(np.isfinite(z))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_uniform_numbers_are_uniform_and_do_not_depend_on_each_other(dtype: str) -> None:
    count = 100_000
    u = np.asarray(_uniform(count, dtype), np.float64)
    assert stats.kstest(u, "uniform").pvalue > ALPHA
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(u[lag:], u[:-lag])[0, 1]) < stats.norm.isf(ALPHA / 2) / np.sqrt(count)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_two_uniform_numbers_of_one_block_do_not_depend_on_each_other(dtype: str) -> None:
    count = 100_000
    counters = jnp.arange(count, dtype=jnp.uint32)
    pair = keys.uniforms(
        jnp.asarray(keys.chain_key(5, 0)), counters, jnp.full_like(counters, 1), jnp.dtype(dtype)
    )
    one, other = (np.asarray(each, np.float64) for each in pair)
    for each in (one, other):
        assert stats.kstest(each, "uniform").pvalue > ALPHA
    for first, second in ((one, other), (one[1:], other[:-1]), (one[1:], one[:-1]), (other[1:], other[:-1])):
        assert abs(np.corrcoef(first, second)[0, 1]) < stats.norm.isf(ALPHA / 2) / np.sqrt(count)


def test_the_first_words_of_the_keys_of_draws_are_random_bits() -> None:
    """Doublings of trajectories go the way that these say."""
    count = 20_000
    draws = np.arange(count, dtype=np.uint32)
    key = np.broadcast_to(keys.chain_key(5, 0)[:, None], (2, count))
    words = keys.item(key, np.full(count, keys.USE_DRAW, np.uint32), draws)[0]
    bits = (words[:, None] >> np.arange(20, dtype=np.uint32)) & 1
    limit = stats.norm.isf(ALPHA / 2 / 20**2) * np.sqrt(count) / 2  # of all sums and of all pairs together
    assert np.all(np.abs(bits.sum(0) - count / 2) < limit)
    signs = 2 * bits.astype(int) - 1
    together = signs.T @ signs - count * np.eye(20, dtype=int)
    assert np.all(np.abs(together) < 2 * limit)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_normal_numbers_are_normal(dtype: str) -> None:
    count = 200_000
    z = np.asarray(keys.normal(jnp.asarray(keys.chain_key(5, 0)), count, 0, jnp.dtype(dtype)), np.float64)
    assert stats.kstest(z, "norm").pvalue > ALPHA
    limit = stats.norm.isf(ALPHA / 2)
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - mean) < limit * np.sqrt(variance / count)
    # Tails: how many lie beyond 4 in either direction.
    expected = count * stats.norm.sf(4)
    for beyond in (np.sum(z > 4), np.sum(z < -4)):
        assert min(stats.poisson.sf(beyond - 1, expected), stats.poisson.cdf(beyond, expected)) > ALPHA


def test_streams_of_one_draw_do_not_depend_on_each_other() -> None:
    count = 50_000
    key = jnp.asarray(keys.chain_key(5, 0))
    streams = [np.asarray(keys.normal(key, count, stream, jnp.dtype(float))) for stream in range(4)]
    for one, other in pairwise(streams):
        assert abs(np.corrcoef(one, other)[0, 1]) < stats.norm.isf(ALPHA / 2) / np.sqrt(count)


def test_a_generator_depends_on_chain_use_and_number_alone() -> None:
    def numbers(seed: int, chain: int, use: int, number: int) -> tuple[float, ...]:
        return tuple(keys.generator(keys.chain_key(seed, chain), use, number).uniform(size=3))

    table = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 2, 0), (0, 0, 0, 1)]
    assert len({numbers(*row) for row in table}) == len(table)
    assert numbers(*table[0]) == numbers(*table[0])


def _uniform(count: int, dtype: str) -> jax.Array:
    counters = jnp.arange(count, dtype=jnp.uint32)
    key = jnp.asarray(keys.chain_key(5, 0))
    return keys.uniform(key, counters, jnp.full_like(counters, 2), jnp.dtype(dtype))
