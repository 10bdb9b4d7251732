"""List usual mistakes: the code of a user that makes one, and words that the message says of it."""

import linecache
import re
import traceback
from pathlib import Path
from typing import Any

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer

y = np.array([1.2, 0.3, -0.7, 2.0])

@ac.model
def line(y):
    mu = ac.sample("mu", dist.Normal(0, 1))
    with ac.plate("row", 4):
        ac.sample("y", dist.Normal(mu, 1), obs=y)

@ac.model
def shifted(f, y):
    mu = ac.sample("mu", dist.Normal(0, 1))
    with ac.plate("row", 4):
        ac.sample("y", dist.Normal(f(mu), 1), obs=y)
"""

# By name: the code, and words of the last lines that are printed.
MISTAKES = {
    "a plate of another size": (
        """
@ac.model
def wide(y):
    mu = ac.sample("mu", dist.Normal(0, 1))
    with ac.plate("row", 5):
        ac.sample("y", dist.Normal(mu, 1), obs=y)

infer.sample(wide(y))
""",
        ["SiteError", "'row' has size 5"],
    ),
    "a misspelt option": ("infer.sample(line(y), drwas=10)", ["'drwas'", "'draws'"]),
    "a misspelt option of a sampler": ("infer.NUTS(target_acept=0.9)", ["'target_accept'"]),
    "an option out of range": ("infer.sample(line(y), draws=0)", ["draws", "got 0"]),
    "an executor without workers": ("infer.Threads(workers=0)", ["workers"]),
    "NaN in the data": ("infer.sample(line(y * np.nan))", ["4 of 4", "NaN"]),
    "an argument that is missing": ("infer.sample(line())", ["missing argument 'y'"]),
    "an argument that is unknown": ("line(y, x=1)", ["unknown argument 'x'"]),
    "a model without its data": ("infer.sample(line)", ["Call it with its data"]),
    "a statement outside of a model": ("ac.sample('x', dist.Normal(0, 1))", ["outside of any model"]),
    "a branch on a traced value": (
        "infer.sample(shifted(lambda mu: mu if mu > 0 else 0.0, y))",
        ["ModelError", "jnp.where"],
    ),
    "NumPy on a traced value": ("infer.sample(shifted(lambda mu: np.exp(mu), y))", ["`jnp` for `np`"]),
    "shapes that do not fit, in the user's code": (
        "infer.sample(shifted(lambda mu: jnp.ones(3) @ jnp.ones(2), y))",
        ["TypeError", "In the model 'shifted'"],
    ),
    "shapes that do not fit, inside of vmap": (
        "infer.sample(shifted(jax.vmap(lambda mu: mu + jnp.ones(3)), y))",
        ["ValueError", "In the model 'shifted'"],
    ),
    "a loop that has no derivative": (
        "infer.sample(shifted(lambda mu: jax.lax.while_loop(lambda a: a < 3, lambda a: a + 1, mu), y), quiet=True)",
        ["ValueError", "while_loop"],
    ),
    "a parameter that is none": ("dist.Normal(0, scal=1)", ["no parameter 'scal'", "'scale'"]),
    "a parameter out of range": ("dist.Normal(0, -1)", ["scale must be above 0"]),
    "a parameter that is missing": ("dist.Gamma()", ["TypeError", "missing"]),
    "more axes for the event than there are": ("dist.Normal(0, 1).to_event(2)", ["cannot give 2 axes"]),
    "a site to condition on that is none": ("line(y).condition({'muu': 1}).log_density()", ["'muu'", "'mu'"]),
    "a site to begin at that is none": ("infer.sample(line(y), init={'muu': 1})", ["'muu'", "'mu'"]),
    "no finite start": (
        """
@ac.model
def impossible():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("never", jnp.where(x < 1e6, -jnp.inf, 0.0))

infer.sample(impossible(), chains=1, quiet=True)
""",
        ["InitializationError", "'never'", "-inf"],
    ),
    "a site twice": (
        """
@ac.model
def twice():
    ac.sample("x", dist.Normal(0, 1))
    ac.sample("x", dist.Normal(0, 1))

twice().sites()
""",
        ["'x'", "unique"],
    ),
    "a KeyError of the user's": ("infer.sample(shifted(lambda mu: {}['k'], y))", ["KeyError: 'k'"]),
    "a TypeError of the user's": ("infer.check(shifted(lambda mu: mu + 'a', y))", ["TypeError"]),
    "an exception of the user's under find_mode": (
        "infer.find_mode(shifted(lambda mu: 1 / 0, y))",
        ["ZeroDivisionError", "In the model 'shifted'"],
    ),
    "an exception of the user's under a handler": (
        "handlers.seed(shifted(lambda mu: 1 / 0, y), 0)()",
        ["ZeroDivisionError"],
    ),
    "an exception of the user's in a log density": (
        "ac.LogDensity.from_function(lambda x: x['k'], {'j': 1.0})",
        ["KeyError: 'k'", "In the function '<lambda>'"],
    ),
    "a model that is called in another": ("infer.sample(shifted(lambda mu: line(y), y))", ["ac.submodel"]),
    "a position of the wrong length": ("line(y).log_density()(np.zeros(3))", ["shape (1,), got (3,)"]),
    "a folder that is not there": ("infer.load('nowhere')", ["there is no folder nowhere"]),
    "draws that are none": ("infer.predict(line(y))", ["infer.predict takes draws"]),
    "a name that the package lacks": ("infer.smaple", ["AttributeError", "'smaple'"]),
    "a distribution that there is not": ("dist.Nrmal", ["AttributeError", "'Normal'"]),
}

_BLOCK = re.compile(r"^```python( raises)?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def rows() -> dict[str, tuple[str, list[str]]]:
    """The mistakes above, and those of the page of errors, each with its code from the first line on."""
    page = Path(__file__).parents[2] / "docs" / "errors.md"
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    plain = "\n".join(code for raises, code in blocks if not raises)
    heights = next(code for _, code in blocks if "def heights" in code).split("\n\n\ninfer.")[0]
    coins = next(code for _, code in blocks if "def coins" in code).split("\n\n\ninfer.")[0]
    found = {
        f"page: {code.splitlines()[-1]}": (f"{plain}\n{heights}\n{coins}\n\n{code}", [])
        for raises, code in blocks
        if raises
    }
    return {**{name: (f"{HEAD}\n{code}", words) for name, (code, words) in MISTAKES.items()}, **found}


def raised(code: str, file_name: str) -> Exception:
    """Run code as a script; return its exception with the traceback that Python prints."""
    linecache.cache[file_name] = (len(code), None, code.splitlines(keepends=True), file_name)
    names: dict[str, Any] = {"__name__": "mistakes"}
    try:
        exec(compile(code, file_name, "exec"), names)
    except Exception as error:
        at = error.__traceback__
        return error.with_traceback(at.tb_next if at is not None else None)  # without this function
    raise AssertionError(f"nothing was raised by\n{code}")


def printed(error: BaseException) -> list[str]:
    """The lines that Python prints of an exception that nothing has caught."""
    return "".join(traceback.format_exception(error)).splitlines()
