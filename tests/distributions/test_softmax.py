"""The log probability of a category by its logits, and its slopes, where one is nearly certain and for many at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.distributions as dist


def exact(logits: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log probabilities and slopes in extended precision, without anything that is subtracted from 1."""
    rows = np.arange(len(logits))
    logits = logits.astype(np.longdouble)
    apart = logits - logits[rows, index][:, None]
    others = np.exp(apart)
    others[rows, index] = 0
    total = others.sum(1)
    probabilities = others / (1 + total)[:, None]
    slopes = -probabilities
    slopes[rows, index] = total / (1 + total)
    return -np.log1p(total), slopes


@pytest.mark.parametrize("count", [2, 8, 9, 40])
@pytest.mark.parametrize("spread", [0.1, 60.0])
def test_values_and_slopes_are_exact(count: int, spread: float) -> None:
    """Also of a category that is certain but for 1e-40, for which 1 minus its probability would be 0."""
    rng = np.random.default_rng(count)
    with jax.enable_x64(True):
        logits = spread * rng.normal(size=(200, count))
        index = np.where(rng.random(200) < 0.5, logits.argmax(1), rng.integers(0, count, 200))

        def log_prob(logits):
            return dist.Categorical(logits=logits).log_prob(index)

        value, pull = jax.vjp(log_prob, jnp.asarray(logits))
        (slopes,) = pull(jnp.ones(200))
    expected, expected_slopes = exact(logits, index)
    # A difference of logits is rounded by so much of its size, its exponential by as much, and a sum by each term.
    rtol = np.finfo(float).eps * (np.ptp(logits) + count + 16)
    np.testing.assert_allclose(value, expected.astype(float), rtol=rtol)
    np.testing.assert_allclose(slopes, expected_slopes.astype(float), rtol=rtol, atol=1e-300)


@pytest.mark.parametrize("count", [3, 12])
def test_curvatures_are_those_of_the_textbook_formula(count: int) -> None:
    rng = np.random.default_rng(1)
    with jax.enable_x64(True):
        logits, index = jnp.asarray(rng.normal(size=(4, count))), rng.integers(0, count, 4)

        def textbook(logits):
            return jax.nn.log_softmax(logits)[np.arange(4), index].sum()

        def ours(logits):
            return dist.Categorical(logits=logits).log_prob(index).sum()

        np.testing.assert_allclose(jax.hessian(ours)(logits), jax.hessian(textbook)(logits), atol=1e-14)


@pytest.mark.parametrize("count", [3, 12])
def test_an_impossible_category_leaves_the_others_alone(count: int) -> None:
    with jax.enable_x64(True):
        logits = np.zeros((2, count))
        logits[:, 1] = -np.inf
        value, slopes = jax.value_and_grad(
            lambda x: dist.Categorical(logits=x).log_prob(np.zeros(2, int)).sum()
        )(jnp.asarray(logits))
    assert value == pytest.approx(-2 * np.log(count - 1))
    assert np.all(np.isfinite(slopes))
    assert np.all(slopes[:, 1] == 0)
    assert np.all(dist.Categorical(logits=logits).log_prob(np.ones(2, int)) == -np.inf)


@pytest.mark.parametrize("count", [4, 30])
def test_probabilities_of_a_row_each_have_the_slopes_of_the_table(count: int) -> None:
    """A few categories are looked up by comparing, many by gathering; a probability of 0 elsewhere is no NaN."""
    rng = np.random.default_rng(2)
    with jax.enable_x64(True):
        probs = rng.dirichlet(np.ones(count), 6)
        index = probs.argmax(1)
        probs[:, 0], index = 0.0, np.where(index == 0, 1, index)
        slopes = jax.grad(lambda p: dist.Categorical(probs=p).log_prob(index).sum())(jnp.asarray(probs))
    expected = np.zeros_like(probs)
    expected[np.arange(6), index] = 1 / probs[np.arange(6), index]
    np.testing.assert_allclose(slopes, expected, rtol=1e-15)
