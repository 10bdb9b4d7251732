"""Run models in every way there is, and compare the bits of every array: the identity matrix of `docs/identity.md`.

    python benchmarks/identity.py [--models a,b] [--out docs/identity.md]

Each way has a reference: one chain after the other in one thread, with as many lanes. The digests (SHA-256) of every
array of every chain are compared with those of the reference; any difference ends the command with status 1. Where bits
can move, a control shows that they do once what is held fixed is let go.
"""

import argparse
import contextlib
import hashlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.drivers.draws import Draws
from accord.executors import available_cores
from accord.storage.run_folder import RunFolderRun
from problems import model_of

BETWEEN = dist.TruncatedNormal(0.3, 1.5, low=1.0, high=2.0)  # built once, outside of any model


@ac.model
def truncated(y):
    """Observe a distribution that was built elsewhere, and draw from it."""
    x = ac.sample("x", BETWEEN)
    ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", y.shape[0]):
        ac.sample("z", dist.Normal(x, 0.5), obs=y)
        ac.sample("y", BETWEEN, obs=y)


@ac.model
def masked(x, y):
    """Regress on an offset that float32 cannot resolve, with missing outcomes behind a mask."""
    a = ac.sample("a", dist.Normal(1e5, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", x.shape[0]), handlers.mask(mask=jnp.isfinite(y)):
        ac.sample("y", dist.Normal(a + b * x, s), obs=y)


@ac.model
def long_sum(x):
    """Sum over so many elements that XLA shares them out among its threads."""
    m = ac.sample("m", dist.Normal(0, 1))
    s = ac.sample("s", dist.HalfNormal(1))
    ac.factor("lik", -0.5 * jnp.sum(((x - m) / s) ** 2) - x.shape[0] * jnp.log(s))


@ac.model
def cholesky(x, y):
    """Factor a covariance so large that a threaded BLAS shares it out."""
    s = ac.sample("s", dist.HalfNormal(1))
    cov = jnp.exp(-0.5 * ((x[:, None] - x) / 0.3) ** 2) + (0.1 + s**2) * jnp.eye(x.shape[0])
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(x.shape[0]), covariance_matrix=cov), obs=y)


NUTS = infer.NUTS()


@dataclass(frozen=True)
class Case:
    """A model to run.

    **Fields**: `build`; `draws`, kept, and as many of warm-up; `chains`, `sampler` and `precision` of the run; `lanes`,
    the widths at which it is run.
    """

    build: Callable[[], Any]
    draws: int = 60
    chains: int = 4
    sampler: Any = NUTS
    precision: Any = "float64"
    lanes: tuple[int, ...] = (1, 2)


def _truncated() -> Any:
    return truncated(np.array([1.1, 1.9, 1.5, 1.2]))


def _masked() -> Any:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = 1e5 + 2 * x + 0.1 * rng.normal(size=60)
    return masked(x, np.where(rng.uniform(size=60) < 0.3, np.nan, y))


def _long_sum() -> Any:
    return long_sum(np.random.default_rng(2).normal(0.3, 1.2, size=400_000))


def _cholesky() -> Any:
    rng = np.random.default_rng(3)
    return cholesky(np.linspace(0, 3, 600), rng.normal(size=600))


CASES = {
    "eight_schools": Case(lambda: model_of("eight_schools")),
    "eight_schools, float32": Case(lambda: model_of("eight_schools"), precision="float32"),
    "kidscore_interaction": Case(lambda: model_of("kidscore_interaction")),
    "garch11": Case(lambda: model_of("garch11")),
    "hmm_example": Case(lambda: model_of("hmm_example")),
    "low_dim_gauss_mix, HMC": Case(
        lambda: model_of("low_dim_gauss_mix"), sampler=infer.HMC(trajectory_length=1.0)
    ),
    "a distribution of module level": Case(_truncated),
    "offset of 1e5, 30% masked": Case(_masked),
    "sum over 400,000": Case(_long_sum, draws=20, chains=3),
    # One lane only: the batched LAPACK kernels of jaxlib 0.10 wait for threads of the pool that they run on, and two of
    # them at once wait for ever where it has two threads.
    "Cholesky factor of 600": Case(_cholesky, draws=5, chains=3, sampler=infer.NUTS(max_tree_depth=1)),
}

