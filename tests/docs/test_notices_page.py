"""Hold the page on notices to the codes that the code gives."""

import ast
import re
from pathlib import Path

import accord

SOURCE = Path(accord.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "notices.md"
CHECKS = SOURCE / "drivers" / "checks"
# Of what `infer.check` looks at, a run looks at some, which these files hold beside two codes of its own.
IN_RUNS = [CHECKS / f"{name}.py" for name in ("hidden", "repeatable", "structure")]
OF_CHECK_ALONE = {"not-a-function", "support-depends-on-data"}
# Rules that give a notice for whoever calls them with a code, or make one again that was stored.
HANDED_ON = {"low_ess", "_notice"}


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
