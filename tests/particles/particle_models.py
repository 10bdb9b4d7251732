"""State-space models whose answers are known exactly."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist

Y = np.array([0.5, 1.2, -0.3, 0.8, 2.0])


@ac.model
def autoregression(y, slope=None):
    """A linear Gaussian series: x_1 ~ N(0, 1), x_t = a x + N(0, 1/4), y_t = x_t + N(0, 1)."""
    a = ac.sample("a", dist.Uniform(-1.0, 1.0)) if slope is None else slope

    def step(x, y_t):
        x = ac.sample("x", dist.Normal(a * x, 0.5))
        ac.sample("y", dist.Normal(x, 1.0), obs=y_t)
        return x, x

    first = ac.sample("first", dist.Normal(0.0, 1.0))
    ac.sample("y_first", dist.Normal(first, 1.0), obs=y[0])
    ac.scan(step, first, y[1:])


# Of the Kalman filter and smoother with a = 0.9, and of quadrature over a.
LOG_EVIDENCE = -7.394611749
FILTERED_MEAN = [0.25, 0.610876133, 0.241068749, 0.422449432, 0.945087554]
FILTERED_SD = np.sqrt([0.5, 0.395770393, 0.363290117, 0.352442746, 0.348737270])
SMOOTHED_MEAN = [0.521857213, 0.620703277, 0.565530287, 0.757066047, 0.945087554]
SMOOTHED_SD = np.sqrt([0.322430709, 0.278794246, 0.270416191, 0.286916031, 0.348737270])
SLOPE_MEAN, SLOPE_SD, LOG_EVIDENCE_OF_ALL = 0.183117292, 0.558714016, -7.868493919

TOSSES = np.array([0, 1, 1, 0, 1])
_START, _MOVE, _HEADS = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.1, 0.8])


@ac.model
def hidden(y):
    """A hidden Markov chain of two states."""

    def step(carry, y_t):
        z, is_first = carry
        probs = jnp.where(is_first, jnp.asarray(_START), jnp.asarray(_MOVE)[z])
        z = ac.sample("z", dist.Categorical(probs))
        ac.sample("y", dist.Bernoulli(jnp.asarray(_HEADS)[z]), obs=y_t)
        return (z, False), None

    ac.scan(step, (0, True), y)


# Of the forward and backward recursions.
HIDDEN_LOG_EVIDENCE = -4.022080367
HIDDEN_SMOOTHED = np.array([0.208724719, 0.868148, 0.878757710, 0.331841620, 0.823599250])
THREE_STEPS = 0.100070000  # evidence of the first three tosses
