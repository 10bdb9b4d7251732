"""Write the page of distributions, and their pictures, from the code.

Run `python docs/make_distributions.py` from anywhere to write `docs/distributions.md` and every picture. Names as
arguments draw only those pictures, `--text` draws none, and `--missing` draws the ones that do not exist. It needs
matplotlib: `pip install accord[docs]`. The text comes from docstrings. A public distribution without the sections that
the page needs, or without an example, is an error.
"""

import inspect
import sys
from pathlib import Path
from typing import Any

import jax
from docstrings import fields_of, flat, read, signature
from reference_tables import accuracy, bijector_table, constraint_table, defined, factories

import accord.distributions as dist

HERE = Path(__file__).parent
PAGE = HERE / "distributions.md"
PICTURES = HERE / "pictures" / "distributions"
ACCURACY = HERE / "accuracy.json"

NOT_DISTRIBUTIONS = {"AbstractDistribution", "Constraint", "constraints", "biject_to"}
# Groups that do not follow from the support.
MEMBERS = {
    "Directions": (
        "VonMises SineBivariateVonMises SineSkewed ProjectedNormal VonMisesFisher WrappedCauchy WrappedNormal Cardioid"
    ),
    "Time series": "GaussianRandomWalk GaussianStateSpace LinearGaussianStateSpace EulerMaruyama",
    "Wrappers and mixtures": (
        "CensoredDistribution Delta ExpandedDistribution FoldedDistribution HurdleDistribution ImproperUniform "
        "Independent IntervalCensoredDistribution JointOrderStatistics LeftCensoredDistribution MaskedDistribution "
        "Mixture MixtureGeneral MixtureSameFamily OrderedDistribution ProductDistribution "
        "RightCensoredDistribution TransformedDistribution TruncatedDistribution Unit ZeroInflatedDistribution"
    ),
    "Random measures": (
        "ChineseRestaurantProcess DirichletProcess PitmanYorProcess SizeBiasedSamplingProcess StickBreakingProcess "
        "DirichletProcessRPM AbstractRandomMeasure"
    ),
}
GROUP_OF = {name: group for group, names in MEMBERS.items() for name in names.split()} | {
    "GeneralizedExtremeValue": "The real line",
    "GeneralizedPareto": "Positive numbers",
}
GROUPS = ("The real line", "Positive numbers", "Intervals", "Counts", "Vectors", "Matrices", *MEMBERS)

INTRODUCTION = """# Distributions

<!-- Written by docs/make_distributions.py from the code: change the docstrings, then run it. -->

Every distribution is a frozen value: `dist.Normal(0, 1)`. Names and arguments follow NumPyro where it has the
distribution. All distributions have `log_prob(value)` and `sample(key, sample_shape)`. A
[table below](#methods-of-each-distribution) lists their other methods. You can also [add a distribution](extending.md).
"""


