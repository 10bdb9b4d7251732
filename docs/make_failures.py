"""Write the page of failures: what accord says of each broken model of `tests/failures`, and what NumPyro does.

    python docs/make_failures.py [--env FOLDER] [--only PART] [--answers FILE]

Every model is run, here and in NumPyro, and the page is written of what came. `--env` is the environment of the peers,
which is made if it is not there (see `benchmarks/README.md`). `--only` prints the cases whose names have this part.
`--answers` keeps what NumPyro did in a file, and asks it only for what is not there.
"""

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "failures.md"
RUN = dict(draws=500, warmup=500, chains=4)
PATIENCE = 120.0  # seconds for one case in NumPyro
MAX_LINES = 14  # of a message

INTRODUCTION = """# Models that cannot work

<!-- Written by docs/make_failures.py, which runs everything on this page: change the models in tests/failures. -->

{total} models that are broken in some way, what accord says of each, and what NumPyro {numpyro} does with the very same
lines (its names stand where the models import accord's). Both ran {chains} chains of {warmup} warm-up draws and {draws}
draws. Accord's checks run every model under every executor: none may hang, none may return as if nothing were wrong,
and each message must name the site, what was found there, and what to do. No message knows these models.

| | error | draws, with an error or a warning | draws, with information | draws, and nothing said |
|---|---|---|---|---|
{counts}

What accord says of too few effective draws is not counted. Of NumPyro, warnings are counted that it issues, not what
`print_summary()` would show. A model that is said to be sound has a posterior that can be drawn from, and breaks
elsewhere.
"""


def main() -> int:
    """Run all cases, and write the page."""
    options = _options()
    jax.config.update("jax_enable_x64", True)  # callbacks run in threads of JAX's own
    jax.config.update("jax_num_cpu_devices", 2)
    sys.path[:0] = [str(ROOT / "tests" / "failures"), str(ROOT / "benchmarks")]
    from environment import default_folder, python_of
    from gallery import KINDS

    kinds = {
        kind: {name: case for name, case in cases.items() if options.only in name}
        for kind, cases in KINDS.items()
    }
    answers = json.loads(options.answers.read_text()) if options.answers and options.answers.exists() else {}
    python = python_of(options.env or default_folder())
    theirs = _numpyro(
        python, {name: case for cases in kinds.values() for name, case in cases.items()}, answers
    )
    if options.answers:
        options.answers.write_text(json.dumps(theirs, indent=1))
    page = _page(kinds, theirs)
    if options.only:
        sys.stdout.write(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write docs/failures.md.")
    parser.add_argument("--env", type=Path, help="virtual environment that has NumPyro")
    parser.add_argument(
        "--only", default="", help="print the cases whose names have this part, and write nothing"
    )
    parser.add_argument("--answers", type=Path, help="file of what NumPyro did")
    return parser.parse_args()


def _page(kinds: dict[str, dict[str, Any]], theirs: dict[str, str]) -> str:
    from failure_outcome import outcome

    from accord import infer

    sections, found = [], {}
    for kind, cases in kinds.items():
        if cases:
            sections.append(f"## {kind}\n")
        for name, case in cases.items():
            found[name] = outcome(case, executor=infer.Serial(), **RUN)
            sections.append("\n".join(_section(name, case, found[name], theirs[name])))
    counts = "\n".join(
        f"| {library} | {' | '.join(map(str, row))} |"
        for library, row in (
            ("accord", _counts([_kind_of_ours(each) for each in found.values()])),
            ("NumPyro", _counts([_kind_of_theirs(theirs[name]) for name in found])),
        )
    )
    introduction = INTRODUCTION.format(total=len(found), numpyro=theirs["numpyro"], counts=counts, **RUN)
    return "\n".join([introduction, *sections]).rstrip() + "\n"


def _section(name: str, case: Any, found: Any, theirs: str) -> Iterator[str]:
    from failure_outcome import best

    yield f"### {name[0].upper()}{name[1:]}\n"
    yield "```py"
    yield _source(case.model)
    yield ""
    yield _call(case)
    yield "```\n"
    said, _ = best(case, found) if case.ends != "sound" else (None, [])
    others = [each for each in found.said if each != said]
    sound = " The model is sound." if case.ends == "sound" else ""
    if found.ended not in ("draws", "report"):
        yield f"**accord**: `{found.ended}`\n"
    elif said is None:
        yield f"**accord**: {found.ended}, with {_listed(others)}.{sound}\n"
    else:
        besides = f", beside {_listed(others)}" if others else ""
        yield f"**accord**: {found.ended}, with this {said.severity}{besides}:\n"
    if said is not None:
        yield "```text"
        yield from _lines(said.text)
        yield "```\n"
    yield f"**NumPyro**: {theirs}\n"


def _listed(said: Sequence[Any]) -> str:
    return ", ".join(f"{each.severity} `{each.code}`" for each in said) or "nothing to say"


def _lines(text: str) -> list[str]:
    """A message, its middle left out where it is long, with paths as they are in the project and in libraries."""
    text = text.replace(f"{ROOT}{os.sep}", "").split("\n--------------------\n")[
        0
    ]  # what JAX says of tracebacks
    lines = re.sub(r'"/\S*?/lib/python[\d.]+/', '".../', text).splitlines()
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 4], "  ...", *lines[-3:]]