CONTROLLED = ("sum over 400,000", "Cholesky factor of 600")

Digests = dict[tuple[int, str, str], str]
"""By chain, kind and name of an array."""


@dataclass(frozen=True)
class Way:
    """A way to run. **Fields**: `run`, of a case in an empty folder; `lanes`, whose reference it is compared with."""

    run: Callable[[Case, Path], Draws]
    lanes: int = 1


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
        with blocks(size, seconds):
            return sample(case, executor=infer.Threads(2))

    return run


@contextlib.contextmanager
def blocks(size: int, seconds: float, unsaved: float = 2.0) -> Iterator[None]:
    """Have blocks of another length, and a segment whenever `unsaved` seconds have passed."""
    with (
        mock.patch("accord.drivers.group._FIRST_BLOCK", size),
        mock.patch("accord.drivers.group._BLOCK_SECONDS", seconds),
        mock.patch("accord.drivers.chain._UNSAVED_SECONDS", unsaved),
    ):
        yield


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


@contextlib.contextmanager
def interrupted(phase: str) -> Iterator[list[bool]]:
    """Send this process a Ctrl-C when the first segment of a phase is stored; the list says whether it was sent."""
    append, sent = RunFolderRun.append, []

    def and_interrupt(run: RunFolderRun, segment: Any) -> None:
        append(run, segment)
        if segment.phase == phase and not sent:
            sent.append(True)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)  # the caller looks for signals every tenth of a second

    with blocks(4, 1e-5, unsaved=0.0), mock.patch.object(RunFolderRun, "append", and_interrupt):
        yield sent


def resumed(*executors: Any, lanes: int = 1) -> Callable[[Case, Path], Draws]:
    """Begun by the first executor and stopped in warm-up, stopped again in sampling if there are three, and ended."""

    def run(case: Case, folder: Path) -> Draws:
        path = folder / "run"
        phases = ("warmup", "sample")[: len(executors) - 1]
        for phase, executor in zip(phases, executors, strict=False):
            with interrupted(phase) as sent:
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


WAYS = {
    "Threads(1)": Way(plainly(executor=infer.Threads(1))),
    "Threads(2)": Way(plainly(executor=infer.Threads(2))),
    "Threads(4)": Way(plainly(executor=infer.Threads(4))),
    "Processes(1)": Way(plainly(executor=infer.Processes(1))),
    "Processes(2)": Way(plainly(executor=infer.Processes(2))),
    "blocks of a few gradients": Way(in_blocks(3, 1e-5)),
    "blocks as long as can be": Way(in_blocks(2**30, 1e3)),
    "with a live display": Way(watched),
    "stored, and loaded without the model": Way(stored),
    "one chain alone": Way(plainly(chains=[2])),
    "among other chains, in another order": Way(plainly(chains=[5, 1, 0])),
    "a third, then extended": Way(extended),
    "Ctrl-C in warm-up, resumed": Way(resumed(infer.Serial(), infer.Serial())),
    "Ctrl-C in warm-up and in sampling, Threads to Serial to Processes": Way(
        resumed(infer.Threads(2), infer.Serial(), infer.Processes(2))
    ),
    "2 lanes: Threads(2)": Way(plainly(executor=infer.Threads(2), lanes=2), lanes=2),
    "2 lanes: one chain alone": Way(plainly(chains=[2], lanes=2), lanes=2),
    "2 lanes: Ctrl-C in warm-up, resumed": Way(resumed(infer.Threads(2), infer.Serial(), lanes=2), lanes=2),
}


def digests(draws: Draws) -> Digests:
    """Of every array of every chain, with its dtype and shape."""
    found = {}
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(draws, kind).items():
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


