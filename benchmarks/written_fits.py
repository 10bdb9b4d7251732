"""Compare fits of models with networks with those of NumPyro: cold seconds to the same bound, and time per step.

    python benchmarks/written_fits.py --numpyro PYTHON [--repeats 3] [--models digits,topics,network]

- `digits`: a variational autoencoder of the 1,797 digits of scikit-learn, 8 x 8 pixels, 128 at a time, by networks with
  400 hidden units (as in NumPyro's example).
- `topics`: latent Dirichlet allocation with ten topics of words summed out, a guide by a network, 50 of 300 documents
  at a time. NumPyro sums out by `TraceEnum_ELBO`.
- `network`: a regression of 1,000 rows by a network of 10,197 weights with normal priors, mean field, all rows.

Both libraries have the same statements, Adam with the same step size in unconstrained units, and one draw a step in
float32. NumPyro takes its steps in one jitted loop, by `svi.run` without a display.

First each library fits in one process for 500 to 2,000 steps, NumPyro also for 4,000 and 8,000. One evaluator, written
here for both, computes the evidence lower bound of each fit for all data: `DRAWS` draws for each unknown, the same in
both, and divergences in closed form. That gives the steps in which accord first has the bound that NumPyro has after
2,000, and the CPU time of a step: of accord from the difference of the last two fits, which for a mean field has a
share of where it begins.

Then each library fits in processes of its own, with nothing compiled before, in turn: accord for these steps, NumPyro
for 2,000, and both for 2,000. Imports and the evaluator count in no time. Accord's time is given with the judgement of
its fit and without.
"""

import argparse
import itertools
import json
import statistics
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from fits import in_process

STEPS = 2000
PATH = (500, 1000, 1250, 1500, 1750, STEPS)
LONGER = (2 * STEPS, 4 * STEPS)  # of NumPyro
DRAWS = 100
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


def bound_of(name: str, params: dict[str, Any]) -> float:
    """Evaluate the evidence lower bound for all data, by `DRAWS` draws; of parameters by the names of `statements`.

    Those of the network are pairs of location and scale by site.
    """
    import jax
    import jax.numpy as jnp

    data, params = data_of(name), jax.tree.map(jnp.asarray, params)

    def network_of(which: str, count: int = 2) -> list[tuple[Any, Any]]:
        return [(params[f"{which}_weight{k}"], params[f"{which}_offset{k}"]) for k in range(count)]

    def digits(key: Any) -> Any:
        picture = jnp.asarray(data, jnp.float32)
        found = apply(picture, network_of("encoder"), jax.nn.softplus)
        loc, log_scale = found[:, :CODES], found[:, CODES:]
        code = loc + jnp.exp(log_scale) * jax.random.normal(key, loc.shape, loc.dtype)
        logits = apply(code, network_of("decoder"), jax.nn.softplus)
        divergence = 0.5 * (jnp.exp(2 * log_scale) + loc**2 - 1) - log_scale
        return jnp.sum(picture * logits - jax.nn.softplus(logits)) - jnp.sum(divergence)

    def topics(key: Any) -> Any:
        counts = jax.nn.one_hot(data, VOCABULARY, dtype=jnp.float32).sum(axis=1)
        shape = 0.3 + jax.nn.softplus(apply(counts, network_of("network"), jax.nn.softplus))
        share = jax.random.dirichlet(key, shape)
        total, gammaln, digamma = shape.sum(-1), jax.scipy.special.gammaln, jax.scipy.special.digamma
        mean_log = digamma(shape) - digamma(total)[:, None]
        divergence = gammaln(total) - gammaln(shape).sum(-1) + jnp.sum((shape - 0.3) * mean_log, -1)
        divergence += TOPICS * gammaln(0.3) - gammaln(0.3 * TOPICS)
        return jnp.sum(counts * jnp.log(share @ params["words_of"])) - jnp.sum(divergence)

    def network(key: Any) -> Any:
        weights, divergence = {}, 0.0
        for place, (site, (loc, scale)) in enumerate(sorted(params.items())):
            noise = jax.random.normal(jax.random.fold_in(key, place), loc.shape, loc.dtype)
            weights[site], prior = loc + scale * noise, loc.shape[0] ** -0.5
            divergence += jnp.sum((scale**2 + loc**2) / (2 * prior**2) - 0.5 - jnp.log(scale / prior))
        hidden = jnp.tanh(data[0] @ weights["first"] + weights["place"])
        mean = jnp.tanh(hidden @ weights["second"] + weights["between"]) @ weights["third"]
        errors = (data[1] - mean) / 0.15
        return jnp.sum(-0.5 * errors**2) - len(errors) * np.log(0.15 * (2 * np.pi) ** 0.5) - divergence

    estimate = {"digits": digits, "topics": topics, "network": network}[name]
    return float(np.mean(jax.lax.map(jax.jit(estimate), jax.random.split(jax.random.key(1), DRAWS))))


