"""Measure students and questions on one scale: item response theory with two parameters for each question.

A thousand students answered five questions of the Law School Admission Test. Each student has an ability. Each
question has an easiness and a discrimination, which says how sharply it separates students by ability. Abilities are
normal and are integrated out on a grid, which leaves ten parameters instead of a thousand and ten. Each pattern of
answers then has an expected ability.

Data: section 6 of Bock & Lieberman (1970), Fitting a response model for n dichotomously scored items, Psychometrika
35, 179-197. Maximum likelihood estimates: Rizopoulos (2006), J. of Statistical Software 17(5), section 3.2.

    python examples/gallery/lsat.py
    accord sample examples/gallery/lsat.py --data examples/gallery/lsat.json
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

PUBLISHED = {
    "easiness": np.array([2.773, 0.990, 0.249, 1.285, 2.053]),
    "discrimination": np.array([0.825, 0.723, 0.890, 0.689, 0.657]),
}
# Gauss-Hermite quadrature for expectations of a standard normal ability: exact to ten digits here.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(25)
LOG_WEIGHTS = np.log(WEIGHTS / WEIGHTS.sum())


@ac.model
def lsat(answers, students):
    """`answers`: by pattern and question, 1 is right, shape (32, 5); `students` with that pattern, shape (32,)."""
    with ac.plate("question", answers.shape[1], dim=-1):
        easiness = ac.sample("easiness", dist.Normal(0, 2))
        # Positive, because the sign of ability is a convention.
        discrimination = ac.sample("discrimination", dist.LogNormal(0, 0.5))
    log_odds = easiness + discrimination * NODES[:, None]  # (node, question)
    log_likelihood = dist.Bernoulli(logits=log_odds).log_prob(answers[:, None, :]).sum(axis=-1)
    joint = log_likelihood + LOG_WEIGHTS  # (pattern, node)
    ac.factor("answers", jnp.sum(students * jax.nn.logsumexp(joint, axis=-1)))
    ac.deterministic("ability", jax.nn.softmax(joint, axis=-1) @ NODES, dims="pattern")


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, compare questions and students, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(lsat(**data()), seed=1)
    print(draws.summary())

    # Among students with equally many right answers, those right on more discriminating questions are more able.
    answers, ability = data()["answers"], draws["ability"].mean(axis=(0, 1))
    for number in range(6):
        among = ability[answers.sum(axis=1) == number]
        print(f"{number} right answers: ability {among.min():+.2f} to {among.max():+.2f}")

    # Check
    mode = infer.find_mode(lsat(**data()), "mle")
    for name, published in PUBLISHED.items():
        print(f"{name}: {np.round(mode.values[name], 3)}, published {published}")
    return draws


if __name__ == "__main__":
    main()
