"""Check models that spread their own computation over two devices; prints what was found as JSON.

A program of its own, since JAX is told the number of devices first.
"""

import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.density import sharded_sum

jax.config.update("jax_num_cpu_devices", 2)
MESH = jax.make_mesh((2,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def term(m: Any, y: Any) -> Any:
    return -0.5 * jnp.sum((y - m) ** 2)


def total(m: Any, y: Any) -> Any:
    return jax.lax.psum(term(m, y), "data")


def spread(function: Callable[..., Any], check_vma: bool) -> Callable[..., Any]:
    specs = jax.P(), jax.P("data")
    return jax.shard_map(function, mesh=MESH, in_specs=specs, out_specs=jax.P(), check_vma=check_vma)


def with_slope(slope: Callable[..., Any]) -> Callable[..., Any]:
    """The right sum, with a derivative rule of its own."""

    @jax.custom_vjp
    def value(m: Any, y: Any) -> Any:
        return spread(total, True)(m, y)

    def forward(m: Any, y: Any) -> Any:
        return value(m, y), (m, y)

    value.defvjp(forward, lambda kept, seed: (seed * slope(*kept), jnp.zeros_like(kept[1])))
    return value


LIKELIHOODS = {
    "complete": spread(total, True),
    "complete, unchecked": spread(total, False),
    "complete, with its own rule": with_slope(spread(jax.grad(total), True)),
    "forgets psum, unchecked": spread(term, False),
    "forgets psum, checked": spread(term, True),
    "gradient through psum, unchecked": with_slope(spread(jax.grad(total), False)),
    "psum of the gradient, checked": with_slope(
        spread(lambda m, y: jax.lax.psum(jax.grad(term)(m, y), "data"), True)
    ),
    "sharded_sum": lambda m, y: sharded_sum(lambda row, m: term(m, row), y, m, devices=jax.devices()),
}


SAID_OF_ALL = ("cost", "float32_suffices")


def codes_of(report: Any) -> list[str]:
    return [each.code for each in report.findings if each.code not in SAID_OF_ALL]


def checked(likelihood: Callable[..., Any]) -> dict[str, Any]:
    @ac.model
    def model(y):
        m = ac.sample("m", dist.Normal(0, 1))
        ac.factor("y", likelihood(m, y))

    report = infer.check(model(np.arange(8.0)))
    return {"ok": report.ok, "codes": codes_of(report), "text": str(report)}


@ac.model
def line(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


def main() -> None:
    """Print everything."""
    found = {name: checked(likelihood) for name, likelihood in LIKELIHOODS.items()}
    x = np.random.default_rng(0).normal(size=(37, 2))
    report = infer.check(line(x, x[:, 0]), executor=infer.Devices(data=2, shard={"x": 0, "y": 0}))
    found["sharded rows"] = {"ok": report.ok, "codes": codes_of(report), "text": str(report)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
