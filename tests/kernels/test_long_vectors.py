"""Hold a step in many dimensions to few passes over memory, by what XLA has compiled."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from machine import diagonal_metric, given_of

from accord.core.position import Position
from accord.kernels import HMC, NUTS
from accord.kernels.vectors import inner
from accord.mcmc.block import ATTEMPTS, Limits, start_state
from accord.mcmc.program import advance_program
from accord.programs.compiler import compile_lowered

DIM = 1013
ROWS = 256
KERNELS = {"NUTS": NUTS, "HMC": HMC}


def _plain(position: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum(position * position)


def _with_a_product(position: jax.Array) -> jax.Array:
    """A target whose gradient is not compiled together with the step."""
    square = jnp.outer(position[:100], position[:100])
    return _plain(position) - 1e-3 * jnp.sum((square @ square) ** 2)


TARGETS = {"one piece": _plain, "three pieces": _with_a_product}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_step_passes_over_few_vectors(kernel: str, target: str) -> None:
    # A leapfrog step reads position, momentum, force and scale, and then half a step's momentum, gradient and scale; it
    # writes position, momentum, force and gradient. The kinetic energy and the sum of momenta need five more. XLA
    # computes some of it twice, and the second target has more of its own. With a select for what rarely changes, or a
    # table of both ends, NUTS makes more than a hundred passes.
    lines, copies = _vectors_in_a_step(kernel, target)
    assert not copies, lines
    passes = sum(lines.values())
    assert 10 < passes <= 38, lines


def _vectors_in_a_step(kernel: str, target: str) -> tuple[dict[str, int], list[str]]:
    """What is done in every turn of the loop over steps, by how many vectors it reads or writes; and the copies."""
    made = KERNELS[kernel]()
    run = advance_program(made.compiled, DIM, np.dtype(float), 1, ROWS)
    places = Position(np.zeros((ATTEMPTS, DIM)))
    arguments = (
        start_state(made, Position(np.zeros(DIM))),
        given_of(made, diagonal_metric(DIM, 16)),
        *(np.zeros(2, np.uint32) for _ in range(2)),
        Limits.at(1, 1, 0, places),
    )
    evaluate = jax.value_and_grad(TARGETS[target])
    text = compile_lowered(
        jax.jit(lambda *rest: run(lambda at: evaluate(at.free), *rest)).lower(*arguments)
    ).as_text()
    computations = dict(re.findall(r"^(?:ENTRY )?%(\S+) .*?\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL))
    bodies = re.findall(r" while\(.*body=%([^\s,]+)", text)
    every = max((_all_of(body, computations) for body in bodies), key=len).splitlines()
    counts: dict[str, int] = {}
    sizes = {name: _vectors_of(shape) for name, shape, _ in map(_parts, every)}
    for line in every:
        name, _, rest = _parts(line)
        if not re.match(r"(fusion|copy|reduce|reduce-window|multiply|add|subtract|select|slice|dot)\(", rest):
            continue
        read = re.findall(r"%([^\s,)]+)", rest.split("), ")[0])
        counts[line] = sizes[name] + sum(sizes.get(each, 0) for each in read)
    return counts, [line for line, count in counts.items() if count and " copy(" in line]


def _parts(line: str) -> tuple[str, str, str]:
    """The name of a result, its shape, and the rest of the line."""
    found = re.match(r"\s*(?:ROOT )?%(\S+) = (\(.*?\)|\S+) (.*)", line)
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _vectors_of(shape: str) -> int:
    """How many vectors a result has; of a table of many rows, one is read or written."""
    found = re.match(rf"f64\[(\d+,)?{DIM}\]", shape)
    rows = int((found.group(1) or "1,")[:-1]) if found else 0
    return rows if rows <= 2 else 1


def _all_of(computation: str, computations: dict[str, str]) -> str:
    """The text of a computation with what it calls in any case, without the loops in it."""
    lines = computations[computation]
    called = re.findall(r" call\(.*to_apply=%([^\s,]+)", lines)
    return "\n".join([lines, *(_all_of(each, computations) for each in called)])


@pytest.mark.parametrize("dim", [5, 64, 4095, 4096, 40_003])
def test_an_inner_product_is_the_sum_of_the_products(dim: int) -> None:
    generator = np.random.default_rng(0)
    left, right = generator.normal(size=(2, 3, dim))
    found = jax.jit(inner)(left, right)
    np.testing.assert_allclose(found, np.sum(left * right, 1), rtol=1e-12, atol=1e-12)
