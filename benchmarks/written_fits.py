"""Compare fits of models with networks with those of NumPyro: cold seconds for the same steps, and time per step.

    python benchmarks/written_fits.py --numpyro PYTHON [--repeats 3] [--models digits,topics,network]

- `digits`: a variational autoencoder of the 1,797 digits of scikit-learn, 8 x 8 pixels, 128 at a time, by networks with
  400 hidden units (as in NumPyro's example).
- `topics`: latent Dirichlet allocation with ten topics of words summed out, a guide by a network, 50 of 300 documents
  at a time. NumPyro sums out by `TraceEnum_ELBO`.
- `network`: a regression of 1,000 rows by a network of 10,197 weights with normal priors, mean field, all rows.

Both libraries have the same statements, 2,000 steps of Adam with the same step size in unconstrained units, and one
draw a step in float32; each fit is in a process of its own, with nothing compiled before, and the libraries take turns.
What they reach is compared by the evidence lower bound for all data, of NumPyro over 100 draws, which counts in no
time. NumPyro takes its steps in one jitted loop, by `svi.run` without a display. Accord's time contains the judgement
of its fit.
"""

import argparse
import itertools
import json
import statistics
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from fits import in_process

STEPS = 2000
MODELS = ("digits", "topics", "network")
STEP_SIZE = {"digits": 1e-3, "topics": 1e-2, "network": 1e-2}
UNIT = {"network": 0.1}  # of the coordinates in which accord fits a mean field that it knows nothing of
SIZE = {"digits": 128, "topics": 50}
HIDDEN, CODES = 400, 15
TOPICS, SIDE = 10, 5
VOCABULARY = SIDE**2
UNITS = 99


