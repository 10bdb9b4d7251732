"""Evaluate NumPyro's distributions at given points: a worker of `distributions.py`, in the peers' environment.

Reads from standard input `{family: {"kind", "names", "is_discrete", quantity: [inputs]}}` and writes, for each family
and quantity, rows of the value and its derivatives, or a sentence that says why there are none.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

BASES = ("Cauchy", "StudentT", "Laplace", "Logistic")
# Families of the grid that are a distribution with something held fixed, or with another name.
FIXED: dict[str, Callable[..., Any]] = {
    "BetaBinomial50": lambda a, b: dist.BetaBinomial(a, b, total_count=50),
    "Binomial50Probs": lambda p: dist.BinomialProbs(p, total_count=50),
    "Binomial50Logits": lambda x: dist.BinomialLogits(x, total_count=50),
    "BinomialMillionProbs": lambda p: dist.BinomialProbs(p, total_count=1_000_000),
    "BinomialMillionLogits": lambda x: dist.BinomialLogits(x, total_count=1_000_000),
    "LogPoisson": lambda x: dist.Poisson(jnp.exp(x)),
    "NegativeBinomial2NearPoisson": lambda m, c: dist.NegativeBinomial2(m, c),
    "OrderedLogistic": lambda x, *cuts: dist.OrderedLogistic(x, jnp.stack(cuts)),
}


def maker(family: str, names: list[str]) -> Callable[..., Any]:
    """What builds NumPyro's distribution of a family from the parameters, in the order of `names`."""
    kind = family.split(",")[0].removesuffix(" from 0")
    if kind in FIXED:
        return FIXED[kind]
    for start in ("Truncated ", "Left-truncated ", "Right-truncated "):
        if kind.startswith(start):
            return truncated(kind.removeprefix(start), names)
    found = getattr(dist, kind)
    return lambda *p: found(**dict(zip(names, p, strict=True)))


def truncated(base: str, names: list[str]) -> Callable[..., Any]:
    """NumPyro's truncation, where it has one for the base."""
    if base not in BASES:
        raise TypeError(f"NumPyro truncates no {base}")

    def make(*parameters: Any) -> Any:
        given = dict(zip(names, parameters, strict=True))
        bounds = {name: given.pop(name) for name in ("low", "high") if name in given}
        if "loc" not in given:
            given["loc"] = 0.0
        return dist.TruncatedDistribution(getattr(dist, base)(**given), **bounds)

    return make


def evaluate(make: Callable[..., Any], quantity: str, rows: list, *, is_discrete: bool) -> list:
    """The value and its derivatives by value and parameters, at every row."""
    arguments = [np.asarray(column) for column in zip(*rows, strict=True)]
    slopes = tuple(range(1 if is_discrete else 0, len(arguments)))

    def function(x: Any, *parameters: Any) -> jax.Array:
        return getattr(make(*parameters), quantity)(x)

    values, derivatives = jax.jit(jax.vmap(jax.value_and_grad(function, slopes)))(*arguments)
    return np.stack([values, *derivatives], axis=-1).astype(float).tolist()


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", sys.argv[1] == "float64")
    answers: dict[str, Any] = {}
    for family, task in json.load(sys.stdin).items():
        answers[family] = {}
        for quantity in ("log_prob", "cdf", "icdf"):
            if quantity not in task:
                continue
            try:
                make = maker(task["kind"], task["names"])
                found = evaluate(make, quantity, task[quantity], is_discrete=task["is_discrete"])
            except Exception as error:  # what it cannot do is a result
                found = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            answers[family][quantity] = found
    print(json.dumps(answers))
