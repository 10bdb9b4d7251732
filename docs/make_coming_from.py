"""Write the pages on coming from other libraries from their tables: `python docs/make_coming_from.py`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coming_from_rows import NUMPYRO, PYMC, STAN, TURING, Idiom

from accord.core.dictionary.hints import WORDS
from accord.core.dictionary.word import Word

FOLDER = Path(__file__).parent
WRITTEN = (
    "<!-- Written by docs/make_coming_from.py from docs/coming_from_rows.py and accord.core.dictionary: "
    "change the rows, then run it. -->"
)
# Headings of the tables of words, by kind of word.
KINDS = {
    "option": "Options",
    "name": "Functions, classes and keywords",
    "attribute": "What a run returns",
    "distribution": "Distributions",
}


@dataclass(frozen=True)
class Library:
    """Describe one page: the differences to know first, and the rows of its tables."""

    name: str
    first: str
    rows: tuple[Idiom, ...]


LIBRARIES = {
    "numpyro": Library(
        "NumPyro",
        """\
Models look the same: statements, plates, handlers and distributions have NumPyro's names. Four things differ.

- **A run is one call.** `infer.sample(model(x, y))` replaces `MCMC(NUTS(model)).run(key, x, y)`. It runs four chains in
  threads. There is no key to split: `seed=0` fixes every random number.
- **Observations need a plate.** A scalar distribution with a vector `obs=` is an error outside a plate. NumPyro
  broadcasts it, and a wrong shape then counts data several times.
- **Precision belongs to the run.** It is float64 by default. JAX's own precision does not matter and is not changed.
- **Draws keep their chains.** `draws["a"]` has shape (chain, draw, *site).

[Discrete latent sites](discrete.md) are summed out without `config_enumerate`. `SVI` is
[`infer.fit`](variational.md), with a guide of `infer.guides` or one that you write as a model.""",
        NUMPYRO,
    ),
    "pymc": Library(
        "PyMC",
        """\
A model is a Python function, not a context. Its data are the arguments: call the function to bind them.

- **Use `jax.numpy`, not PyTensor.** Values are JAX arrays while the model is traced.
- **Name a site once**, in the first argument of `ac.sample`. The second argument is a distribution without a name.
- **Call the model again for new data.** `infer.predict(draws, model(x_new))` replaces `pm.set_data`. Shapes may change.
- **Parameters have NumPyro's names**: `loc, scale, concentration, rate, probs`. An error for `mu=` or `sigma=` names
  the right parameter. Name the arguments of `Weibull`, `Pareto` and zero-inflated distributions: their order or meaning
  differs.

[Discrete sites](discrete.md) are summed out, as `pmx.marginalize` does, and not sampled by Metropolis steps. `pm.fit`
is [`infer.fit`](variational.md).

