"""Find topics in documents: latent Dirichlet allocation, with topics of words summed out and a guide by a network.

Three hundred documents of forty words each are about some of ten topics, in a vocabulary of twenty-five words. Laid out
as a square, each topic is a row or a column of it. Every word has a topic of its own, which is discrete and summed out,
exactly. Which topics a document is about, its guide computes from the counts of its words; so documents that were not
there can be told at once. The topics themselves are parameters, which are fitted with the guide, on parts of the
documents.

Data: simulated by `simulate()`, as by Griffiths & Steyvers (2004), "Finding scientific topics", PNAS 101. Method: Blei,
Ng & Jordan (2003), "Latent Dirichlet allocation", JMLR 3; Srivastava & Sutton (2017), "Autoencoding variational
inference for topic models", ICLR.

    python examples/gallery/topics.py
"""

import json
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import optax

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.distributions import constraints

SIDE, TOPICS = 5, 10
VOCABULARY = SIDE**2
ABOUT = 0.3  # concentration of the topics of a document: it is about few of them
NETWORK = eqx.nn.MLP(VOCABULARY, TOPICS, 50, 1, activation=jax.nn.softplus, key=jax.random.key(0))
# Topics that are all equal would stay so: each begins a little different.
START = np.random.default_rng(1).dirichlet(np.full(VOCABULARY, 5.0), TOPICS)


@ac.model
def topics(word, size=None):
    """`word`: shape (document, place), numbers below 25. `size`: the number of documents at a time."""
    words_of = ac.param("words_of", START, constraint=constraints.simplex)
    places = word.shape[1]
    with ac.plate("document", len(word), dim=-2, subsample_size=size):
        share = ac.sample("share", dist.Dirichlet(np.full(TOPICS, ABOUT)).expand((1,)))
        with ac.plate("place", places, dim=-1):
            topic = ac.sample("topic", dist.Categorical(probs=share))
            ac.sample("word", dist.Categorical(probs=words_of[topic]), obs=ac.subsample(word))


@ac.model
def guide(word, size=None):
    """Tell the topics of documents from the counts of their words."""
    network = ac.module("network", NETWORK)
    with ac.plate("document", len(word), dim=-2, subsample_size=size):
        own = ac.subsample(word)
        counts = jax.nn.one_hot(own, VOCABULARY).sum(axis=1)
        concentration = ABOUT + jax.nn.softplus(jax.vmap(network)(counts))
        ac.sample("share", dist.Dirichlet(concentration[:, None]))


def rows_and_columns():
    """Return the true topics, shape (10, 25)."""
    square = np.eye(SIDE)[:, :, None] * np.ones(SIDE)
    return np.concatenate([square, square.transpose(0, 2, 1)]).reshape(TOPICS, VOCABULARY) / SIDE


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(2003)
    share = rng.dirichlet(np.full(TOPICS, ABOUT), 300)
    return {"word": np.stack([rng.choice(VOCABULARY, 40, p=each @ rows_and_columns()) for each in share])}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def distances(fit):
    """Return, for each true topic, the distance of the nearest one that was found: half the sum of differences."""
    apart = np.abs(rows_and_columns()[:, None] - np.asarray(fit.params["words_of"])).sum(axis=-1) / 2
    return apart.min(axis=1)


def main():
    """Fit topics and guide, and compare the topics with the true ones."""
    word = data()["word"]
    fit = infer.fit(
        topics(word, 50),
        guide(word, 50),
        objective=infer.ELBO(draws=1),
        optimizer=optax.adam(1e-2),
        steps=2000,
        until=None,
        seed=1,
    )
    print(fit)
    count = np.bincount(word.ravel(), minlength=VOCABULARY)
    apart = float(np.sum(count * np.log(count / count.sum())))
    print(
        f"log evidence of a word above {fit.log_evidence_bound / word.size:.2f}; without topics {apart / word.size:.2f}"
    )

    # Check
    print("distance of each topic from the nearest that was found:", np.round(distances(fit), 2))

    # A document that was not there, of words of the first row and the last column.
    new = np.array([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4, 9, 14, 19, 24, 4, 9, 14, 19, 24]])
    share = fit.draw_for(topics(new), guide(new))["share"][0].mean(axis=0)[0, 0]
    for topic in np.argsort(share)[:-3:-1]:
        likely = np.argsort(fit.params["words_of"][topic])[: -SIDE - 1 : -1]
        print(f"{share[topic]:.0%} about words {sorted(int(each) for each in likely)}")
    return fit


if __name__ == "__main__":
    main()