def data_of(name: str) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Return the data of a model."""
    rng = np.random.default_rng(0)
    if name == "digits":
        from sklearn.datasets import load_digits

        return (load_digits().data > 7.5).astype(np.int32)
    if name == "topics":
        square = np.eye(SIDE)[:, :, None] * np.ones(SIDE)
        topics = np.concatenate([square, square.transpose(0, 2, 1)]).reshape(TOPICS, VOCABULARY) / SIDE
        shares = rng.dirichlet(np.full(TOPICS, 0.3), 300)
        return np.stack([rng.choice(VOCABULARY, 40, p=each @ topics) for each in shares]).astype(np.int32)
    x = rng.uniform(-2, 2, (1000, 1)).astype(np.float32)
    return x, (np.sin(2 * x[:, 0]) + rng.normal(0, 0.15, 1000)).astype(np.float32)


def layers(lib: Any, name: str, *widths: int) -> list[tuple[Any, Any]]:
    """Make the parameters of a network, with the same first values in both libraries."""
    rng = np.random.default_rng(1)
    return [
        (
            lib.param(
                f"{name}_weight{k}", (rng.normal(size=(before, after)) / before**0.5).astype(np.float32)
            ),
            lib.param(f"{name}_offset{k}", np.zeros(after, np.float32)),
        )
        for k, (before, after) in enumerate(itertools.pairwise(widths))
    ]


def apply(x: Any, network: list[tuple[Any, Any]], activation: Any) -> Any:
    """Apply a network to rows."""
    for k, (weight, offset) in enumerate(network):
        x = x @ weight + offset
        x = activation(x) if k < len(network) - 1 else x
    return x


def statements(name: str, lib: Any) -> tuple[Any, Any]:
    """Return a model and its guide as functions of the data; None is the mean field of the library."""
    import jax
    import jax.numpy as jnp

    dist = lib.dist

    def digits(picture: Any, size: Any = SIZE["digits"]) -> None:
        decoder = layers(lib, "decoder", CODES, HIDDEN, 64)
        with lib.plate("sheet", len(picture), subsample_size=size):
            code = lib.sample("code", dist.Normal(jnp.zeros(CODES, jnp.float32), 1).to_event(1))
            pixels = dist.Bernoulli(logits=apply(code, decoder, jax.nn.softplus)).to_event(1)
            lib.sample("pixel", pixels, obs=lib.subsample(picture, 1))

    def of_digits(picture: Any, size: Any = SIZE["digits"]) -> None:
        encoder = layers(lib, "encoder", 64, HIDDEN, 2 * CODES)
        with lib.plate("sheet", len(picture), subsample_size=size):
            found = apply(jnp.asarray(lib.subsample(picture, 1)).astype(np.float32), encoder, jax.nn.softplus)
            scale = jnp.exp(found[:, CODES:])
            lib.sample("code", dist.Normal(found[:, :CODES], scale).to_event(1))

    def topics(word: Any, size: Any = SIZE["topics"]) -> None:
        start = np.random.default_rng(1).dirichlet(np.full(VOCABULARY, 5.0), TOPICS).astype(np.float32)
        words_of = lib.param("words_of", start, constraint=lib.simplex)
        with lib.plate("document", len(word), dim=-2, subsample_size=size):
            share = lib.sample("share", dist.Dirichlet(jnp.full((1, TOPICS), 0.3, jnp.float32)))
            with lib.plate("place", word.shape[1], dim=-1):
                topic = lib.sample("topic", dist.Categorical(probs=share), **lib.summed)
                lib.sample("word", dist.Categorical(probs=words_of[topic]), obs=lib.subsample(word, 0))

    def of_topics(word: Any, size: Any = SIZE["topics"]) -> None:
        network = layers(lib, "network", VOCABULARY, 50, TOPICS)
        with lib.plate("document", len(word), dim=-2, subsample_size=size):
            counts = jax.nn.one_hot(lib.subsample(word, 0), VOCABULARY, dtype=np.float32).sum(axis=1)
            share = 0.3 + jax.nn.softplus(apply(counts, network, jax.nn.softplus))
            lib.sample("share", dist.Dirichlet(share[:, None]))

    def network(x: Any, y: Any) -> None:
        def normal(name: str, *shape: int) -> Any:
            scale = np.float32(shape[0] ** -0.5)
            return lib.sample(name, dist.Normal(jnp.zeros(shape, jnp.float32), scale).to_event(len(shape)))

        first, place = normal("first", 1, UNITS), normal("place", UNITS)
        second, between = normal("second", UNITS, UNITS), normal("between", UNITS)
        third = normal("third", UNITS)
        hidden = jnp.tanh(jnp.tanh(x @ first + place) @ second + between)
        with lib.plate("row", len(y)):
            lib.sample("y", dist.Normal(hidden @ third, np.float32(0.15)), obs=y)

    return {"digits": (digits, of_digits), "topics": (topics, of_topics), "network": (network, None)}[name]


def language(module: Any, dist: Any, constraints: Any, summed: dict[str, Any]) -> SimpleNamespace:
    """Return the statements that both libraries have. `summed`: what a site that is summed out is given."""
    return SimpleNamespace(
        sample=module.sample,
        plate=module.plate,
        param=module.param,
        subsample=module.subsample,
        dist=dist,
        simplex=constraints.simplex,
        summed=summed,
    )


def by_accord(name: str) -> dict[str, float]:
    """Fit with accord: all steps, at the same step size."""
    import optax

    import accord as ac
    import accord.distributions as dist
    from accord import infer
    from accord.distributions import constraints

    lib = language(ac, dist, constraints, {})
    model, guide = statements(name, lib)
    data = data_of(name)
    arguments = data if isinstance(data, tuple) else (data,)
    target = ac.model(model)(*arguments)
    made = infer.guides.MeanField() if guide is None else ac.model(guide)(*arguments)
    began = time.perf_counter()
    fit = infer.fit(
        target,
        made,
        objective=infer.ELBO(draws=1),
        optimizer=optax.adam(STEP_SIZE[name] / UNIT.get(name, 1)),
        steps=STEPS,
        until=None,
        precision="float32",
        quiet=True,
    )
    return {"seconds": time.perf_counter() - began, "bound": fit.log_evidence_bound}


def by_numpyro(name: str) -> dict[str, float]:
    """Fit with NumPyro."""
    import jax
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO, TraceEnum_ELBO, autoguide

    lib = language(numpyro, dist, dist.constraints, {"infer": {"enumerate": "parallel"}})
    model, guide = statements(name, lib)
    data = data_of(name)
    arguments = data if isinstance(data, tuple) else (data,)
    made = autoguide.AutoNormal(model) if guide is None else guide
    objective = TraceEnum_ELBO if name == "topics" else Trace_ELBO
    svi = SVI(model, made, numpyro.optim.Adam(STEP_SIZE[name]), objective())
    began = time.perf_counter()
    found = jax.block_until_ready(svi.run(jax.random.PRNGKey(0), STEPS, *arguments, progress_bar=False))
    spent = time.perf_counter() - began
    whole = arguments if guide is None else (*arguments, None)
    judge = objective(num_particles=100)
    loss = jax.jit(lambda key: judge.loss(key, found.params, model, made, *whole))
    return {"seconds": spent, "bound": -float(loss(jax.random.PRNGKey(1)))}


def main() -> None:
    """Compare the libraries on each model, or make one fit for `main`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numpyro", help="Python of an environment with NumPyro, funsor and scikit-learn")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, library = options.one
        print(json.dumps(by_accord(name) if library == "accord" else by_numpyro(name)))
        return
    ratios = []
    for name in options.models.split(","):
        ours, theirs = [], []
        for _ in range(options.repeats):
            ours.append(in_process(__file__, sys.executable, name, "accord"))
            theirs.append(in_process(__file__, options.numpyro, name, "numpyro"))
        own, other = (statistics.median(each["seconds"] for each in runs) for runs in (ours, theirs))
        ratios.append(other / own)
        print(
            f"{name:8} accord {own:6.2f} s, bound {ours[0]['bound']:.1f}; "
            f"NumPyro {other:6.2f} s, bound {theirs[0]['bound']:.1f}; ratio {other / own:.2f}",
            flush=True,
        )
    print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
