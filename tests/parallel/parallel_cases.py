"""Compute what must be the same on any number of devices. A program of its own, since JAX is told their number first.

python parallel_cases.py NUM_DEVICES NUM_ROWS
"""

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import ModelError
from accord.density import LogDensity, sharded, sharded_sum
from accord.density.rows.blocks import mesh_of


def data(num_rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3, num_rows))  # rows along the second axis
    y = rng.poisson(np.exp(0.5 + np.array([0.2, 0.1, -0.3]) @ x)).astype(float)
    w = rng.normal(size=num_rows)
    w[::7] = np.nan
    return {"x": x, "y": y, "w": w}


SHARD = {"x": 1, "y": 0, "w": 0}


@ac.model
def counts(x, y, w, shift, chunk=None):
    """Unknowns for each row, for each row and column, and for none; a mask; factors in a plate and outside of any."""
    b = ac.sample("b", dist.Normal(0, 1).expand([3]).to_event(1))
    s = ac.sample("s", dist.HalfNormal(1))
    ac.factor("outside", -0.5 * s**2)
    with ac.plate("row", x.shape[1], dim=-1, chunk=chunk):
        z = ac.sample("z", dist.Exponential(1.0))
        ac.sample("y", dist.Poisson(jnp.exp(b @ x + s * jnp.log(z) + shift[0])), obs=y)
        with ac.handlers.mask(mask=jnp.isfinite(w)):
            ac.sample("w", dist.Normal(s, 2.0), obs=w)
        ac.factor("inside", -0.1 * z**2)
        with ac.plate("column", 2, dim=-2):
            ac.sample("u", dist.Normal(0, 1 + s))
    ac.deterministic("mean", x.mean() * s)


@ac.model
def simple(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([3]).to_event(1))
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", x.shape[1]):
        ac.sample("y", dist.Normal(b @ x, s), obs=y)


@ac.model
def classes(y, w, chunk=None):
    """A class of each row, which decides the means of two numbers, one of them masked in some rows."""
    share = ac.sample("share", dist.Dirichlet(np.ones(3)))
    mean = ac.sample("mean", dist.Normal(0, 2).expand([3]).to_event(1))
    with ac.plate("row", y.shape[0], chunk=chunk):
        z = ac.sample("z", dist.Categorical(share))
        ac.sample("y", dist.Poisson(jnp.exp(mean[z])), obs=y)
        with ac.handlers.mask(mask=jnp.isfinite(w)):
            ac.sample("w", dist.Normal(mean[z], 2.0), obs=w)


def derivatives(function: Callable[[Any], Any], at: Any, direction: Any) -> dict[str, Any]:
    """A function by every way in which JAX differentiates, up to second derivatives; in one program."""

    def everything(at: Any, direction: Any) -> dict[str, Any]:
        linear = jax.linearize(function, at)[1]
        gradient = jax.grad(function)
        return {
            "value": function(at),
            "grad": gradient(at),
            "grad of jit": jax.grad(jax.jit(function))(at),
            "jvp": jax.jvp(function, (at,), (direction,)),
            "vjp": jax.vjp(function, at)[1](1.0),
            "linearize": linear(direction),
            "linear_transpose": jax.linear_transpose(linear, at)(1.0),
            "hessian": jax.hessian(function)(at),
            "jacrev of grad": jax.jacrev(gradient)(at),
            "jacfwd of jacfwd": jax.jacfwd(jax.jacfwd(function))(at),
            "Hessian times vector": jax.jvp(gradient, (at,), (direction,)),
            "vmap": jax.vmap(function)(jnp.stack([at, 1.1 * at])),
            "vmap of grad": jax.vmap(gradient)(jnp.stack([at, 1.1 * at])),
            "in a scan": jax.lax.scan(lambda total, _: (total + gradient(at), None), 0 * at, None, 2)[0],
        }

    return jax.jit(everything)(at, direction)


def few_derivatives(function: Callable[[Any], Any], at: Any, direction: Any) -> dict[str, Any]:
    """Of each order, one."""

    def everything(at: Any, direction: Any) -> dict[str, Any]:
        value, gradient = jax.value_and_grad(function)(at)
        product = jax.jvp(jax.grad(function), (at,), (direction,))[1]
        return {"value": value, "grad": gradient, "Hessian times vector": product}

    return jax.jit(everything)(at, direction)


def digests(found: dict[str, Any]) -> dict[str, str]:
    """Of every array, by name."""
    result = {}
    for name, value in found.items():
        leaves = map(np.ascontiguousarray, jax.tree.leaves(value))
        result[name] = hashlib.sha256(b"".join(leaf.tobytes() for leaf in leaves)).hexdigest()
    return result


def errors(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, float]:
    """The largest difference by name, relative to the largest number."""

    def error(a: Any, b: Any) -> float:
        return float(np.max(np.abs(a - b), initial=0) / np.max(np.abs(b), initial=1))

    return {
        name: max(
            error(a, b) for a, b in zip(*map(jax.tree.leaves, (found[name], expected[name])), strict=True)
        )
        for name in found
    }


