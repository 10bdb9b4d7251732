"""Go through the first ten minutes of a new user, and write down what is typed, what is printed and how long it takes.

    python benchmarks/first_minutes.py docs/first_minutes.md

It makes a new environment in a temporary folder and installs this checkout there, so it needs a package index.
"""

import platform
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 24
FIRST = """import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

hours = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
passed = np.array([0, 0, 0, 1, 0, 1, 1, 1])


@ac.model
def exam(hours, passed=None):
    start = ac.sample("start", dist.Normal(0, 5))
    slope = ac.sample("slope", dist.Normal(0, 2))
    with ac.plate("student", len(hours)):
        ac.sample("passed", dist.Bernoulli(logits=start + slope * jnp.asarray(hours)), obs=passed)


draws = infer.sample(exam(hours, passed), progress=False)
print(draws.summary())
print(infer.predict(draws, exam(np.array([4.5])))["passed"].mean())
draws.report("exam.html")
"""
STEPS: tuple[tuple[str, str], ...] = (
    (
        "Install it into a new environment, here from a checkout.",
        "python3 -m venv .venv && .venv/bin/pip install -q {root}",
    ),
    ("Which commands are there?", ".venv/bin/accord --help"),
    ("A posterior of real data.", ".venv/bin/accord example eight_schools --out schools"),
    ("The same as a page, to read and to send.", ".venv/bin/accord report schools"),
    ("A model to change.", ".venv/bin/accord new growth"),
    ("Is something wrong with it?", ".venv/bin/accord check growth.py --data growth.json"),
    ("Draw from its posterior.", ".venv/bin/accord sample growth.py --data growth.json --out growth"),
    ("A model of my own, in Python: `exam.py`, below.", ".venv/bin/python exam.py"),
    (
        "A mistake: the outcome has a wrong name, so that nothing is observed.",
        ".venv/bin/accord sample growth.py --data wrong.json",
    ),
    ("The run again, from disk.", ".venv/bin/accord summary growth --rows 2"),
)


def main(page: Path) -> None:
    """Go through all steps, and write the page."""
    parts, total = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "exam.py").write_text(FIRST, encoding="utf-8")
        (here / "wrong.json").write_text('{"x": [1, 2], "z": [1.0, 2.0]}', encoding="utf-8")
        for words, command in STEPS:
            began = time.perf_counter()
            typed = command.format(root=ROOT)
            ended = subprocess.run(
                ["bash", "-c", typed], cwd=here, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            seconds = time.perf_counter() - began
            total += seconds
            shown = typed.replace(str(ROOT), "accord").replace(".venv/bin/", "")
            parts.append(_step(words, shown, _cleaned(ended.stdout, here), seconds, ended.returncode))
    head = [
        "# The first ten minutes",
        "<!-- Written by benchmarks/first_minutes.py: do not change it here. -->",
        f"What a new user types and sees, as it was on {datetime.now(UTC):%Y-%m-%d} with Python "
        f"{platform.python_version()} on {platform.machine()}, two cores. The commands took {total:.0f} seconds; "
        "the rest of ten minutes is for reading. Long output is cut.",
    ]
    page.write_text("\n\n".join([*head, *parts, f"`exam.py`:\n\n```py\n{FIRST}```"]) + "\n", encoding="utf-8")


def _step(words: str, command: str, output: str, seconds: float, status: int) -> str:
    ending = f"{seconds:.1f} s" + (f", exit status {status}" if status else "")
    block = f"$ {command}\n{output}".rstrip("\n")
    return f"**{words}**\n\n```text\n{block}\n```\n\n{ending}"


def _cleaned(output: str, folder: Path) -> str:
    """What is left in a terminal: without colours, redrawn lines, and names of temporary folders."""
    text = (
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output)
        .replace(str(folder.resolve()), "~")
        .replace(str(folder), "~")
    )
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in text.splitlines()]
    lines = [line for line in lines if "Location 'file:" not in line]  # of a package index of this machine
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"... {len(lines) - MOST_LINES + 1} more lines"]
    return "\n".join(lines).strip("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
