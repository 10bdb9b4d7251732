"""Find what makes seeds germinate when plates differ: logistic regression with random effects.

Seeds of two varieties of broomrape were put on 21 plates, with one of two root extracts. Plates differ by more than
binomial chance, so each plate has its own effect; without it, the standard errors would be too small. `interaction`
asks whether the cucumber's extract has the same effect on both varieties.

Data: Crowder (1978), Beta-binomial Anova for proportions, Applied Statistics 27(1), 34-37. The estimates below, by
penalised quasi-likelihood, are from Breslow & Clayton (1993), JASA 88(421), 9-25.

    python examples/gallery/seeds.py
    accord sample examples/gallery/seeds.py --data examples/gallery/seeds.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

PUBLISHED = {"intercept": -0.542, "variety_effect": 0.077, "extract_effect": 1.339, "interaction": -0.825}


@ac.model
def seeds(seeds, variety, extract, germinated=None):
    """All by plate, shape (21,): `seeds` put out and `germinated`; `variety`, `extract`: 0 or 1."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    variety_effect = ac.sample("variety_effect", dist.Normal(0, 2))
    extract_effect = ac.sample("extract_effect", dist.Normal(0, 2))
    interaction = ac.sample("interaction", dist.Normal(0, 2))
    spread = ac.sample("spread", dist.HalfNormal(1))
    with ac.plate("plate", len(seeds)):
        z = ac.sample("z", dist.Normal(0, 1))
        fixed = intercept + variety_effect * variety + extract_effect * extract
        log_odds = fixed + interaction * variety * extract + spread * z
        ac.sample("germinated", dist.Binomial(seeds, logits=log_odds), obs=germinated)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, read the effects as odds ratios, and compare with the published estimates."""
    draws = infer.sample(seeds(**data()), infer.NUTS(target_accept=0.9), seed=1)
    print(draws.summary())

    # An effect on the log odds is a factor of the odds.
    factor = np.exp(draws["extract_effect"])
    print(f"cucumber's extract multiplies the odds by {np.median(factor):.1f} for the first variety")
    both = np.exp(draws["extract_effect"] + draws["interaction"])
    print(
        f"and by {np.median(both):.1f} for the second: that it does less is {np.mean(both < factor):.0%} sure"
    )

    # Check
    for name, published in PUBLISHED.items():
        print(f"{name}: posterior mean {draws[name].mean():.2f}, published {published:.2f}")
    return draws


if __name__ == "__main__":
    main()
