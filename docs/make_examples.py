"""Write the page of examples, their pictures, and the simulated data.

`python docs/make_examples.py` writes `docs/examples.md` and runs every example with a picture, in some minutes.
Names as arguments draw only those pictures, `--text` draws none. `--data` writes the simulated data files instead.
Pictures need matplotlib (`pip install accord[plot]`).
"""

import ast
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

HERE = Path(__file__).parent
GALLERY = HERE.parent / "examples" / "gallery"
PAGE = HERE / "examples.md"
PICTURES = HERE / "pictures" / "examples"

GROUPS = {
    "Regression": "challenger doctors salmonella stackloss cheese horseshoe sparse",
    "Hierarchical models": "eight_schools baseball seeds rats bcg examiners lsat amortised",
    "Discrete states, summed out": "death_notices lambs coal dipper earthquakes recessions annotation topics",
    "Curves": "gaussian_process splines neural_network network motorcycle",
    "Time series": "nile stochastic_volatility van_drivers seat_belts influenza predator_prey",
    "Censored, missing and inexact observations": "leukaemia detection_limit missing measurement_error",
    "Trials": "aspirin",
    "Pictures": "autoencoder",
}

INTRODUCTION = """# Examples

<!-- Written by docs/make_examples.py: change the examples, then run it. -->

Copy from these complete analyses. Each has a question, a model, a run, a reading of the result, and a check. Each is
one file with its data, in [examples/gallery](../examples/gallery). Real data are small and classical, and the file
names their source. Simulated data come with the function that made them and the true values. The checks compare the
results with published figures, with algebra, or with the true values of the simulation. The project's tests
repeat them.

```sh
python examples/gallery/nile.py
accord check examples/gallery/nile.py --data examples/gallery/nile.json
accord sample examples/gallery/nile.py --data examples/gallery/nile.json
```

If a file has several models, add the name of the model: `salmonella.py:salmonella`. The pictures are drawn by the
`plot(draws)` of the examples. Seventeen more posteriors, with reference draws to compare samplers, are in the same
package (`accord example --list`).
"""


def main(arguments: list[str]) -> None:
    """Write the page and pictures, or the data."""
    if "--data" in arguments:
        for name in names():
            if hasattr(module := load(name), "simulate"):
                write_data(GALLERY / f"{name}.json", module.simulate())
        return
    PAGE.write_text(make_page(), encoding="utf-8")
    if "--text" not in arguments:
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name in arguments or [name for name in names() if has_picture(name)]:
            module = load(name)
            module.plot(module.main()).savefig(PICTURES / f"{name}.png", dpi=100, metadata={"Software": None})


def names() -> list[str]:
    """Return the names of all examples, in the order of the page."""
    return [name for group in GROUPS.values() for name in group.split()]


def load(name: str) -> ModuleType:
    """Load the module of an example."""
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", GALLERY / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_data(path: Path, arguments: dict[str, np.ndarray]) -> None:
    """Write arrays by name, one on a line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(values.tolist())}" for name, values in arguments.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def has_picture(name: str) -> bool:
    """Return whether the example has a `plot` function."""
    tree = ast.parse((GALLERY / f"{name}.py").read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == "plot" for node in tree.body)


def make_page() -> str:
    """Return the text of the page."""
    parts = [INTRODUCTION.strip()]
    for group, members in GROUPS.items():
        rows = [_row(name) for name in members.split()]
        parts.append("\n".join([f"## {group}", "", "| | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _row(name: str) -> str:
    text = ast.get_docstring(ast.parse((GALLERY / f"{name}.py").read_text(encoding="utf-8"))) or ""
    title, question = text.split("\n\n")[:2]
    picture = (
        f'<br><img src="pictures/examples/{name}.png" width="400" alt="{name}">' if has_picture(name) else ""
    )
    return f"| [{name}](../examples/gallery/{name}.py) | **{title}** {' '.join(question.split())}{picture} |"


if __name__ == "__main__":
    main(sys.argv[1:])
