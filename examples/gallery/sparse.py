"""Compare two guides with draws where most coefficients are zero: a horseshoe by MeanField, by Flow and by NUTS.

Twenty covariates and eighty observations, of which four covariates matter. Two of these have a twin that does not:
their correlation is 0.95. A horseshoe prior shrinks coefficients that do not matter, and its posterior bends: each
coefficient has a funnel of its own, and twins share an effect between them. Which coefficients does each method find,
how wide are the intervals, how does Pareto k judge the guides, and what does it cost?

All three find the four, on these data. The mean field takes a coefficient's factors as independent: its intervals are
too wide by a third or more for effects without a twin, and less than half as wide as they should be for a twin without
effect. Its k is far above 1, and its restarts end at bounds that are seven nats apart. The flow has a bound that is ten
nats higher, a k below 0.7, and the right intervals of effects without a twin; those of twins are still too narrow. NUTS
takes a fraction of the flow's time: a guide is no bargain for a posterior of this size.

Data: simulated by `simulate()`. Model: Piironen & Vehtari (2017), Sparsity information and regularization in the
horseshoe and other shrinkage priors, Electronic J. of Statistics 11(2), 5018-5051. The example `horseshoe` has the
same model with more covariates, by NUTS alone.

    python examples/gallery/sparse.py
    accord fit examples/gallery/sparse.py --data examples/gallery/sparse.json --guide flow
"""

import json
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

COVARIATES = 20
TRUTH = {2: 2.0, 7: -1.5, 12: 1.0, 16: 0.6}  # the other coefficients are zero
TWINS = {2: 3, 12: 13}  # of each, the second has no effect


@ac.model
def sparse(X, y=None):
    """`X`: covariates of mean 0 and standard deviation 1, shape (80, 20); `y`: shape (80,)."""
    n, p = X.shape
    expected = 4  # number of coefficients that matter: a guess of the order of magnitude
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


def truth():
    """Return the true coefficients, shape (20,)."""
    return np.array([TRUTH.get(k, 0.0) for k in range(COVARIATES)])


def simulate():
    """Simulate the data in the JSON file: normal covariates, and noise of standard deviation 1."""
    rng = np.random.default_rng(2017)
    X = rng.normal(size=(80, COVARIATES))
    for first, second in TWINS.items():
        X[:, second] = 0.95 * X[:, first] + np.sqrt(1 - 0.95**2) * rng.normal(size=80)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return {"X": np.round(X, 3), "y": np.round(X @ truth() + rng.normal(size=80), 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit by both guides and draw, and compare coefficients, intervals and seconds; return results by method."""
    model = sparse(**data())
    methods = {
        "MeanField": lambda: infer.fit(model, infer.guides.MeanField(), restarts=4, seed=1),
        "Flow": lambda: infer.fit(model, infer.guides.Flow(), seed=1),
        "NUTS": lambda: infer.sample(model, infer.NUTS(target_accept=0.95), draws=500, chains=4, seed=1),
    }
    results = {}
    for name, method in methods.items():
        began = time.perf_counter()
        results[name] = method()
        seconds = time.perf_counter() - began
        beta = coefficients(results[name])
        error = np.sum((beta.mean(axis=0) - truth()) ** 2)
        k = "" if name == "NUTS" else f", Pareto k {results[name].pareto_k:.2f}"
        print(f"{name}: {seconds:.0f} s with compilation{k}, found {found(beta)}, squared error {error:.2f}")

    # Check: true effects, and their twins.
    for k in (*TRUTH, *TWINS.values()):
        intervals = [
            f"{name} {mean:+.2f} ({low:+.2f} to {high:+.2f})"
            for name, result in results.items()
            for mean, low, high in [interval(coefficients(result)[:, k])]
        ]
        print(f"beta[{k}], true {truth()[k]:+.2f}: {', '.join(intervals)}")
    return results


def coefficients(result):
    """Return draws of the coefficients from a fit or a run, shape (draw, 20)."""
    draws = result.draw(4000) if hasattr(result, "draw") else result
    return np.asarray(draws["beta"]).reshape(-1, COVARIATES)


def interval(values):
    """Return the mean and the ends of the central 90% interval."""
    return (values.mean(axis=0), *np.quantile(values, [0.05, 0.95], axis=0))


def found(beta):
    """Return the numbers of the coefficients whose central 90% interval excludes zero."""
    _, low, high = interval(beta)
    return [int(k) for k in np.flatnonzero((low > 0) | (high < 0))]


def plot(results):
    """Draw the intervals of true effects and their twins, by method."""
    from matplotlib.figure import Figure

    shown = sorted((*TRUTH, *TWINS.values()))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="coefficient", ylabel="mean, 90% interval")
    for place, (name, result) in enumerate(results.items()):
        mean, low, high = interval(coefficients(result)[:, shown])
        at = np.arange(len(shown)) + 0.2 * (place - 1)
        color = ("#e4793a", "#3f88c5", "#4a4a4a")[place]
        axes.errorbar(at, mean, [mean - low, high - mean], fmt="o", markersize=4, color=color, label=name)
    for place, k in enumerate(shown):
        axes.plot([place - 0.4, place + 0.4], [truth()[k]] * 2, color="#8a8a8a", linestyle="--", linewidth=1)
    axes.set_xticks(range(len(shown)), [f"{k}" for k in shown])
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
