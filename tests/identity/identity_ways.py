"""Run a model in every way there is, and say which arrays differ from those of the plainest one."""

import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from ctrl_c import pressed_once
from identity_models import CASES, CONTROLLED, Case
from paced import paced

from accord import infer
from accord.executors import available_cores
from accord.mcmc.draws import Draws

EQUAL = "="

Digests = dict[tuple[int, str, str], str]
"""By chain, kind and name of an array."""


@dataclass(frozen=True)
class Way:
    """A way to run.

    **Fields**: `run`, of a case in an empty folder; `lanes` and `is_cut`, whether rows are: whose reference it is
    compared with.
    """

    run: Callable[[Case, Path], Draws]
    lanes: int = 1
    is_cut: bool = False

    def fits(self, case: Case) -> bool:
        """Whether a case can be run so."""
        return self.lanes in case.lanes and not (self.is_cut and case.shard is None)

    def reference(self, case: Case) -> Draws:
        """The plainest run with so many lanes, and with rows cut or not."""
        executor = infer.Devices(data=1, shard=case.shard) if self.is_cut else infer.Serial()
        return sample(case, executor=executor, lanes=self.lanes)


def sample(case: Case, **options: Any) -> Draws:
    """The run of a case, quietly unless `options` say otherwise."""
    defaults: dict[str, Any] = dict(
        draws=case.draws, warmup=case.draws, chains=case.chains, seed=11, precision=case.precision, quiet=True
    )
    return infer.sample(case.build(), case.sampler, **(defaults | options))


def in_blocks(size: int, seconds: float) -> Callable[[Case, Path], Draws]:
    """Blocks that hold `size` gradients at first, and then about `seconds`."""

    def run(case: Case, folder: Path) -> Draws:
        del folder
        where = paced(infer.Threads(2), first_block=size, block_seconds=seconds)
        return sample(case, executor=where)

    return run


def stored(case: Case, folder: Path) -> Draws:
    """What is read from disk, without the model."""
    sample(case, store=infer.RunFolder(folder / "run"))
    return infer.load(folder / "run")


def watched(case: Case, folder: Path) -> Draws:
    """With a live display, which goes to a file here."""
    with (folder / "display").open("w") as file, contextlib.redirect_stderr(file):
        return sample(case, quiet=False, progress=True)


def extended(case: Case, folder: Path) -> Draws:
    """A third of the draws, then the others."""
    del folder
    first = case.draws // 3
    return sample(case, draws=first).extend(case.draws - first)


def in_short_blocks(executor: Any) -> Any:
    """The executor, each of whose blocks has a few gradients and is stored."""
    return paced(executor, first_block=4, block_seconds=1e-5, unsaved_seconds=0.0)


def resumed(*executors: Any, lanes: int = 1) -> Callable[[Case, Path], Draws]:
    """Begun by the first executor and stopped in warm-up, stopped again in sampling if there are three, and ended."""

    def run(case: Case, folder: Path) -> Draws:
        path = folder / "run"
        phases = ("warmup", "sample")[: len(executors) - 1]
        for phase, executor in zip(phases, executors, strict=False):
            executor = in_short_blocks(executor)
            with pressed_once(lambda piece, phase=phase: piece.phase == phase) as sent:
                if phase == "warmup":
                    store = infer.RunFolder(path)
                    found = sample(case, executor=executor, store=store, lanes=lanes)
                else:
                    found = infer.resume(path, case.build(), executor=executor, quiet=True)
            if not sent or found.complete:
                raise RuntimeError("the run was to be interrupted, and was not.")
        return infer.resume(path, case.build(), executor=executors[-1], quiet=True)

    return run


def plainly(**options: Any) -> Callable[[Case, Path], Draws]:
    """A call with other options."""
    return lambda case, folder: sample(case, **options)


def cut(make: Callable[[Any], Any], **options: Any) -> Callable[[Case, Path], Draws]:
    """Rows shared out by the executor that `make` makes of a case's `shard`."""
    return lambda case, folder: sample(case, executor=make(case.shard), **options)


def handed_over(case: Case, folder: Path) -> Draws:
    """Rows cut on a device at first, and by two processes from an interrupt on."""
    return resumed(infer.Devices(data=1, shard=case.shard), infer.MultiHost(2, case.shard))(case, folder)


