"""Write the pages on coming from other libraries from their tables: `python docs/make_coming_from.py`."""

from dataclasses import dataclass
from pathlib import Path

from coming_from_rows import NUMPYRO, PYMC, STAN, TURING, Idiom

FOLDER = Path(__file__).parent
WRITTEN = "<!-- Written by docs/make_coming_from.py from docs/coming_from_rows.py: change the rows, then run it. -->"


@dataclass(frozen=True)
class Library:
    """One page: what its readers should know first, and their idioms."""

    name: str
    first: str
    rows: tuple[Idiom, ...]


LIBRARIES = {
    "numpyro": Library(
        "NumPyro",
        """\
Models read the same: statements, plates, handlers and distributions have NumPyro's names. Four things differ.

- **A run is one call.** `infer.sample(model(x, y))` does what `MCMC(NUTS(model)).run(key, x, y)` does, with four
  chains in threads. There is no key to split: `seed=0` fixes every random number.
- **Nothing is broadcast into a log density.** A scalar distribution with a vector `obs=` needs a plate, or parameters
  of that shape. NumPyro accepts it, and a wrong shape then counts data several times.
- **Precision belongs to the run.** It is float64 by default. JAX's own settings do not matter and are not changed.
- **Draws keep their chains.** `draws["a"]` has shape (chain, draw, *site).

Not there yet: variational inference (`SVI`) and discrete unknowns (`config_enumerate`).""",
        NUMPYRO,
    ),
    "pymc": Library(
        "PyMC",
        """\
A model is a Python function, not a context: it takes its data as arguments, and is called with them.

- **No graph of tensors.** Models compute with `jax.numpy`, and values are JAX arrays while the model is traced.
- **Names are given once**, as the first argument of `ac.sample`. The distribution is a value of its own.
- **New data are a new call.** `infer.predict(draws, model(x_new))` replaces `pm.set_data`; shapes may change.
- **Parameters are spelt as in NumPyro**: `loc, scale, concentration, rate, probs`. Positional arguments come in the
  usual order. An error for `mu=` or `sigma=` says the name that is meant.

Not there yet: variational inference (`pm.fit`) and discrete unknowns.""",
        PYMC,
    ),
    "stan": Library(
        "Stan",
        """\
The blocks of a Stan program become one Python function: data are its arguments, parameters are `ac.sample` statements
with a prior, and likelihood terms are `ac.sample` statements with `obs=`.

- **Indices begin at 0.** Codes that begin at 1 are refused with an error, not wrapped: subtract 1.
- **Constraints come from the prior.** `dist.HalfNormal(1)` is positive, `dist.Dirichlet` is on the simplex. For a flat
  prior on a constrained parameter write `dist.ImproperUniform`.
- **Log densities are complete.** `lp` includes normalising constants, which Stan's `~` statements leave out.
- **There is no compiler to install**, and no wait of a minute: a model compiles in a second or two.
- **Generated quantities are functions of the draws**: `infer.predict`, `infer.log_likelihood`, `infer.returned`.""",
        STAN,
    ),
    "turing": Library(
        "Turing",
        """\
`@ac.model` is `@model`, and `ac.sample("a", d)` is `a ~ d`. Python has no `~`, so a site gets its name as a string.

- **What is observed is said by `obs=`**, not found out from the function's arguments.
- **Independent repetitions are a plate**, not a loop or `.~`. Loops over time are `ac.scan`.
- **Scale or rate.** `dist.Gamma` and `dist.Exponential` take rates, where Julia's take scales.
- **No choice of automatic differentiation.** JAX differentiates every model.
- **A parallel likelihood is complete by construction**: there is no loop in which terms can be lost.

Not there yet: `Gibbs`, particle samplers and discrete unknowns.""",
        TURING,
    ),
}


def pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    return {f"coming_from_{key}.md": _page(library) for key, library in LIBRARIES.items()}


def _page(library: Library) -> str:
    head = f"# Coming from {library.name}\n\n{WRITTEN}\n\n{library.first}\n\n"
    setup = (FOLDER / "coming_from_setup.py").read_text(encoding="utf-8").split("\n\n", 1)[1]
    statements = [row for row in library.rows if row.is_statement]
    scripts = [row for row in library.rows if not row.is_statement]
    return (
        head
        + "Every line in the right columns is run by the project's checks, after the code at the end of this page.\n\n"
        + f"## Write a model\n\n{_table(library.name, statements)}\n\n"
        + f"## Run it, and use the draws\n\n{_table(library.name, scripts)}\n\n"
        + f"## What the lines on this page use\n\n```python\n{setup.strip()}\n```\n"
    )


def _table(name: str, rows: list[Idiom]) -> str:
    lines = [f"| {name} | accord | |", "|---|---|---|"]
    lines += [f"| {_code(row.theirs)} | {_code(row.ours)} | {row.note} |" for row in rows]
    return "\n".join(lines)


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