def _source(model: Any) -> str:
    function = getattr(model, "function", model)
    return inspect.getsource(function).rstrip()


def _call(case: Any) -> str:
    """How the model is called and run, as a user would write it."""
    name = getattr(case.model, "function", case.model).__name__
    data = ", ".join(f"{key}={_short(value)}" for key, value in case.data.items())
    options = "".join(f", {key}={value!r}" for key, value in case.options.items())
    return f"infer.{case.asks}({name}({data}){options})"


def _short(value: Any) -> str:
    array = np.asarray(value)
    if array.size > 8:
        return f"<{array.dtype} of shape {array.shape}>"
    with np.printoptions(precision=3):
        return re.sub(r"\s+", " ", np.array2string(array, separator=", "))


def _kind_of_ours(found: Any) -> str:
    if found.ended not in ("draws", "report"):
        return "error"
    severities = {each.severity for each in found.said if each.code not in ("ess_bulk", "ess_tail")}
    return "said" if severities & {"error", "warning"} else "info" if severities else "silent"


def _kind_of_theirs(words: str) -> str:
    if not words.startswith("draws"):
        return "error"
    return "said" if words.startswith("draws, with the warning") else "silent"


def _counts(kinds: Sequence[str]) -> list[int]:
    return [kinds.count(kind) for kind in ("error", "said", "info", "silent")]


def _numpyro(python: Path, cases: dict[str, Any], answers: dict[str, str]) -> dict[str, str]:
    """By name, what NumPyro does; in processes of its own, of which one that dies or hangs is replaced."""
    told = dict(answers)
    for precision in ("float64", "float32"):
        names = [
            name for name, case in cases.items() if case.options.get("precision", "float64") == precision
        ]
        while rest := [name for name in names if name not in told]:
            code = _ask(python, rest, precision == "float64", told)
            if lost := next((name for name in rest if name not in told), None):
                told[lost] = (
                    f"no end within {PATIENCE:g} s" if code is None else f"the process ended with code {code}"
                )
    return told


def _ask(python: Path, names: Sequence[str], x64: bool, told: dict[str, str]) -> int | None:
    """Run cases one after the other, until all have ended or the process has; None for one that does not end."""
    request = json.dumps(dict(names=list(names), x64=x64, **RUN))
    script = str(ROOT / "benchmarks" / "failures_numpyro.py")
    with tempfile.TemporaryFile("w+") as lines:
        process = subprocess.Popen([str(python), script, request], stdout=lines, stderr=subprocess.DEVNULL)
        code: int | None = None
        seen = -1
        while True:
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                lines.seek(0)
                if (now := len(lines.readlines())) > seen:
                    seen = now
                    continue
                process.kill()
                process.wait()
            break
        lines.seek(0)
        for line in lines:
            told |= json.loads(line)
    return code


if __name__ == "__main__":
    sys.exit(main())