WAYS = {
    "Threads(1)": Way(plainly(executor=infer.Threads(1))),
    "Threads(2)": Way(plainly(executor=infer.Threads(2))),
    "Threads(4)": Way(plainly(executor=infer.Threads(4))),
    "Devices()": Way(plainly(executor=infer.Devices())),
    "Processes(1)": Way(plainly(executor=infer.Processes(1))),
    "Processes(2)": Way(plainly(executor=infer.Processes(2))),
    "Dask(workers=2)": Way(plainly(executor=infer.Dask(workers=2))),
    "short blocks of a few gradients": Way(in_blocks(3, 1e-5)),
    "very long blocks": Way(in_blocks(2**30, 1e3)),
    "with a live display": Way(watched),
    "stored, and loaded without the model": Way(stored),
    "one chain alone": Way(plainly(chains=[2])),
    "among other chains, in another order": Way(plainly(chains=[5, 1, 0])),
    "a third of the draws, then extended": Way(extended),
    "Ctrl-C in warm-up, resumed": Way(resumed(infer.Serial(), infer.Serial())),
    "Ctrl-C in warm-up and in sampling, resumed: Threads, Serial, Processes": Way(
        resumed(infer.Threads(2), infer.Serial(), infer.Processes(2))
    ),
    # Stopped in this process: a worker may have done all of a quick run before a signal is heard.
    "Ctrl-C in warm-up and in sampling, resumed: Serial, Threads, Dask": Way(
        resumed(infer.Serial(), infer.Threads(2), infer.Dask(workers=2))
    ),
    "2 lanes: Threads(2)": Way(plainly(executor=infer.Threads(2), lanes=2), lanes=2),
    "2 lanes: one chain alone": Way(plainly(chains=[2], lanes=2), lanes=2),
    "2 lanes: Ctrl-C in warm-up, resumed": Way(resumed(infer.Threads(2), infer.Serial(), lanes=2), lanes=2),
    "sharded rows: MultiHost(1)": Way(cut(partial(infer.MultiHost, 1)), is_cut=True),
    "sharded rows: MultiHost(2)": Way(cut(partial(infer.MultiHost, 2)), is_cut=True),
    "sharded rows: MultiHost(2), one chain alone": Way(
        cut(partial(infer.MultiHost, 2), chains=[2]), is_cut=True
    ),
    "sharded rows: Ctrl-C in warm-up, resumed by MultiHost(2)": Way(handed_over, is_cut=True),
}
if importlib.util.find_spec("ray"):
    WAYS["Ray(workers=2)"] = Way(plainly(executor=infer.Ray(workers=2)))


def digests(draws: Draws) -> Digests:
    """Of every array of every chain, with its dtype and shape; of counts and places of bad ends too."""
    arrays = {
        (kind, name): array
        for kind in ("sites", "stats", "tuning", "warmup")
        for name, array in getattr(draws, kind).items()
    }
    for kind, phases in draws.counts.items():
        arrays |= {("counts", f"{kind} in {phase}"): counts for phase, counts in phases.items()}
        at = [
            [each for each in draws.failures if (each.chain, each.kind) == (chain, kind)]
            for chain in draws.chains
        ]
        arrays["failures", kind] = [
            np.array([[each.draw, *each.position] for each in places]) for places in at
        ]
    found = {}
    for (kind, name), array in arrays.items():
        for row, chain in enumerate(draws.chains):
            values = np.ascontiguousarray(array[row])
            header = f"{values.dtype.str}{values.shape}".encode()
            found[chain, kind, name] = hashlib.sha256(header + values.tobytes()).hexdigest()
    return found


def differences(found: Digests, reference: Digests) -> tuple[int, int]:
    """How many arrays differ, of how many that both have; each must have some."""
    common = found.keys() & reference.keys()
    if not common:
        raise RuntimeError("nothing to compare.")
    return sum(found[key] != reference[key] for key in common), len(common)


def compare(name: str, ways: Collection[str] = WAYS) -> tuple[dict[str, str], int]:
    """The cells of a model by way (`=`, what differs, or nothing where it is not run), and how many arrays it had."""
    case = CASES[name]
    expected: dict[tuple[int, bool], Digests] = {}
    cells, num_compared = {}, 0
    for label in ways:
        way = WAYS[label]
        if not way.fits(case):
            cells[label] = ""
            continue
        kind = way.lanes, way.is_cut
        if kind not in expected:
            expected[kind] = digests(way.reference(case))
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            wrong, compared = differences(digests(way.run(case, Path(folder))), expected[kind])
        cells[label] = f"**{wrong} of {compared} differ**" if wrong else EQUAL
        num_compared += compared
        print(f"{name}: {label}: {cells[label]} ({time.perf_counter() - began:.1f} s)", file=sys.stderr)
    return cells, num_compared


def control(name: str) -> str:
    """Whether bits move once the surroundings are let go; only told where they can."""
    if name not in CONTROLLED or available_cores() < 2:
        return ""
    expected = whole(digests(sample(CASES[name], executor=infer.Serial())))
    found = {"PYTHONPATH": os.pathsep.join(sys.path)}
    environment = dict(os.environ) | found | ({"NPROC": "1"} if name == CONTROLLED[0] else {})
    command = [sys.executable, __file__, name]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return EQUAL if ran.stdout.strip() == expected else "differs"


def _uncontrolled(name: str) -> Draws:
    """The reference run, with BLAS as wide as it likes."""
    with mock.patch("accord.runs.carry_out.one_blas_thread", contextlib.nullcontext):
        return sample(CASES[name], executor=infer.Serial())


def whole(found: Digests) -> str:
    return hashlib.sha256("".join(found[key] for key in sorted(found)).encode()).hexdigest()


if __name__ == "__main__":
    print(whole(digests(_uncontrolled(sys.argv[1]))))
