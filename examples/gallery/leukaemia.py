"""Compare remission times when some patients are still well: survival with censoring and a Weibull distribution.

Forty-two children with leukaemia in remission were given a drug (6-MP) or a placebo. When the trial was stopped,
twelve of those with the drug had not relapsed: their times are censored, known only to be longer. Leaving them out,
or counting them as relapses, would make the drug look worse than it is.

Data: Freireich et al. (1963), Blood 21(6), 699-716; Gehan (1965). Maximum likelihood estimates of the regression of
log time: Venables & Ripley (2002), Modern Applied Statistics with S, section 13.2.

    python examples/gallery/leukaemia.py
    accord sample examples/gallery/leukaemia.py --data examples/gallery/leukaemia.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

# Estimate and standard error.
PUBLISHED = {"intercept": (2.248, 0.166), "effect": (1.267, 0.311)}
PUBLISHED_SCALE = 0.732  # of log time: one divided by the Weibull distribution's shape


@ac.model
def leukaemia(weeks, relapsed, treated):
    """By patient, shape (42,): `weeks` until relapse or the end; `relapsed`, `treated`: 0 or 1."""
    intercept = ac.sample("intercept", dist.Normal(2, 2))
    effect = ac.sample("effect", dist.Normal(0, 2))  # the drug multiplies times by exp(effect)
    shape = ac.sample("shape", dist.LogNormal(0, 0.5))  # above 1 the hazard rises with time
    with ac.plate("patient", len(weeks)):
        time = dist.Weibull(jnp.exp(intercept + effect * treated), shape)
        ac.sample("weeks", dist.RightCensoredDistribution(time, censored=relapsed == 0), obs=weeks)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def survival(draws, weeks, treated):
    """Return the probability of being well after so many weeks, shape (chain, draw, *weeks)."""
    scale = np.exp(draws["intercept"] + draws["effect"] * treated)[..., None]
    return np.exp(-((weeks / scale) ** draws["shape"][..., None]))


def main():
    """Fit, read the drug's effect, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(leukaemia(**data()), seed=1)
    print(draws.summary())

    factor = np.exp(draws["effect"])
    low, high = np.quantile(factor, [0.05, 0.95])
    print(
        f"remission lasts {np.median(factor):.1f} times as long with the drug (90%: {low:.1f} to {high:.1f})"
    )
    for treated, name in enumerate(["placebo", "drug"]):
        after = survival(draws, np.array([20.0]), treated)
        print(f"{name}: {after.mean():.0%} are still well after 20 weeks")

    # Check
    mode = infer.find_mode(leukaemia(**data()), "mle")
    for name, (estimate, error) in PUBLISHED.items():
        found = f"{mode.values[name]:.3f} ({mode.standard_errors[name]:.3f})"
        print(f"{name}: {found}, published {estimate:.3f} ({error:.3f})")
    print(f"scale of log time: {1 / mode.values['shape']:.3f}, published {PUBLISHED_SCALE}")
    return draws


if __name__ == "__main__":
    main()
