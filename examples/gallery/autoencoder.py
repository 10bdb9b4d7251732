"""Learn what pictures have in common, without labels: a variational autoencoder.

Two hundred pictures of 8 x 8 pixels show a bar that goes through the centre at some angle; one pixel in fifty is wrong.
Nobody says that there is an angle. The model is a network that makes pixels of two numbers, which differ from picture
to picture. A second network, the guide, guesses these numbers from a picture. Both are fitted together, on parts of the
pictures, and then tell of pictures that they have not seen.

Data: simulated by `simulate()`. Method: Kingma & Welling (2014), "Auto-encoding variational Bayes", ICLR.

    python examples/gallery/autoencoder.py
"""

import json
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"wrong": 0.02}
SIDE, CODES = 8, 2
DECODER = eqx.nn.MLP(CODES, SIDE**2, 32, 1, activation=jnp.tanh, key=jax.random.key(0))
ENCODER = eqx.nn.MLP(SIDE**2, 2 * CODES, 32, 1, activation=jnp.tanh, key=jax.random.key(1))


@ac.model
def autoencoder(picture, size=None):
    """`picture`: shape (n, 64), zeros and ones. `size`: the number of pictures at a time."""
    decoder = ac.module("decoder", DECODER)
    with ac.plate("sheet", len(picture), subsample_size=size):
        code = ac.sample("code", dist.Normal(np.zeros(CODES), 1).to_event(1))
        pixels = dist.Bernoulli(logits=jax.vmap(decoder)(code)).to_event(1)
        ac.sample("pixel", pixels, obs=ac.subsample(picture, 1))


@ac.model
def encoder(picture, size=None):
    """Guess the codes of pictures: a normal distribution for each, by a network."""
    network = ac.module("encoder", ENCODER)
    with ac.plate("sheet", len(picture), subsample_size=size):
        found = jax.vmap(network)(ac.subsample(picture, 1))
        loc, scale = found[:, :CODES], jax.nn.softplus(found[:, CODES:])
        ac.sample("code", dist.Normal(loc, scale).to_event(1))


def bars(angle):
    """Draw bars at angles of shape (n,), without errors; shape (n, 64)."""
    place = np.arange(SIDE) - (SIDE - 1) / 2
    across = np.sin(angle)[:, None, None] * place - np.cos(angle)[:, None, None] * place[:, None]
    return (np.abs(across) < 1).astype(int).reshape(len(angle), -1)


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(2014)
    clean = bars(rng.uniform(0, np.pi, 200))
    return {"picture": np.where(rng.random(clean.shape) < TRUTH["wrong"], 1 - clean, clean)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit both networks, and mend pictures that they have not seen."""
    picture = data()["picture"]
    fit = infer.fit(
        autoencoder(picture, 50),
        encoder(picture, 50),
        objective=infer.ELBO(draws=1),
        optimizer=optax.adam(5e-3),
        steps=4000,
        until=None,
        seed=1,
    )
    print(fit)

    # A weight is a product over all pictures, so that Pareto k says nothing good. The bound of each picture does: how
    # much better than pixels that know nothing of each other?
    share = picture.mean(axis=0)
    apart = np.sum(picture * np.log(share) + (1 - picture) * np.log(1 - share))
    print(
        f"log evidence of a picture above {fit.log_evidence_bound / 200:.1f}; of pixels alone {apart / 200:.1f}"
    )

    # Check
    before, after = mend(fit)
    print(f"wrong pixels of new pictures: {before:.1%} before, {after:.1%} after")
    return fit


def mend(fit):
    """Mend new bars, a tenth of whose pixels are wrong; return the shares of wrong pixels before and after.

    The guide says what the codes of a picture are, and the decoder what the picture should be.
    """
    rng = np.random.default_rng(7)
    clean = bars(rng.uniform(0, np.pi, 100))
    spoilt = np.where(rng.random(clean.shape) < 0.1, 1 - clean, clean)
    codes = fit.draw_for(autoencoder(spoilt), encoder(spoilt), 200)["code"][0]
    decode = jax.jit(jax.vmap(jax.vmap(fit.module("decoder", DECODER))))
    mended = np.asarray(jax.nn.sigmoid(decode(codes))).mean(axis=0) > 0.5
    return np.mean(spoilt != clean), np.mean(mended != clean)


def plot(fit):
    """Draw the pictures that the decoder makes of codes on a grid."""
    from matplotlib.figure import Figure

    grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 9)] * 2), axis=-1).reshape(-1, CODES)
    made = np.asarray(jax.nn.sigmoid(jax.vmap(fit.module("decoder", DECODER))(grid)))
    figure = Figure(figsize=(4, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="first code, from -2 to 2", ylabel="second code", xticks=[], yticks=[])
    sheet = made.reshape(9, 9, SIDE, SIDE).transpose(0, 2, 1, 3).reshape(9 * SIDE, 9 * SIDE)
    axes.imshow(sheet, cmap="Blues", origin="lower")
    return figure


if __name__ == "__main__":
    main()
