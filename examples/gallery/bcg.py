"""Combine thirteen vaccine trials that disagree: random-effects meta-analysis.

Does BCG protect against tuberculosis? Thirteen trials say yes, but their effects differ by more than chance allows.
So there is no single effect: each trial has its own, from a population of effects. The analysis estimates the mean
and spread of this population, and the effect to expect in a fourteenth trial.

Data: Colditz et al. (1994), JAMA 271(9), 698-702. Restricted maximum likelihood estimates: Viechtbauer (2010),
Conducting meta-analyses in R with the metafor package, J. of Statistical Software 36(3), section 3.

    python examples/gallery/bcg.py
    accord sample examples/gallery/bcg.py --data examples/gallery/bcg.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRIALS = """Aronson Ferguson Rosenthal1960 Hart FrimodtMoller Stein Vandiviere Madras Coetzee Rosenthal1961
Comstock1974 Comstock1969 Comstock1976""".split()  # noqa: SIM905 - a table
PUBLISHED = {"mean": -0.7145, "spread": 0.5597}  # the square root of 0.3132


def log_risk_ratio(cases_vaccinated, vaccinated, cases_control, control):
    """Return each trial's log risk ratio and its standard error."""
    ratio = jnp.log(cases_vaccinated / vaccinated) - jnp.log(cases_control / control)
    variance = 1 / cases_vaccinated - 1 / vaccinated + 1 / cases_control - 1 / control
    return ratio, jnp.sqrt(variance)


@ac.model
def bcg(cases_vaccinated, vaccinated, cases_control, control):
    """Counts of people by trial, shape (13,)."""
    ratio, error = log_risk_ratio(cases_vaccinated, vaccinated, cases_control, control)
    mean = ac.sample("mean", dist.Normal(0, 2))
    spread = ac.sample("spread", dist.HalfNormal(1))
    with ac.plate("trial", len(vaccinated), coords=TRIALS):
        # Large trials determine their own effects, so these are easier to sample directly than in units of the spread.
        effect = ac.sample("effect", dist.Normal(mean, spread))
        ac.sample("ratio", dist.Normal(effect, error), obs=ratio)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def exact(**counts):
    """Compute posterior means by quadrature over the spread: given the spread, everything is normal."""
    ratio, error = (np.asarray(each, float) for each in log_risk_ratio(**counts))
    spread = np.linspace(1e-4, 5, 20_000)
    precision = 1 / (error**2 + spread[:, None] ** 2)
    total = precision.sum(axis=1) + 1 / 2**2
    mean = (precision * ratio).sum(axis=1) / total
    log_weight = -(spread**2) / 2 + 0.5 * (np.log(precision) - precision * ratio**2).sum(axis=1)
    log_weight += 0.5 * (mean**2 * total - np.log(total))
    weight = np.exp(log_weight - log_weight.max())
    return {"mean": weight @ mean / weight.sum(), "spread": weight @ spread / weight.sum()}


def main():
    """Fit, read the effect of a new trial, and compare with the exact and the published answers."""
    draws = infer.sample(bcg(**data()), infer.NUTS(target_accept=0.9), seed=1)
    print(draws.summary())

    # The mean effect is more certain than the result of a new trial.
    rng = np.random.default_rng(0)
    new = rng.normal(draws["mean"], draws["spread"])
    for name, ratio in {"mean": np.exp(draws["mean"]), "a new trial's": np.exp(new)}.items():
        low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95])
        print(f"{name} risk ratio: {middle:.2f} (90%: {low:.2f} to {high:.2f})")

    # Check
    answer = exact(**data())
    for name, published in PUBLISHED.items():
        print(f"{name}: {draws[name].mean():.3f}, exact {answer[name]:.3f}, REML {published:.3f}")
    return draws


def plot(draws):
    """Draw each trial's ratio as reported and as estimated: a forest plot."""
    from matplotlib.figure import Figure

    ratio, error = (np.asarray(each, float) for each in log_risk_ratio(**data()))
    low, middle, high = np.quantile(draws["effect"], [0.05, 0.5, 0.95], axis=(0, 1))
    rows = np.arange(len(TRIALS))
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="log risk ratio, 90% intervals", yticks=rows, yticklabels=TRIALS)
    axes.hlines(rows - 0.15, ratio - 1.645 * error, ratio + 1.645 * error, color="#8a8a8a")
    axes.plot(ratio, rows - 0.15, "o", color="#8a8a8a", label="reported")
    axes.hlines(rows + 0.15, low, high, color="#3f88c5")
    axes.plot(middle, rows + 0.15, "o", color="#3f88c5", label="partially pooled")
    axes.axvline(0, color="#8a8a8a", linewidth=0.8)
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
