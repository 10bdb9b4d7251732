"""Time one run of one library on one model in this process, and write what it drew to a file.

Each script beside this one hands `measure` a function that prepares a run: it imports the library and starts its
backend, which is not timed. What it returns is timed as a whole: from the call to draws in NumPy arrays.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CHAINS = 4

Data = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What to run.

    **Fields**
    - `model`: its name; `data`: its arguments.
    - `variant`: which way of the library's.
    - `seed`: an integer.
    - `draws`: of warm-up and again of sampling, for a quick look; None is what the library does by default.
    """

    model: str
    data: Data
    variant: str
    seed: int
    draws: int | None = None


@dataclass(frozen=True)
class Result:
    """What a run gave.

    **Fields**
    - `draws`: constrained draws by site, shape `(chain, draw, *site)`.
    - `gradients`: evaluations by phase, of all chains; None where the library does not say without another run.
    - `seconds`: by phase; `"compile"` holds whatever came before the first draw, tracing and code generation included.
    - `count_warmup`: counts the gradients of warm-up after the clock has stopped.
    """

    draws: dict[str, np.ndarray]
    gradients: dict[str, int | None]
    seconds: dict[str, float | None]
    count_warmup: Callable[[], int] | None = None


@dataclass
class CompileClock:
    """The time in which JAX traces, lowers or compiles: the union of the spans that it reports to listeners."""

    spans: list[tuple[float, float]] = field(default_factory=list)

    def listen(self) -> "CompileClock":
        """Register with JAX; what is compiled from here on counts."""
        import jax

        def note(event: str, duration: float, **_: Any) -> None:
            if event.startswith("/jax/core/compile"):
                end = time.perf_counter()
                self.spans.append((end - duration, end))

        jax.monitoring.register_event_duration_secs_listener(note)
        return self

    @property
    def seconds(self) -> float:
        """Length of the union of all spans, which nest."""
        total, reached = 0.0, -np.inf
        for start, end in sorted(self.spans):
            total += max(end - max(start, reached), 0.0)
            reached = max(reached, end)
        return total


def start_jax(*, is_wide: bool = True) -> CompileClock:
    """Switch to float64, unless told not to, and start the backend, neither of which is timed."""
    import jax

    jax.config.update("jax_enable_x64", is_wide)
    jax.devices()
    return CompileClock().listen()


def measure(prepare: Callable[[Options], Callable[[], Result]]) -> None:
    """Read the command line, time the run that `prepare` returns, and write draws (`.npz`) and times (`.json`)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("output", type=Path, help="where to write, without suffix")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--variant", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=None, help="of warm-up and of sampling")
    parser.add_argument(
        "--count", action="store_true", help="count the gradients of warm-up, if that takes another run"
    )
    arguments = parser.parse_args()
    data = read_data(arguments.data)
    run = prepare(Options(arguments.model, data, arguments.variant, arguments.seed, arguments.draws))
    began, cpu_began = time.perf_counter(), _cpu_seconds()
    result = run()
    seconds, cpu_seconds = time.perf_counter() - began, _cpu_seconds() - cpu_began
    gradients = dict(result.gradients)
    record = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "phases": result.seconds,
        "gradients": gradients,
    }
    np.savez(arguments.output.with_suffix(".npz"), **result.draws)
    _write(record, arguments.output.with_suffix(".json"))
    # Last, so that a run whose counting is cut short has been measured all the same.
    if gradients.get("warmup") is None and arguments.count and result.count_warmup is not None:
        gradients["warmup"] = result.count_warmup()
        _write(record, arguments.output.with_suffix(".json"))


def read_data(path: Path) -> Data:
    """The arguments of a model, from the JSON of an example or from NumPy's arrays."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return dict(file)
    values = json.loads(path.read_text())
    return {name: np.asarray(value) if isinstance(value, list) else value for name, value in values.items()}


def _write(record: dict[str, Any], path: Path) -> None:
    """All of it or nothing."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record))
    part.replace(path)


def _cpu_seconds() -> float:
    """Of this process and of those children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