def main(arguments: list[str]) -> int:
    """Write the page, draw the requested pictures, and report missing sections."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page, problems = make_page()
    PAGE.write_text(page, encoding="utf-8")
    if "--text" not in arguments:
        from distribution_pictures import draw

        names = [name for name in arguments if not name.startswith("-")] or distribution_names()
        for name in names:
            path = PICTURES / f"{name}.png"
            if "--missing" in arguments and path.exists():
                continue
            try:
                draw(name, examples_of(name), path)
            except Exception as error:
                problems.append(f"{name} could not be drawn: {type(error).__name__}: {error}")
    for problem in problems:
        print(problem, file=sys.stderr)  # noqa: T201 - it is a program
    return 1 if problems else 0


def make_page() -> tuple[str, list[str]]:
    """Return the text of the page, and the sections missing in docstrings."""
    problems: list[str] = []
    grouped: dict[str, list[str]] = {group: [] for group in GROUPS}
    rows: dict[str, str] = {}
    for name in class_names():
        group = GROUP_OF.get(name, "")
        try:
            shown = examples_of(name)[0] if is_distribution(name) else None
            group = group or (group_of(shown) if shown else "Random measures")
            rows[name] = _row(name, shown, problems, group == "Wrappers and mixtures")
            grouped[group].append(name)
        except Exception as error:
            problems.append(f"{name}: {error}")
    parts = [INTRODUCTION]
    for group in GROUPS:
        if grouped[group]:
            head = "| | distribution | parameters | density and support | source |\n|---|---|---|---|---|"
            parts.append("\n".join([f"## {group}", "", head, *(rows[name] for name in grouped[group])]))
    listed = [name for group in GROUPS for name in grouped[group] if is_distribution(name)]
    functions = [name for name in _public() if name not in class_names() and callable(getattr(dist, name))]
    parts += [factories(functions), defined(listed), accuracy(ACCURACY), constraint_table(), bijector_table()]
    return "\n\n".join(part.strip() for part in parts if part) + "\n", problems


def class_names() -> list[str]:
    """Return every public class: distributions and their arguments, such as random measures."""
    return [name for name in _public() if isinstance(getattr(dist, name), type)]


def distribution_names() -> list[str]:
    """Return every public class that is a distribution."""
    return [name for name in class_names() if is_distribution(name)]


def is_distribution(name: str) -> bool:
    """Return whether the class of this name is a distribution."""
    return issubclass(getattr(dist, name), dist.AbstractDistribution)


def examples_of(name: str) -> list[dist.AbstractDistribution]:
    """Return examples of a distribution."""
    from distribution_examples import examples

    return examples(name)


def group_of(shown: dist.AbstractDistribution) -> str:
    """Return the page's group for a support."""
    if shown.is_discrete and not shown.event_shape:
        return "Counts"
    if shown.event_dim:
        return "Vectors" if shown.event_dim == 1 else "Matrices"
    bounds = vars(shown.support)
    if "lower" in bounds and "upper" in bounds:
        return "Intervals"
    return "Positive numbers" if "lower" in bounds else "The real line"


def support_of(shown: dist.AbstractDistribution) -> str:
    """Describe the support in words, with parameter names as bounds."""
    constraint = shown.support
    while hasattr(constraint, "base"):
        constraint = vars(constraint)["base"]
    if any(isinstance(value, jax.Array) for value in vars(constraint).values()):
        return "numbers between bounds that depend on the parameters"
    names = {repr(value): name for name, value in vars(shown).items() if isinstance(value, (int, float))}
    bounds = {
        field: f"`{names[repr(value)]}`" if repr(value) in names and value not in (0, 1) else _plain(value)
        for field, value in vars(constraint).items()
    }
    words = type(constraint).words
    return words.format(**bounds) if words and "{" in words else constraint.describe()


def _public() -> list[str]:
    return sorted(name for name in dist.__all__ if name not in NOT_DISTRIBUTIONS)


def _plain(value: Any) -> str:
    """Format a bound without a needless fraction."""
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


def _row(name: str, shown: dist.AbstractDistribution | None, problems: list[str], is_wrapper: bool) -> str:
    """Return one row of a table; only distributions have a picture and a support."""
    thing = getattr(dist, name)
    text = read(thing)
    density = text.sections.get("Density", text.sections.get("Probability", ""))
    lacking = [] if text.first else ["first line"]
    if inspect.signature(thing).parameters and "Fields" not in text.sections:
        lacking.append("**Fields**")
    if shown and not is_wrapper:
        lacking += [] if density else ["**Density** (or **Probability**)"]
        lacking += [] if "Source" in text.sections else ["**Source**"]
    if lacking:
        problems.append(f"{name}: its docstring lacks {', '.join(lacking)}. See docs/extending.md.")
    picture = f'<img src="pictures/distributions/{name}.png" width="160" height="90" alt="{name}">'
    support = f"Support: {support_of(shown)}" if shown else ""
    cells = (
        picture if shown else "",
        f"`{signature(thing)}`<br>{text.first}",
        fields_of(text),
        "<br>".join(part for part in (flat(density), support) if part),
        flat(text.sections.get("Source", "")),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
