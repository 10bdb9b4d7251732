"""Model counts that vary more than a Poisson distribution allows: negative binomial, compared by leave-one-out.

Quinoline makes salmonella mutate, but high doses also kill them. Colonies were counted on three plates at each of six
doses. The mean follows log(mu) = a - b dose + c log(dose + 10). Plates with the same dose differ more than Poisson
counts would. Is that worth a parameter? Leave-one-out cross-validation tells which distribution better predicts a
plate that it has not seen.

Data: Breslow (1984), Extra-Poisson variation in log-linear models, Applied Statistics 33(1), 38-44.

    python examples/gallery/salmonella.py
    accord sample examples/gallery/salmonella.py:salmonella --data examples/gallery/salmonella.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer


@ac.model
def curve(dose):
    """The logarithm of the mean, part of both models; `dose`: micrograms per plate, shape (18,)."""
    level = ac.sample("level", dist.Normal(3, 2))
    killing = ac.sample("killing", dist.Normal(0, 5))  # per milligram
    mutating = ac.sample("mutating", dist.Normal(0, 1))
    return level - killing * dose / 1000 + mutating * jnp.log(dose + 10.0)


@ac.model
def salmonella(dose, colonies=None):
    """Negative binomial: variance mean + mean**2 / concentration. `colonies`: counts, shape (18,)."""
    log_mean = ac.submodel(curve(dose), prefix=None)
    # The standard deviation of plates beyond chance, relative to the mean; 0 is a Poisson distribution.
    excess = ac.sample("excess", dist.HalfNormal(0.5))
    with ac.plate("plate", len(dose)):
        ac.sample("colonies", dist.NegativeBinomial2(jnp.exp(log_mean), excess**-2.0), obs=colonies)


@ac.model
def poisson(dose, colonies=None):
    """Fit the curve with Poisson counts."""
    log_mean = ac.submodel(curve(dose), prefix=None)
    with ac.plate("plate", len(dose)):
        ac.sample("colonies", dist.LogPoisson(log_mean), obs=colonies)


def data():
    """Read the arguments of the models, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def compare(draws, others):
    """Estimate by leave-one-out how well each of two fits predicts: the expected log predictive density."""
    import arviz_stats  # pip install 'arviz-stats[xarray]'

    return [arviz_stats.loo(each.to_arviz(infer.log_likelihood(each))) for each in (draws, others)]


def main():
    """Fit both distributions, read the excess variation, and compare."""
    draws = infer.sample(salmonella(**data()), seed=1)
    others = infer.sample(poisson(**data()), seed=1)
    print(draws.summary())

    # The mean is highest where its derivative is zero.
    peak = 1000 * draws["mutating"] / draws["killing"] - 10
    print(f"most mutants at {np.median(peak[draws['killing'] > 0]):.0f} micrograms")
    width = [np.ptp(np.quantile(each["mutating"], [0.05, 0.95])) for each in (draws, others)]
    print(f"90% interval of `mutating`: {width[0]:.2f} wide; {width[1]:.2f}, too sure, with Poisson counts")

    # Check: the excess is real if the negative binomial better predicts plates that were left out. ArviZ may warn that
    # single plates strongly influence the Poisson fit: another sign that it is overconfident.
    negative_binomial, as_poisson = compare(draws, others)
    print(f"expected log predictive density: {negative_binomial.elpd:.1f}, Poisson {as_poisson.elpd:.1f}")
    return draws


if __name__ == "__main__":
    main()
