"""Check on the CPU what makes runs on accelerators right and cheap: what stays on the device, and how much a call does.

Programs are lowered for a GPU, though none is there. Several devices of the CPU stand for several GPUs.
"""

import itertools
import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.pace import Pace
from accord.core.position import Position
from accord.core.precision import scope
from accord.density import LogDensity
from accord.kernels.vectors import IN_TURN
from accord.mcmc.columns import Drawn, Sites, columns
from accord.mcmc.group import GroupMachine, NotBegun, begin, run_chains, work
from accord.mcmc.idle_devices import idle_devices
from accord.mcmc.limits import lanes_on_accelerators
from accord.mcmc.machine import Machine
from accord.mcmc.method import build
from accord.mcmc.plan import Plan
from accord.mcmc.program import advance_program
from accord.mcmc.sites_program import sites_program, sizes
from accord.mcmc.statistics import HEIGHT, width_of
from accord.mcmc.stretch import Stretch
from accord.runs.worker import Machines, Task

X = np.linspace(-1, 1, 12)
Y = 2 * X + np.cos(9 * X)
WIDTHS = {"one lane": 1, "three lanes": 3}


@ac.model
def line(x, y):
    slope = ac.sample("slope", dist.Normal(0, 10))
    scale = ac.sample("scale", dist.HalfNormal(2))
    with ac.plate("row", len(x)):
        mean = ac.deterministic("mean", slope * x)
        ac.sample("y", dist.Normal(mean, scale), obs=y)


def planned(lanes: int = 1, rows_at_once: int = 1, sampler: Any = None, **options: Any) -> Plan:
    common = dict(num_warmup=40, num_kept=30, thinning=1, seed=3, precision="float64", dim=2, segment=16)
    kernel = sampler or infer.NUTS()
    return Plan(kernel=kernel, lanes=lanes, rows_at_once=rows_at_once, **(common | options))  # type: ignore[arg-type]


def built(plan: Plan) -> Machine:
    with scope("float64"):
        return build(LogDensity.from_model(line(X, Y), "float64"), plan)[0]


def arrays_of(machine: Machine, numbers: Sequence[int] = (0,), **changes: Any) -> dict[Any, np.ndarray]:
    """All arrays of the draws, by chain, phase and name."""
    machine = replace(machine, plan=replace(machine.plan, **changes))
    found: dict[Any, list[np.ndarray]] = {}
    with scope("float64"):
        for item in run_chains(machine, numbers, lambda: False):
            for name, array in item.arrays.items() if isinstance(item, Stretch) else ():
                found.setdefault((item.chain, item.phase, name), []).append(array)
    return {key: np.concatenate(arrays) for key, arrays in found.items()}


