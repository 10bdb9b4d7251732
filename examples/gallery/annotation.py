"""Grade patients whom five doctors grade differently: classes of items, and error rates of their raters.

Five anaesthetists graded the fitness of 45 patients for a general anaesthetic on a scale of four; the first of them did
so three times. They often disagree. Which grade does each patient deserve, and which mistakes does each doctor make?
The true grade is a discrete unknown of each patient, and each doctor has a probability of each rating for each true
grade. The ratings are in long form, and `grade[patient]` takes the grade of the patient that was rated. Accord sums
the grades out; `infer.predict(draws, kind="probabilities")` then says how probable each is.

Data: Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
Statistics 28(1), 20-28, table 1, with the estimated shares of the grades.

    python examples/gallery/annotation.py
    accord sample examples/gallery/annotation.py --data examples/gallery/annotation.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

NUM_GRADES = 4
PUBLISHED = (0.40, 0.42, 0.11, 0.07)  # shares of the grades, by maximum likelihood
BY_STAN = (0.376, 0.407, 0.143, 0.074)  # their posterior means with the same priors, by the R package rater
# As eight ratings before the data would say: a doctor is right with probability 0.6.
RATINGS_BEFORE = 8 * np.where(np.eye(NUM_GRADES, dtype=bool), 0.6, 0.4 / (NUM_GRADES - 1))


@ac.model
def annotation(patient, doctor, rating):
    """`patient`, `doctor`, `rating`: of each of 315 ratings, from 0."""
    share = ac.sample("share", dist.Dirichlet(jnp.full(NUM_GRADES, 3.0)), dims="true_grade")
    with ac.plate("doctor", 5, dim=-2), ac.plate("true_grade", NUM_GRADES, dim=-1):
        rates = ac.sample("rates", dist.Dirichlet(RATINGS_BEFORE), dims="rated")
    with ac.plate("patient", 45):
        grade = ac.sample("grade", dist.Categorical(share))
    with ac.plate("each", len(rating)):
        ac.sample("rating", dist.Categorical(rates[doctor, grade[patient]]), obs=rating)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def by_em(patient, doctor, rating):
    """Estimate shares and each patient's probabilities by maximum likelihood, with Dawid & Skene's algorithm."""
    probabilities = np.zeros((45, NUM_GRADES))
    np.add.at(probabilities, (patient, rating), 1 / 7)  # begin with the share of each rating
    for _ in range(200):
        share = probabilities.mean(axis=0)
        rates = np.zeros((5, NUM_GRADES, NUM_GRADES))
        np.add.at(rates.transpose(0, 2, 1), (doctor, rating), probabilities[patient])
        rates /= rates.sum(axis=2, keepdims=True)
        likelihood = np.ones((45, NUM_GRADES))
        np.multiply.at(likelihood, patient, rates[doctor, :, rating])
        probabilities = share * likelihood
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    return share, probabilities


def main():
    """Fit, read the doctors' errors and the doubtful patients, and compare with maximum likelihood."""
    draws = infer.sample(annotation(**data()), seed=1)
    print(draws.summary())

    right = np.diagonal(draws["rates"].mean(axis=(0, 1)), axis1=1, axis2=2)
    for doctor, rates in enumerate(right, start=1):
        print(f"doctor {doctor} is right about grades 1 to 4 with probability {rates.round(2)}")
    grades = infer.predict(draws, kind="probabilities")["grade"].mean(axis=(0, 1))
    for patient in np.flatnonzero(grades.max(axis=1) < 0.9):
        print(f"patient {patient + 1}: {', '.join(f'{p:.0%}' for p in grades[patient])}")

    # Check
    print(f"shares of the grades: {draws['share'].mean(axis=(0, 1)).round(3)}, by Stan {BY_STAN}")
    share, probabilities = by_em(**data())
    is_same = grades.argmax(axis=1) == probabilities.argmax(axis=1)
    print(f"{is_same.sum()} of 45 patients have the grade of maximum likelihood")
    print(f"shares by maximum likelihood: {share.round(2)}, published {PUBLISHED}")
    return draws


def plot(draws):
    """Draw the probability of each rating, by doctor and true grade."""
    from matplotlib.figure import Figure

    rates = draws["rates"].mean(axis=(0, 1))
    figure = Figure(figsize=(7, 2), layout="constrained")
    beside = figure.subplots(1, 5, sharey=True)
    ticks = dict(xticks=range(NUM_GRADES), xticklabels=range(1, NUM_GRADES + 1))
    for doctor, axes in enumerate(beside):
        image = axes.imshow(rates[doctor], cmap="Oranges", vmin=0, vmax=1)
        axes.set(title=f"doctor {doctor + 1}", xlabel="rating", **ticks)
    beside[0].set(ylabel="true grade", yticks=range(NUM_GRADES), yticklabels=range(1, NUM_GRADES + 1))
    figure.colorbar(image, ax=beside, label="probability")
    return figure


if __name__ == "__main__":
    main()
