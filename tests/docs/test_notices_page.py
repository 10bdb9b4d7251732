"""Hold the page on notices to the codes that the code gives."""

import ast
import re
from pathlib import Path

import accord
from accord import density
from accord.core import errors
from accord.diagnose.checks.refusal import refusals

SOURCE = Path(accord.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "notices.md"
PAGE_ON_CHECKS = PAGE.with_name("checking.md")
CHECKS = SOURCE / "diagnose" / "checks"
# Of what `infer.check` looks at, a run looks at some, which these files hold beside two codes of its own.
IN_RUNS = [CHECKS / f"{name}.py" for name in ("hidden", "repeatable", "structure")]
OF_CHECK_ALONE = {"not_a_function", "support_depends_on_data"}
# Rules that give a notice for whoever calls them with a code, or make one again that was stored.
HANDED_ON = {"low_ess", "notice_of"}
NORMAL = density.LogDensity.from_function(lambda x: -(x**2).sum(), 1)


def sources() -> list[Path]:
    """Every file that makes a notice which is not for a finding of `infer.check` alone."""
    others = [path for path in SOURCE.rglob("*.py") if CHECKS not in path.parents]
    return [*others, *IN_RUNS]


def codes(path: Path) -> set[str]:
    """The second argument of each `Notice(...)`, and of each call of a function that hands a code on."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    handing_on = {
        id(call)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name in HANDED_ON
        for call in ast.walk(function)
    }
    found: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or id(call) in handing_on:
            continue
        if call.func.id in {"Notice", *HANDED_ON} and len(call.args) > 1:
            code = call.args[1]
            assert isinstance(code, ast.Constant), f"{path}:{call.lineno}: a code that is not written out"
            found.add(code.value)
    return found


def codes_on_the_page() -> set[str]:
    """What stands in backticks, as a code does, in the cells before that of the severity."""
    page = PAGE.read_text(encoding="utf-8")
    found: set[str] = set()
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|"):
            found |= {code for cell in cells[:2] for code in re.findall(r"`([a-z0-9_-]+)`", cell)}
    return found


def test_every_code_of_a_notice_is_on_the_page_and_no_other():
    made = set().union(*map(codes, sources()))
    assert len(made) > 50
    assert codes_on_the_page() == made - OF_CHECK_ALONE


def codes_written_out() -> set[str]:
    """Return every code in the source: the second argument of `Notice(...)`, or the first of `_Fault(...)`."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    place = {"Notice": 1, "_Fault": 0} | dict.fromkeys(HANDED_ON, 1)
    found: set[str] = set()
    for call in (each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Call)):
        at = place.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if at is not None and len(call.args) > at and isinstance(call.args[at], ast.Constant):
            found.add(ast.literal_eval(call.args[at]))
    return found


def codes_of_refusals() -> set[str]:
    """Return the codes that `infer.check` makes from the names of errors."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    made = [kind("refused") for kind in kinds if issubclass(kind, errors.AccordError)]
    return {refusals(error, NORMAL, "float64")[0].code for error in made}


def test_every_code_is_spelled_with_underscores_and_is_on_a_page():
    written, computed = codes_written_out(), codes_of_refusals()
    assert len(written) > 75
    assert "site_error" in computed
    assert not [code for code in written | computed if not re.fullmatch("[a-z][a-z0-9_]*", code)]
    pages = PAGE.read_text(encoding="utf-8") + PAGE_ON_CHECKS.read_text(encoding="utf-8")
    assert not [code for code in written if f"`{code}`" not in pages]
