"""Remove a funnel: coaching effects in eight schools, with the form that `reparam.propose` finds.

Eight schools coached their pupils for a test; each effect was estimated with an error as large as the effect itself.
How far the effects differ is unknown, and the difference may be close to zero. Written directly, with effects around
a mean, the posterior is a funnel: the smaller the spread, the closer the effects lie together, and no step size fits
both its mouth and its neck. `reparam.propose` estimates how much the data say about each effect, and proposes to
sample the effects in units of the spread. The model stays as written.

Data: Rubin (1981), Estimation in parallel randomized experiments, J. of Educational Statistics 6(4), 377-401, table
1; in Gelman et al. (2013), Bayesian Data Analysis, section 5.5.

    python examples/gallery/eight_schools.py
    accord sample examples/gallery/eight_schools.py --data examples/gallery/eight_schools.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam


@ac.model
def eight_schools(sigma, effect=None):
    """`effect`: points gained on the test, as estimated; `sigma`: its standard error. By school, shape (8,)."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma), coords=list("ABCDEFGH")):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("effect", dist.Normal(theta, sigma), obs=effect)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def exact(sigma, effect):
    """Compute posterior means by quadrature over the spread: given the spread, everything is normal."""
    # Quantiles of the prior of the spread, all with the same weight.
    tau = 5 * np.tan(np.pi / 2 * (np.arange(200_000) + 0.5) / 200_000)
    precision = 1 / (sigma**2 + tau[:, None] ** 2)
    total = precision.sum(axis=1) + 1 / 5**2
    mu = (precision * effect).sum(axis=1) / total
    log_weight = 0.5 * (np.log(precision) - precision * effect**2).sum(axis=1)
    log_weight += 0.5 * (mu**2 * total - np.log(total))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    pull = sigma**2 * precision  # from the estimate to the mean
    return {
        "mu": weight @ mu,
        "tau": weight @ tau,
        "theta": weight @ (effect + pull * (mu[:, None] - effect)),
    }


def main():
    """Fit the model as written, reparameterise it, and compare with the exact answer."""
    model = eight_schools(**data())
    # The notices say what is wrong, and give the line to write.
    funnel = infer.sample(model, seed=1)
    proposal = reparam.propose(model)
    print(proposal)
    draws = infer.sample(handlers.reparam(model, proposal), seed=1)
    print(draws.summary())
    for name, run in {"as written": funnel, "mended": draws}.items():
        print(f"{name}: {run.stats['diverging'].sum()} of {run['tau'].size} draws diverged")

    theta = draws["theta"]
    print(f"school A gains more than C in {np.mean(theta[..., 0] > theta[..., 2]):.0%} of draws")

    # Check
    answer = exact(**data())
    for name in ("mu", "tau"):
        print(
            f"{name}: exact {answer[name]:.2f}, as written {funnel[name].mean():.2f}, mended {draws[name].mean():.2f}"
        )
    return draws


def plot(draws):
    """Draw the effect in school A over the spread, on a logarithmic scale: the funnel."""
    from matplotlib.figure import Figure

    funnel = infer.sample(eight_schools(**data()), seed=1, progress=False, quiet=True)
    figure = Figure(figsize=(6, 3), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, run, title in ((left, funnel, "as written"), (right, draws, "mended")):
        axes.plot(run["theta"][..., 0].ravel(), run["tau"].ravel(), ".", color="#3f88c5", markersize=2)
        axes.set(title=title, xlabel="effect in school A", yscale="log")
    left.set_ylabel("spread")
    return figure


if __name__ == "__main__":
    main()
