"""Separate the quality of essays from the severity of examiners: crossed effects from one submodel used twice.

Sixty essays were marked by eight examiners each. Essays differ in quality, examiners differ in severity, and the rest
is chance. Both kinds of effects have the same form: a spread, and a value for each. This form is written once as a
submodel, and used twice under two prefixes.

Data: simulated by `simulate()`. Theory: Brennan (2001), Generalizability Theory, chapter 2.

    python examples/gallery/examiners.py
    accord sample examples/gallery/examiners.py:examiners --data examples/gallery/examiners.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"essay/spread": 8.0, "examiner/spread": 4.0, "noise": 5.0}


@ac.model
def effects(count, scale):
    """Effects of exchangeable units with an unknown spread; shape (count,)."""
    spread = ac.sample("spread", dist.HalfNormal(scale))
    with ac.plate("each", count):
        return ac.sample("effect", dist.Normal(0, spread))


@ac.model
def examiners(mark):
    """`mark`: of 100, by essay and examiner, shape (60, 8)."""
    num_essays, num_examiners = mark.shape
    level = ac.sample("level", dist.Normal(60, 20))
    noise = ac.sample("noise", dist.HalfNormal(10))
    essay = ac.submodel(effects(num_essays, 10.0), prefix="essay")
    examiner = ac.submodel(effects(num_examiners, 10.0), prefix="examiner")
    ac.deterministic("severity", -examiner, dims="examiner_dim")
    with ac.plate("row", num_essays, dim=-2), ac.plate("column", num_examiners, dim=-1):
        ac.sample("mark", dist.Normal(level + essay[:, None] + examiner, noise), obs=mark)


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(2001)
    essay = rng.normal(0, TRUTH["essay/spread"], 60)
    examiner = rng.normal(0, TRUTH["examiner/spread"], 8)
    mark = 60 + essay[:, None] + examiner + rng.normal(0, TRUTH["noise"], (60, 8))
    return {"mark": np.round(mark, 1)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, report how reliable a mark is, and compare with the truth."""
    draws = infer.sample(examiners(**data()), seed=1)
    print(draws.summary())

    # Reliability: the essay's share of the variance of a mark, with one examiner or the mean of several.
    essay, examiner, noise = (draws[name] ** 2 for name in TRUTH)
    for number in (1, 2, 4):
        reliability = essay / (essay + (examiner + noise) / number)
        print(f"reliability with {number} examiners: {reliability.mean():.2f}")

    # Check
    for name, truth in TRUTH.items():
        low, high = np.quantile(draws[name], [0.05, 0.95])
        print(f"{name}: {low:.2f} to {high:.2f} (90%), true {truth}")
    return draws


if __name__ == "__main__":
    main()
