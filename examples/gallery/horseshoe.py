"""Find the few covariates that matter among forty: regression with a regularised horseshoe prior.

There are forty covariates and a hundred observations, and most coefficients are believed to be close to zero, but it
is unknown which. The horseshoe has a common scale that shrinks all coefficients towards zero, and one scale for each
with a heavy tail, so that some can stay large; the slab bounds how large.

Data: simulated by `simulate()`. Model: Piironen & Vehtari (2017), Sparsity information and regularization in the
horseshoe and other shrinkage priors, Electronic J. of Statistics 11(2), 5018-5051.

    python examples/gallery/horseshoe.py
    accord sample examples/gallery/horseshoe.py --data examples/gallery/horseshoe.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {3: 2.0, 11: -1.5, 17: 1.0, 28: -1.0, 36: 0.7}  # the other coefficients are zero
NOISE = 1.0


@ac.model
def horseshoe(X, y=None):
    """`X`: covariates of mean 0 and standard deviation 1, shape (100, 40); `y`: shape (100,)."""
    n, p = X.shape
    expected = 5  # number of coefficients that matter: a guess of the order of magnitude
    noise = ac.sample("noise", dist.HalfNormal(2))
    tau = ac.sample("tau", dist.HalfCauchy(1))
    slab = ac.sample("slab", dist.InverseGamma(2, 8))  # squared scale of large coefficients: about 2
    with ac.plate("covariate", p):
        width = ac.sample("width", dist.HalfCauchy(1))
        z = ac.sample("z", dist.Normal(0, 1))
        scale = tau * expected / (p - expected) * noise / n**0.5
        bounded = jnp.sqrt(slab) * scale * width / jnp.sqrt(slab + (scale * width) ** 2)
        beta = ac.deterministic("beta", bounded * z)
    with ac.plate("row", n):
        ac.sample("y", dist.Normal(X @ beta, noise), obs=y)


def simulate():
    """Simulate the data in the JSON file: normal covariates, each correlated with its neighbours by 0.3."""
    rng = np.random.default_rng(2017)
    distance = np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
    X = rng.normal(size=(100, 40)) @ np.linalg.cholesky(0.3**distance).T
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    beta = np.array([TRUTH.get(k, 0.0) for k in range(40)])
    return {"X": np.round(X, 3), "y": np.round(X @ beta + rng.normal(0, NOISE, 100), 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, and see which coefficients have escaped."""
    draws = infer.sample(horseshoe(**data()), infer.NUTS(target_accept=0.99), seed=1)
    print(draws.summary())

    # Least squares gives every coefficient some effect; the horseshoe leaves little except the true effects.
    X, y = data().values()
    least_squares = np.linalg.lstsq(X, y, rcond=None)[0]
    beta = draws["beta"]
    for k in range(40):
        low, high = np.quantile(beta[..., k], [0.05, 0.95])
        if k in TRUTH or abs(beta[..., k].mean()) > 0.1:
            print(
                f"beta[{k}]: {beta[..., k].mean():+.2f} ({low:+.2f} to {high:+.2f}), least squares "
                f"{least_squares[k]:+.2f}, true {TRUTH.get(k, 0.0):+.2f}"
            )

    # Check: the squared error is smaller than the error of least squares.
    truth = np.array([TRUTH.get(k, 0.0) for k in range(40)])
    errors = [np.sum((found - truth) ** 2) for found in (beta.mean(axis=(0, 1)), least_squares)]
    print(f"squared error {errors[0]:.2f}, of least squares {errors[1]:.2f}")
    return draws


if __name__ == "__main__":
    main()