**A PyMC model can stay as it is.** `accord.interop.pymc.Sampler().sample_from_init(model=model, random_seed=0)` takes
the arguments of `pm.sample` and returns its tree: [PyMC models](other_libraries.md#a-pymc-or-bambi-model).""",
        PYMC,
    ),
    "stan": Library(
        "Stan",
        """\
The blocks of a Stan program become one Python function. Data are its arguments. Parameters are `ac.sample` statements
with a prior. Likelihood terms are `ac.sample` statements with `obs=`.

- **Indices begin at 0.** `ac.levels` makes codes from any labels. Codes that begin at 1 are an error: subtract 1.
- **The prior sets the constraint.** `dist.HalfNormal(1)` is positive and `dist.Dirichlet` is on the simplex. For a flat
  prior on a constrained parameter write `dist.ImproperUniform`.
- **Name the arguments of distributions.** The order of some differs, as in `dist.Weibull(scale, concentration)`.
- **Log densities include all constants.** Stan's `~` statements drop them, so `lp` differs by a constant.
- **Discrete parameters may be written as they are**, and are [summed out](discrete.md) as you would do by hand with
  `log_sum_exp`. Draws have their values.
- **There is no C++ compiler to install.** A model compiles in a second or two.
- **A program can stay as it is**: accord samples [Stan programs](stan_programs.md) too, with Stan's compiler.
- **Functions of the draws replace generated quantities**: `infer.predict`, `infer.log_likelihood`, `infer.returned`.

`variational` is [`infer.fit`](variational.md), and `pathfinder` is `infer.pathfinder`.""",
        STAN,
    ),
    "turing": Library(
        "Turing",
        """\
`@ac.model` is `@model`, and `ac.sample("a", d)` is `a ~ d`. Python has no `~`, so a site gets its name as a string.

- **Mark observations with `obs=`.** The arguments of the function do not decide what is observed.
- **Repeat independent statements with a plate**, not with a loop or `.~`. Use `ac.scan` for loops over time.
- **`dist.Gamma` and `dist.Exponential` take rates**, where Julia's take scales. `dist.Weibull` and `dist.Pareto` have
  the scale first: name their arguments.
- **JAX differentiates every model.** There is no choice of automatic differentiation.
- **A parallel likelihood is complete by construction**: there is no loop over threads that could lose terms.

[Discrete unknowns](discrete.md) are summed out, or sampled by `infer.Gibbs`. `vi` is [`infer.fit`](variational.md).
Not there yet: particle samplers.""",
        TURING,
    ),
}


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its file."""
    return {f"coming_from_{key}.md": _page(library) for key, library in LIBRARIES.items()}


def _page(library: Library) -> str:
    head = f"# Coming from {library.name}\n\n{WRITTEN}\n\n{library.first}\n\n"
    setup = (FOLDER / "coming_from_setup.py").read_text(encoding="utf-8").split("\n\n", 1)[1]
    statements = [row for row in library.rows if row.is_statement]
    scripts = [row for row in library.rows if not row.is_statement]
    return (
        head
        + "The project's tests run every line in the accord columns of the first two tables, "
        + "after the code below them.\n\n"
        + f"## Write a model\n\n{_table(library.name, statements)}\n\n"
        + f"## Run it and use the draws\n\n{_table(library.name, scripts)}\n\n"
        + f"## The code that the tables use\n\n```python\n{setup.strip()}\n```\n\n"
        + f"## Look up a word of {library.name}\n\n"
        + "Errors know these words too, and name what to write instead.\n\n"
        + f"{_words(library.name)}\n"
    )


def _table(name: str, rows: list[Idiom]) -> str:
    lines = [f"| {name} | accord | |", "|---|---|---|"]
    lines += [f"| {_code(row.theirs)} | {_code(row.ours)} | {row.note} |" for row in rows]
    return "\n".join(lines)


def _words(name: str) -> str:
    """Write one table for each kind of word of a library; parameters of distributions share a row for each."""
    words = [word for word in WORDS if word.library == name]
    by_kind = {title: [word for word in words if word.kind == kind] for kind, title in KINDS.items()}
    parts = [f"### {title}\n\n{_table_of_words(name, rows)}" for title, rows in by_kind.items() if rows]
    parameters = [word for word in words if word.kind == "parameter"]
    if parameters:
        parts.append(f"### Parameters of distributions\n\n{_table_of_parameters(name, parameters)}")
    return "\n\n".join(parts)


def _table_of_words(name: str, words: Sequence[Word]) -> str:
    lines = [f"| {name} | accord | |", "|---|---|---|"]
    for word in words:
        ours = _code(word.code) if word.code else "not there yet"
        lines.append(f"| {_code(word.theirs)} | {ours} | {word.note} |")
    return "\n".join(lines)


def _table_of_parameters(name: str, words: Sequence[Word]) -> str:
    lines = [f"| distribution | {name} → accord | |", "|---|---|---|"]
    for family in sorted({word.where for word in words}):
        rows = [word for word in words if word.where == family]
        pairs = ", ".join(f"{_code(row.theirs)} → {_code(row.ours)}" for row in rows)
        notes = " ".join(dict.fromkeys(row.note for row in rows if row.note))
        lines.append(f"| {_code(family) if family else 'all'} | {pairs} | {notes} |")
    return "\n".join(lines)


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
