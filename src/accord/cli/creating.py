"""Define `accord new`: write a model to change, with data and a test."""

import keyword
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import OptionError

MODEL = '''"""Draw a straight line through points: change this sentence, the data and the model into yours.

    accord check {name}.py --data {name}.json
    accord sample {name}.py --data {name}.json
"""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def {name}(x, y=None):
    """`x`: predictor, shape `(row,)`. `y`: outcome of each row; None to predict it."""
    x = jnp.asarray(x, float)
    intercept = ac.sample("intercept", dist.Normal(0, 10))
    slope = ac.sample("slope", dist.Normal(0, 10))
    noise = ac.sample("noise", dist.HalfNormal(5))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(intercept + slope * x, noise), obs=y)
'''
DATA = """{
  "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
  "y": [2.1, 2.4, 3.2, 3.9, 4.1, 4.8, 5.6, 5.7]
}
"""
TEST = '''"""Check {name}: it has no fault, and finds again the values behind data that it has made itself."""

import json
from pathlib import Path

from {name} import {name}

from accord import infer

DATA = json.loads(Path(__file__).with_name("{name}.json").read_text(encoding="utf-8"))


def test_the_model_has_no_fault():
    report = infer.check({name}(**DATA))
    assert report.ok, str(report)


def test_values_behind_simulated_data_are_found_again():
    """A value is said to lie 6 standard deviations off by chance in 2 of 1e9 runs, were posteriors normal."""
    recovery = infer.simulate_and_recover({name}(**DATA), seed=1, progress=False, quiet=True)
    assert recovery.to_dataframe()["z"].abs().max() < 6, str(recovery)
'''


def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the model, as of a Python function.")],
) -> None:
    """Write a model to change: NAME.py, its data NAME.json, and test_NAME.py, which passes as it is."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise OptionError(
            f"{name!r} cannot be the name of a model: take letters, digits and underscores, such as growth_of_rats."
        )
    files = {f"{name}.py": MODEL, f"{name}.json": DATA, f"test_{name}.py": TEST}
    if taken := [file for file in files if Path(file).exists()]:
        raise OptionError(f"{taken[0]} is here already and is not overwritten. Choose another name.")
    for file, text in files.items():
        written = text if file.endswith(".json") else text.format(name=name)
        Path(file).write_text(written, encoding="utf-8")
    typer.echo(
        f"Written: {', '.join(files)}.\n\n"
        f"  accord check {name}.py --data {name}.json     # faults, before a run\n"
        f"  accord sample {name}.py --data {name}.json    # draws from the posterior\n"
        f"  python -m pytest test_{name}.py"
    )