def assert_same(one: dict[Any, np.ndarray], other: dict[Any, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for key, array in one.items():
        np.testing.assert_array_equal(array, other[key], err_msg=str(key))


SHORT = Pace(first_block=3, block_seconds=1e-9, unsaved_seconds=0.0)
"""A block of a few gradients, and a piece for each."""


@each(WIDTHS, slow=("one lane",))
def test_sites_in_batches_do_not_depend_on_where_blocks_end_nor_on_other_chains(lanes):
    """As row by row, where a batch is eight rows, but for rounding; thinned, so that numbers are not those of draws."""
    machine = built(planned(lanes, 8, thinning=2))
    assert machine.sites.batch == 8 and machine.sites.rows % 8 == 0
    numbers = range(lanes)
    whole = arrays_of(machine, numbers)
    assert_same(arrays_of(machine, numbers, pace=SHORT), whole)
    last = arrays_of(machine, [lanes - 1])
    assert_same(last, {key: array for key, array in whole.items() if key[0] == lanes - 1})
    by_row = arrays_of(built(planned(lanes, thinning=2)), numbers)
    assert by_row.keys() == whole.keys()
    for key, array in by_row.items():
        np.testing.assert_allclose(whole[key], array, rtol=1e-12, err_msg=str(key))
    assert whole[0, "sample", "site/mean"].shape == (30, 12)


class Recorded:
    """A program of sites that keeps what it is given: of each row, its position and its index in the batch."""

    def __init__(self, rows: int, batch: int):
        self.indices: dict[float, set[int]] = {}
        self.num_calls, self.batch = 0, batch
        self.sites = Sites(self.run, rows, batch)

    def run(self, positions: Any, heights: Any, num_sites: Any, num_parts: Any) -> dict[str, Any]:
        self.num_calls += 1
        values = positions.free[:, 0]
        for row in np.flatnonzero(values):
            assert row < num_parts and heights[row] == -values[row]
            self.indices.setdefault(float(values[row]), set()).add(int(row) % self.batch)
        return {"site/x": np.where(np.arange(len(values)) < num_sites, values, np.nan)}


def drawn(phase: Any, first: int, values: Sequence[float]) -> Drawn:
    stats = np.zeros((len(values), width_of(infer.NUTS())))
    stats[:, HEIGHT] = -np.asarray(values)
    positions = np.asarray(values, float)[:, None]
    gradients = positions if phase == "warmup" else None
    return Drawn(phase, first, Position(positions), stats, infer.NUTS.stats, gradients)


@each({"in batches": (16, 4), "row by row": (16, 1), "one batch a call": (4, 4)})
def test_a_draw_has_the_same_place_in_its_batch_wherever_pieces_begin(sizes):
    rows, batch = sizes
    values = np.arange(1.0, 51.0)
    program = Recorded(rows, batch)
    for cuts in ((), (1, 2, 3), (7, 29), (16, 32, 48)):
        bounds = [0, *cuts, 50]
        pieces = [drawn("sample", a, values[a:b]) for a, b in itertools.pairwise(bounds)]
        warm = drawn("warmup", 5, 100 + values[:3])
        found = columns([warm, *pieces, drawn("sample", 9, [])], program.sites)
        np.testing.assert_array_equal(np.concatenate([each["site/x"] for each in found[1:]]), values)
        assert "site/x" not in found[0] and found[0]["gradient"].shape == (3, 1)
    assert program.indices.pop(101.0) == {5 % batch}
    assert all(program.indices[value] == {(int(value) - 1) % batch} for value in values)


def test_many_short_pieces_take_one_call():
    program = Recorded(64, 1)
    columns([drawn("sample", 0, [n + 1.0]) for n in range(64)], program.sites)
    assert program.num_calls == 1


def test_a_batch_is_as_large_as_memory_allows():
    def of_row(size):
        return jax.make_jaxpr(lambda x: (x.sum() + jnp.arange(float(size)),))(np.zeros(2)).jaxpr

    plan = planned(lanes=4, rows_at_once=256, segment=100)
    rows, batch = sizes(of_row(10), plan)
    assert batch == 256 and rows == 512  # room for 400 rows
    rows, batch = sizes(of_row(10**6), plan)
    assert batch < 64 and rows == batch  # a batch at a time
    assert sizes(of_row(10**8), plan) == (100, 1)
    assert sizes(of_row(10), planned(lanes=4, segment=100)) == (100, 1)  # on a CPU

    def calls(x):
        return (jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((2,), x.dtype), x),)

    assert sizes(jax.make_jaxpr(calls)(np.zeros(2)).jaxpr, plan) == (100, 1)


def lowered_for_gpu(function: Any, *arguments: Any) -> str:
    return jax.jit(function).trace(*arguments).lower(lowering_platforms=("cuda",)).as_text()


def test_the_program_of_sites_takes_a_batch_at_a_time_on_an_accelerator():
    def of_row(position, height):
        return {"twice": 2 * position, "height": height}

    def text(batch):
        program = sites_program(of_row, lambda *_: {}, 64, batch)
        return lowered_for_gpu(program, np.zeros((64, 3)), np.zeros(64), np.int32(0), np.int32(0))

    written = re.compile(r"stablehlo.dynamic_update_slice.*\(tensor<64x3xf\d+>, tensor<(\d+)x3xf\d+>")
    assert written.findall(text(16)) == ["16"] and written.findall(text(1)) == ["1"]


class CaughtError(Exception):
    """Has the arguments of a program that is not run."""


def arguments_of(plan: Plan) -> tuple[Any, ...]:
    def catch(*arguments: Any) -> Any:
        raise CaughtError(*arguments)

    machine, numbers = Machine(plan, catch, Recorded(16, 1).sites), range(plan.lanes)
    chains = begin(machine, numbers).chains
    with pytest.raises(CaughtError) as caught:
        machine.run(chains, [chain.state for chain in chains], [0 for _ in numbers], [1 for _ in numbers])
    return caught.value.args


def test_lanes_write_their_rows_by_one_operation_on_an_accelerator():
    """Else a step would launch a kernel for each lane and buffer."""

    def num_updates(in_turn):
        run = advance_program(infer.NUTS().compiled, 2, np.dtype(float), 8, 32, False, in_turn)
        normal = jax.value_and_grad(lambda x: -0.5 * (x**2).sum())
        text = lowered_for_gpu(lambda *a: run(lambda at: normal(at.free), *a), *arguments_of(planned(8)))
        return text.count("dynamic_update_slice")

    with scope("float64"):
        assert num_updates(IN_TURN) >= num_updates(0) + 8 * 3


class Counted:
    """A machine that counts the numbers which each call takes from the host."""

    def __init__(self, machine: Machine):
        self.calls: list[int] = []
        self._advance = machine.advance
        self.machine = replace(machine, advance=self.advance)

    def advance(self, *arguments: Any) -> Any:
        leaves = jax.tree.leaves(arguments)
        self.calls.append(sum(np.size(leaf) for leaf in leaves if not isinstance(leaf, jax.Array)))
        return self._advance(*arguments)


SAMPLERS = {
    "one lane": (1, None),
    "lanes": (4, None),
    "an ensemble": (4, infer.ChEES()),
}


@each(SAMPLERS, slow=("an ensemble",))
def test_only_small_numbers_go_to_the_device_between_blocks(case):
    """Of each lane: step size and counters, the key of its draw, and limits; no position, gradient, tree or metric."""
    lanes, sampler = case
    counted = Counted(built(planned(lanes, sampler=sampler, num_kept=10**6, segment=4096, pace=Pace(20))))
    with scope("float64"):
        group = begin(counted.machine, range(lanes))
        while min(chain.draw for chain in group.chains) < 60:
            group, _ = work(counted.machine, group, 0.0, lambda: False)
        counted.calls.clear()
        for _ in range(4):
            group = replace(group, budget=40)
            group, _ = work(counted.machine, group, 0.0, lambda: False)
    _, *others = counted.calls  # the first one may put a new metric there
    assert len(others) == 3 and max(others) <= 32 * lanes


def test_a_group_can_go_on_in_another_process():
    """What is on the device is pickled as NumPy arrays, and the draws stay the same."""
    machine = built(planned(3))
    with scope("float64"):
        group = begin(machine, range(3))
        while not all(chain.is_started and chain.draw > 5 for chain in group.chains):
            group, _ = work(
                replace(machine, plan=replace(machine.plan, pace=SHORT)), group, 0.0, lambda: False
            )
        assert machine.holds(group.chains[0])
        copy = pickle.loads(pickle.dumps(group))
        assert not machine.holds(copy.chains[0])
        ends = [work(machine, each, 60.0, lambda: False)[0] for each in (group, copy, group)]
    for chains in zip(*(end.chains for end in ends), strict=True):
        first, *others = (pickle.loads(pickle.dumps(chain.state)) for chain in chains)
        for other in others:
            assert_same(dict(enumerate(jax.tree.leaves(first))), dict(enumerate(jax.tree.leaves(other))))


def test_a_task_goes_on_with_the_machine_that_holds_its_chains():
    one, other = (built(planned(2)) for _ in range(2))
    pace = replace(other.plan, pace=SHORT)
    with scope("float64"):
        group, _ = work(replace(other, plan=pace), begin(other, range(2)), 0.0, lambda: False)
    task, new = Task(group), Task(NotBegun((0, 1)))
    here, there = GroupMachine(one), GroupMachine(other)
    machines = Machines([here, there])
    with machines.taken(task) as first, machines.taken(task) as second:
        assert first is there and second is here  # the only one that is free
    with machines.taken(new) as first:
        assert first is here or first is there


def test_the_lanes_of_accelerators_do_not_depend_on_their_number():
    assert [lanes_on_accelerators(n) for n in (1, 3, 4, 64, 65, 1024, 1025, 4096)] == [
        *(1, 4, 4, 64, 128, 1024, 1024, 1024)
    ]


class Many(infer.Devices):
    """Eight devices, as far as notices are concerned."""

    def device_groups(self) -> list[Sequence[Any]]:
        return [jax.local_devices()] * 8


IDLE = {
    "fewer groups than devices": (planned(lanes=64), 64, ["7 of 8", "64 chains", "lanes=8"]),
    "some groups": (planned(lanes=32), 100, ["4 of 8", "100 chains", "4 groups", "lanes=16"]),
    "one chain for each lane": (planned(lanes=1), 4, []),
    "enough groups": (planned(lanes=8), 64, []),
    "one chain": (planned(lanes=2), 1, []),
    "chains that move in step": (planned(lanes=64, sampler=infer.ChEES()), 64, []),
}


@each(IDLE)
def test_idle_devices_are_told_of(case):
    plan, num_chains, words = case
    text = " ".join(str(notice) + notice.remedy for notice in idle_devices(Many(), plan, num_chains))
    assert bool(text) == bool(words)
    for word in words:
        assert word in text
