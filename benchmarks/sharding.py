"""Measure what sharing data out over devices gains, and from what size on.

    python benchmarks/sharding.py [--rows logistic=3000,30000,300000 mixture=200,2000,20000] [--repeats 20]

A logistic regression with 20 covariates, whose matrix product XLA spreads over the cores by itself, and a mixture of 50
normal laws, each row of which has work of its own: seconds of one gradient of the whole model on one device, and of the
sum over blocks on one and two CPU devices, each in a process of its own, which take turns. Medians are compared.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from statistics import median

GAIN_AIM = 1.6  # of two devices on two cores, for gradients of 10 ms


def main() -> None:
    """Print a row for each number of rows."""
    parser = argparse.ArgumentParser(description="Measure what sharing data out gains.")
    parser.add_argument("--rows", nargs="+", default=["logistic=3000,30000,300000", "mixture=200,2000,20000"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, *counts = options.child
        _measure(kind, *map(int, counts), options.repeats)
        return
    print("| model | rows | whole, ms | blocks on 1 device | on 2 devices | gain of 2 over the whole |")
    print("|---|---|---|---|---|---|")
    wanted = [
        (kind, rows)
        for kind, _, counts in (each.partition("=") for each in options.rows)
        for rows in counts.split(",")
    ]
    for kind, rows in wanted:
        taken: dict[int, list[float]] = {0: [], 1: [], 2: []}
        for _ in range(3):
            for devices in taken:
                command = [sys.executable, __file__, "--child", kind, str(devices), rows]
                command += ["--repeats", str(options.repeats)]
                ran = subprocess.run(
                    command, capture_output=True, text=True, check=True, env=dict(os.environ)
                )
                taken[devices] += json.loads(ran.stdout)
        whole, one, two = (1e3 * median(taken[devices]) for devices in taken)
        print(f"| {kind} | {rows} | {whole:.3f} | {one:.3f} | {two:.3f} | {whole / two:.2f}x |", flush=True)
    print(f"\nAim: {GAIN_AIM}x where the whole takes 10 ms.")


def _measure(kind: str, num_devices: int, rows: int, repeats: int) -> None:
    """In a process of its own: print the seconds of gradients; with no device, those of the whole model."""
    import jax

    jax.config.update("jax_num_cpu_devices", max(num_devices, 1))
    jax.config.update("jax_enable_x64", True)

    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    import accord as ac
    import accord.distributions as dist
    from accord.density import LogDensity, sharded
    from accord.density.rows.blocks import AXIS, mesh_of

    @ac.model
    def logistic(x, y):
        b = ac.sample("b", dist.Normal(0, 1).expand([x.shape[1]]).to_event(1))
        with ac.plate("row", x.shape[0]):
            ac.sample("y", dist.Bernoulli(logits=x @ b), obs=y)

    @ac.model
    def mixture(x, y):
        m = ac.sample("b", dist.Normal(0, 3).expand([50]).to_event(1))
        with ac.plate("row", x.shape[0]):
            centre = jnp.tanh(m) * x[:, :1]
            ac.factor("y", jax.nn.logsumexp(-0.5 * (y[:, None] - centre) ** 2, axis=1))

    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 20))
    y = (rng.uniform(size=rows) < 0.5).astype(int)
    density = LogDensity.from_model({"logistic": logistic, "mixture": mixture}[kind](x, y))
    data = density.data
    if num_devices:
        mesh = mesh_of(jax.devices())
        density = sharded(density, mesh, {"x": 0, "y": 0})
        spread = NamedSharding(mesh, PartitionSpec(AXIS))
        data = {name: jax.device_put(value, spread) for name, value in density.data.items()}
    gradient = jax.jit(lambda data, position: density.with_data(data).value_and_grad(position))
    position = jnp.asarray(rng.normal(size=density.dim))
    # Many in one program, as a sampler does, so that what a call costs does not count.
    many = jax.jit(
        lambda data, position: jax.lax.fori_loop(
            0, repeats, lambda _, p: p + 1e-9 * gradient(data, p)[1], position
        )
    )
    jax.block_until_ready(many(data, position))
    found = []
    for _ in range(5):
        began = time.perf_counter()
        jax.block_until_ready(many(data, position))
        found.append((time.perf_counter() - began) / repeats)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
