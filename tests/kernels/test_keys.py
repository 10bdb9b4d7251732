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


def test_no_two_uses_of_a_run_share_a_key() -> None:
    words = set()
    for chain in range(20):
        root = keys.chain_key(7, chain)
        for use in (keys.USE_DRAW, keys.USE_TUNE, keys.USE_START):
            numbers = np.arange(2000, dtype=np.uint32)
            folded = np.asarray(jax.vmap(keys.fold, (None, 0))(keys.fold(root, np.uint32(use)), numbers))
            words |= set(map(tuple, folded.tolist()))
    assert len(words) == 20 * 3 * 2000


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
