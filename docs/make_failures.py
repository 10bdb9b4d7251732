"""Write the page of failures: what accord reports for each broken model of `tests/failures`, and what NumPyro does.

    python docs/make_failures.py [--env FOLDER] [--only PART] [--answers FILE]

The script runs every model in accord and in NumPyro, and writes the results to the page. `--env` is the environment
with NumPyro, which is created if it is missing (see `benchmarks/README.md`). `--only` prints the cases whose names
contain the given text. `--answers` is a file that keeps NumPyro's results; only cases missing from it are run again.
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

This page shows {total} models with an error, what accord reports for each, and what NumPyro {numpyro} does with the
same lines, with its own names imported. Both ran {chains} chains with {warmup} warm-up draws and {draws} draws.
Options in a call replace these. NumPyro's lines give the number of its draws.

Accord's tests run every model under every executor. None may hang, and none may return as if nothing were wrong. Each
message must name the site, what was found there, and what to do. The messages are general: none was written for one of
these models only.

| | error | draws, with an error or a warning | draws, with information | draws, without a message |
|---|---|---|---|---|
{counts}

Notices about too few effective draws are not counted. For NumPyro, the warnings that it issues are counted, but not the
output of `print_summary()`. A model that is called sound has a posterior that accord can sample; it fails in other
libraries.
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
        "--only", default="", help="print the cases whose names contain this text, and write nothing"
    )
    parser.add_argument("--answers", type=Path, help="file that keeps the results of NumPyro")
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
        besides = f"; also {_listed(others)}" if others else ""
        yield f"**accord**: {found.ended}, with this {said.severity}{besides}:\n"
    if said is not None:
        yield "```text"
        yield from _lines(said.text)
        yield "```\n"
    yield f"**NumPyro**: {theirs}\n"


def _listed(said: Sequence[Any]) -> str:
    return ", ".join(f"{each.severity} `{each.code}`" for each in said) or "no notice"


def _lines(text: str) -> list[str]:
    """Shorten a message: leave out the middle of a long one, and make paths relative to project and libraries."""
    text = text.replace(f"{ROOT}{os.sep}", "").split("\n--------------------\n")[
        0
    ]  # what JAX says of tracebacks
    lines = re.sub(r'"[./]\S*?/lib/python[\d.]+/', '".../', text).splitlines()
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 4], "  ...", *lines[-3:]]


def _source(model: Any) -> str:
    function = getattr(model, "function", model)
    return inspect.getsource(function).rstrip()


def _call(case: Any) -> str:
    """Write the call that runs the model, as a user would."""
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
    """Run the cases in NumPyro, in separate processes; replace a process that dies or hangs."""
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
    """Run cases one after the other until all have ended or the process has; return None for a case that hangs."""
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