def main() -> None:
    """Run the matrix and write it."""
    parser = argparse.ArgumentParser(description="Compare the bits of models run in many ways.")
    parser.add_argument("--models", default="; ".join(CASES), help="separated by semicolons")
    parser.add_argument("--out", type=Path, help="where to write the table; it is printed in any case")
    parser.add_argument("--control", choices=CONTROLLED, help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process of a shell is deaf to it
    if options.control:
        print(_whole(digests(_uncontrolled(options.control))))
        return
    names = [name.strip() for name in options.models.split(";")]
    began = time.perf_counter()
    table, counts, num_wrong = {}, {}, 0
    for name in names:
        column, counts[name], wrong = _column(name)
        table[name] = column
        num_wrong += wrong
    page = _page(table, counts, time.perf_counter() - began)
    print(page)
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")
    if num_wrong:
        raise SystemExit(f"{num_wrong} arrays differ.")


def _column(name: str) -> tuple[dict[str, str], int, int]:
    """A model's cells by way, how many arrays were compared, and how many differ."""
    case = CASES[name]
    references = {lanes: sample(case, executor=infer.Serial(), lanes=lanes) for lanes in case.lanes}
    expected = {lanes: digests(draws) for lanes, draws in references.items()}
    cells, num_compared, num_wrong = {}, 0, 0
    for label, way in WAYS.items():
        if way.lanes not in case.lanes:
            cells[label] = ""
            continue
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            wrong, compared = differences(digests(way.run(case, Path(folder))), expected[way.lanes])
        cells[label] = "=" if not wrong else f"**{wrong} of {compared} differ**"
        num_compared += compared
        num_wrong += wrong
        print(f"{name}: {label}: {cells[label]} ({time.perf_counter() - began:.1f} s)", file=sys.stderr)
    cells["control"] = _control(name, _whole(expected[1]))
    return cells, num_compared, num_wrong


def _control(name: str, expected: str) -> str:
    """Whether bits move once the surroundings are let go; only told where they can."""
    if name not in CONTROLLED or available_cores() < 2:
        return ""
    environment = dict(os.environ) | ({"NPROC": "1"} if name == CONTROLLED[0] else {})
    command = [sys.executable, __file__, "--control", name]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return "=" if ran.stdout.strip() == expected else "differs"


def _uncontrolled(name: str) -> Draws:
    """The reference run, with BLAS as wide as it likes."""
    with mock.patch("accord.drivers.run.one_blas_thread", contextlib.nullcontext):
        return sample(CASES[name], executor=infer.Serial())


def _whole(found: Digests) -> str:
    return hashlib.sha256("".join(found[key] for key in sorted(found)).encode()).hexdigest()


def _page(table: dict[str, dict[str, str]], counts: dict[str, int], seconds: float) -> str:
    """The document."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("jax", "jaxlib", "numpy"))
    where = f"Python {platform.python_version()}, {packages}; {platform.machine()}, {available_cores()} cores"
    lines = [
        "# The identity matrix",
        "",
        f"Written by `python benchmarks/identity.py --out docs/identity.md` in {seconds:.0f} seconds: {where}.",
        "",
        "Each column is a model, each row a way to run it. The reference of a column is `executor=infer.Serial()`; of",
        "the rows with 2 lanes, `Serial()` with `lanes=2`. `=` says that every array of every chain (draws,",
        "statistics, warm-up, step sizes, metrics) has the SHA-256 of the reference. An empty cell was not run.",
        "[Running](running.md) says what is promised, and why.",
        "",
    ]
    heads = [f"{number}" for number, _ in enumerate(table, start=1)]
    lines += [
        f"{number}. {name}: {CASES[name].chains} chains of {CASES[name].draws} + {CASES[name].draws} draws, "
        f"{counts[name]} arrays compared"
        for number, name in enumerate(table, start=1)
    ]
    lines += ["", f"| way | {' | '.join(heads)} |", "|---|" + ":-:|" * len(heads)]
    lines += [f"| {label} | {' | '.join(column[label] for column in table.values())} |" for label in WAYS]
    lines += [
        "",
        "Two of these models are here because their bits can move. They run once more with what accord holds fixed let",
        "go: XLA's pool of another width for the sum (`NPROC=1`), a BLAS as wide as it likes for the Cholesky factor.",
        "",
        "| model | with the surroundings let go |",
        "|---|---|",
    ]
    lines += [f"| {name} | {column['control']} |" for name, column in table.items() if column["control"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