def log_term(row: Any, parameters: Any) -> jax.Array:
    return -0.5 * ((row["y"] - row["x"] @ parameters[:3]) * jnp.exp(-parameters[3])) ** 2 - parameters[3]


def main() -> None:
    """Print everything as JSON."""
    num_devices, num_rows = map(int, sys.argv[1:])
    jax.config.update("jax_num_cpu_devices", max(num_devices, 1))
    jax.config.update("jax_enable_x64", True)
    arrays = data(num_rows)
    mesh = mesh_of(jax.devices()[:num_devices])
    rng = np.random.default_rng(5)
    found: dict[str, Any] = {}
    expected: dict[str, Any] = {}

    whole = LogDensity.from_model(counts(**arrays, shift=np.array([0.1])))
    at, direction = (jnp.asarray(0.3 * rng.normal(size=whole.dim)) for _ in range(2))
    ways = derivatives if num_rows < 100 else _first_derivative  # a Hessian has a column for each unknown
    cut = sharded(whole, mesh, SHARD)
    found["model"] = ways(cut, at, direction) | {"values": jax.jit(cut.constrain)(at)}

    pieces = sharded(LogDensity.from_model(counts(**arrays, shift=np.array([0.1]), chunk=2)), mesh, SHARD)
    found["chunks"] = few_derivatives(pieces, at, direction)

    rows_of_classes = {"y": 0, "w": 0}
    of_classes = {
        chunk: LogDensity.from_model(classes(arrays["y"], arrays["w"], chunk)) for chunk in (None, 2)
    }
    five = jnp.asarray(0.3 * rng.normal(size=5))
    for chunk, density in of_classes.items():
        cut = sharded(density, mesh, rows_of_classes)
        found[f"classes, {chunk}"] = few_derivatives(cut, five, -five) | {
            "values": jax.jit(cut.constrain)(five)
        }

    rows = {"x": arrays["x"].T, "y": arrays["y"]}
    four, along = (jnp.asarray(0.3 * rng.normal(size=4)) for _ in range(2))
    devices = jax.devices()[:num_devices]
    found["function"] = derivatives(
        lambda parameters: sharded_sum(log_term, rows, parameters, devices=devices), four, along
    )
    if num_devices == 1:
        expected["model"] = ways(whole, at, direction) | {"values": jax.jit(whole.constrain)(at)}
        expected["chunks"] = few_derivatives(whole, at, direction)
        expected["function"] = derivatives(by_scan(rows), four, along)
        for chunk in of_classes:
            values = {"values": jax.jit(of_classes[None].constrain)(five)}
            expected[f"classes, {chunk}"] = few_derivatives(of_classes[None], five, -five) | values
        loop = sum(
            log_term(jax.tree.map(lambda leaf, i=i: leaf[i], rows), four) for i in range(min(num_rows, 40))
        )
        if num_rows <= 40:
            found["loop"], expected["loop"] = {"value": loop}, {"value": expected["function"]["value"]}

    executor = infer.Devices(data=num_devices, shard={"x": 1, "y": 0})
    options = dict(draws=20, warmup=20, chains=2, progress=False, quiet=True)
    for lanes in (1, 2):
        draws = infer.sample(simple(arrays["x"], arrays["y"]), executor=executor, lanes=lanes, **options)
        found[f"draws, {lanes} lanes"] = {**draws.sites, **draws.stats}
    draws = infer.sample(simple(arrays["x"], arrays["y"]), executor=infer.Devices(), **options)
    found["draws, a chain on each device"] = {**draws.sites, **draws.stats}
    print(
        json.dumps(
            {
                "forgotten": forgotten(arrays["y"], options) if num_devices > 1 else "",
                "digests": {part: digests(results) for part, results in found.items()},
                "errors": {part: errors(found[part], results) for part, results in expected.items()},
            }
        )
    )


def forgotten(y: np.ndarray, options: dict[str, Any]) -> str:
    """What is said of a user's own parallel likelihood that does not add its parts up."""
    mesh = mesh_of(jax.devices())
    y = np.resize(y, 8 * jax.device_count())
    specs = (jax.P(), jax.P("data"))
    part = jax.shard_map(
        lambda m, y: -0.5 * jnp.sum((y - m) ** 2),
        mesh=mesh,
        in_specs=specs,
        out_specs=jax.P(),
        check_vma=False,
    )
    target = LogDensity.from_function(lambda m: part(m[0], jnp.asarray(y)), np.zeros(1))
    try:
        infer.sample(target, **options)
    except ModelError as error:
        return str(error)
    return "it was drawn from"


def _first_derivative(function: Callable[[Any], Any], at: Any, direction: Any) -> dict[str, Any]:
    del direction
    value, gradient = jax.jit(jax.value_and_grad(function))(at)
    return {"value": value, "grad": gradient}


def by_scan(rows: Any) -> Callable[[Any], Any]:
    def function(parameters: Any) -> Any:
        return jax.lax.scan(lambda total, row: (total + log_term(row, parameters), None), 0.0, rows)[0]

    return function


if __name__ == "__main__":
    main()
