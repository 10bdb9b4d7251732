"""Hold promise P5 where a library of JAX would wait for ever."""

import os
import subprocess
import sys

BATCHED = """
import numpy as np, jax.numpy as jnp
import accord as ac, accord.distributions as dist
from accord import infer

@ac.model
def process(x, y):
    r = ac.sample("r", dist.InverseGamma(5, 2))
    covariance = jnp.exp(-0.5 * ((x[:, None] - x) / r) ** 2) + 0.1 * jnp.eye(x.shape[0])
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(x.shape[0]), covariance_matrix=covariance), obs=y)

n = 400
model = process(np.linspace(0, 3, n), np.random.default_rng(3).normal(size=n))
options = dict(draws=5, warmup=5, chains=4, lanes=2, executor=infer.Threads(2), quiet=True)
print(infer.sample(model, infer.NUTS(max_tree_depth=1), **options).complete)
"""


def test_two_threads_factor_several_matrices_at_once_and_come_back():
    """In a process of its own, which can be ended. Without a lock, this waited for ever on two cores (jaxlib 0.10)."""
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", BATCHED]
    done = subprocess.run(command, check=True, env=environment, timeout=300, capture_output=True, text=True)
    assert done.stdout.strip() == "True"
