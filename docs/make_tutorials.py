"""Run the tutorials, and renew the outputs and pictures that they show.

`python docs/make_tutorials.py` runs the code of each page in `docs/tutorials`, from top to bottom, in an empty folder.
Names as arguments run only those pages. A `text` block right after code becomes what that code printed. A picture that
the page shows, and that its code has saved, replaces the one in `docs/pictures/tutorials`. The runs take some minutes
and need pandas and matplotlib (`pip install pandas accord[plot]`).
"""

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib

PAGES = Path(__file__).parent / "tutorials"
PICTURES = Path(__file__).parent / "pictures" / "tutorials"
CODE = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?P<shown>\n\n^```text\n.*?^```$)?", re.MULTILINE | re.DOTALL
)
SHOWN = re.compile(r"\]\(\.\./pictures/tutorials/([\w.]+)\)")


def main(names: list[str]) -> None:
    """Renew the named pages, or all."""
    matplotlib.use("Agg")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for page in [PAGES / f"{name}.md" for name in names] or sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                page.write_text(renewed(text), encoding="utf-8")
                for picture in SHOWN.findall(text):
                    shutil.copyfile(picture, PICTURES / picture)
            finally:
                os.chdir(here)


def renewed(text: str) -> str:
    """Return the text of a page with the outputs of its code, which is run."""
    names: dict[str, object] = {"__name__": "page"}

    def run(match: re.Match[str]) -> str:
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(printed):
            exec(compile(match["code"], "page", "exec"), names)
        printed.seek(0)
        output = printed.read()
        code = f"```python\n{match['code']}```"
        return f"{code}\n\n```text\n{output.rstrip()}\n```" if match["shown"] else code

    return CODE.sub(run, text)


if __name__ == "__main__":
    main(sys.argv[1:])