class Clock:
    """Wall and CPU seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def spent(self) -> dict[str, float]:
        """Return both."""
        return {"seconds": time.perf_counter() - self._began[0], "cpu": time.process_time() - self._began[1]}


def by_accord(name: str, numbers: Sequence[int]) -> list[dict[str, float]]:
    """Fit with accord, for these numbers of steps."""
    import optax

    import accord as ac
    import accord.distributions as dist
    from accord import infer
    from accord.distributions import constraints
    from accord.vi.host import FitHost

    lib = language(ac, dist, constraints, {})
    model, guide = statements(name, lib)
    data = data_of(name)
    arguments = data if isinstance(data, tuple) else (data,)
    target = ac.model(model)(*arguments)
    made = infer.guides.MeanField() if guide is None else ac.model(guide)(*arguments)
    judging, judge = [], FitHost.judge

    def timed(host: FitHost, *given: Any) -> Any:
        clock = Clock()
        notices = judge(host, *given)
        judging.append(clock.spent()["seconds"])
        return notices

    FitHost.judge = timed
    found = []
    for steps in numbers:
        clock = Clock()
        fit = infer.fit(
            target,
            made,
            objective=infer.ELBO(draws=1),
            optimizer=optax.adam(STEP_SIZE[name] / UNIT.get(name, 1)),
            steps=steps,
            until=None,
            precision="float32",
            quiet=True,
        )
        spent = clock.spent()
        params = dict(fit.params)
        if guide is None:
            frame = fit.fitted.frame
            loc = frame.location + frame.scale * params["loc"]
            sites = (
                fit.density.constrain(loc),
                fit.density.constrain(frame.scale * np.exp(params["log_scale"])),
            )
            params = {site: tuple(each[site] for each in sites) for site in sites[0]}
        found.append({**spent, "steps": steps, "bound": bound_of(name, params), "judging": judging[-1]})
    if len(found) > 1:  # the last two differ by their steps alone, since all is compiled
        before, last = found[-2:]
        last["step"] = (last["cpu"] - before["cpu"]) / (last["steps"] - before["steps"])
    return found


def by_numpyro(name: str, numbers: Sequence[int]) -> list[dict[str, float]]:
    """Fit with NumPyro, for these numbers of steps."""
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
    found = []
    for steps in numbers:
        clock = Clock()
        fit = jax.block_until_ready(svi.run(jax.random.PRNGKey(0), steps, *arguments, progress_bar=False))
        spent, params = clock.spent(), dict(fit.params)
        if guide is None:
            sites = [site.removesuffix("_auto_loc") for site in params if site.endswith("_auto_loc")]
            params = {site: (params[f"{site}_auto_loc"], params[f"{site}_auto_scale"]) for site in sites}
        found.append({**spent, "steps": steps, "bound": bound_of(name, params)})
    if len(found) > 1:
        state = svi.init(jax.random.PRNGKey(0), *arguments)
        block = jax.jit(
            lambda state: jax.lax.scan(lambda s, _: svi.update(s, *arguments), state, length=STEPS)[0]
        )
        state = jax.block_until_ready(block(state))
        clock = Clock()
        jax.block_until_ready(block(state))
        found[-1]["step"] = clock.spent()["cpu"] / STEPS
    return found


def first_above(path: list[dict[str, float]], bound: float) -> dict[str, float] | None:
    """Return the first fit of a path whose bound is as high, or None."""
    return next((fit for fit in path if fit["bound"] >= bound), None)


def compare(name: str, numpyro: str, repeats: int) -> tuple[float, str]:
    """Compare the libraries on one model; return a ratio of seconds to the same bound, and rows of a table."""

    def fits(library: str, numbers: Sequence[int]) -> list[dict[str, float]]:
        python = numpyro if library == "numpyro" else sys.executable
        return in_process(__file__, python, name, library, ",".join(map(str, numbers)))

    path, other = fits("accord", PATH), fits("numpyro", (*PATH, *LONGER))
    end = next(fit for fit in other if fit["steps"] == STEPS)["bound"]
    early, late = first_above(path, end), first_above(other, path[-1]["bound"])
    orders = {"early": ("accord", early["steps"] if early else STEPS), "ours": ("accord", STEPS)}
    orders["theirs"] = ("numpyro", STEPS)
    cold: dict[str, list[dict[str, float]]] = {key: [] for key in orders}
    for _ in range(repeats):
        for key, (library, steps) in orders.items():
            cold[key] += fits(library, (steps,))

    def median(key: str, what: str) -> float:
        return statistics.median(fit[what] for fit in cold[key])

    def row(key: str, what: str) -> str:
        library, steps = orders[key]
        judged = f"{median(key, 'seconds') - median(key, 'judging'):.1f}" if library == "accord" else ""
        cells = [name, what, steps, f"{median(key, 'seconds'):.1f}", judged, f"{median(key, 'cpu'):.1f}"]
        return f"| {' | '.join(map(str, cells))} | {cold[key][0]['bound']:.0f} |"

    when = f"after {late['steps']} steps" if late else f"not within {LONGER[-1]} steps"
    own, peer = (f"{1e6 * each[-1]['step']:.0f}" for each in (path, other))
    rows = [
        row("early", "accord, to NumPyro's bound" if early else "accord, below NumPyro's bound"),
        row("ours", "accord"),
        row("theirs", "NumPyro"),
        f"{name}: a step takes {own} us of CPU, NumPyro's {peer}; NumPyro has accord's bound {when}",
        f"{name}: bounds by steps: accord {bounds(path)}; NumPyro {bounds(other)}",
    ]
    return median("theirs", "seconds") / median("early", "seconds") if early else float("nan"), "\n".join(
        rows
    )


def bounds(path: list[dict[str, float]]) -> str:
    """Return the bounds of a path as text."""
    return ", ".join(f"{fit['steps']:.0f} {fit['bound']:.0f}" for fit in path)


def main() -> None:
    """Compare the libraries on each model, or make the fits of one process for `compare`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numpyro", help="Python of an environment with NumPyro, funsor and scikit-learn")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, library, numbers = options.one
        fit = by_accord if library == "accord" else by_numpyro
        print(json.dumps(fit(name, [int(steps) for steps in numbers.split(",")])))
        return
    ratios = []
    print("| model | fit | steps | seconds | without judgement | seconds of CPU | bound |")
    for name in options.models.split(","):
        ratio, rows = compare(name, options.numpyro, options.repeats)
        ratios.append(ratio)
        print(rows, flush=True)
    print(
        f"geometric mean of the ratios of seconds to NumPyro's bound: {statistics.geometric_mean(ratios):.2f}"
    )


if __name__ == "__main__":
    main()
