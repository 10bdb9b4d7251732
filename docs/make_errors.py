"""Write the messages on the page of errors: run its code and put each message below the code that raises it."""

import linecache
import re
import textwrap
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("errors.md")
_BLOCK = re.compile(r"^```python( raises)?\n(.*?)^```\n(?:\n^```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
_FILE = "model.py"  # what the code of a block calls itself


def page(text: str) -> str:
    """Return the page, with each block that raises followed by its message."""
    names: dict[str, Any] = {"__name__": "errors"}

    def with_message(match: re.Match[str]) -> str:
        raises, code = match.groups()
        if not raises:
            exec(compile(code, _FILE, "exec"), names)
            return match[0]
        return f"```python raises\n{code}```\n\n```text\n{_message(code, names)}\n```\n"

    return _BLOCK.sub(with_message, text)


def _message(code: str, names: dict[str, Any]) -> str:
    # So that the text of a line is found, as it is in a file.
    linecache.cache[_FILE] = (len(code), None, code.splitlines(keepends=True), _FILE)
    try:
        exec(compile(code, _FILE, "exec"), names)
    except Exception as error:
        notes = getattr(error, "__notes__", ())
        lines = "\n".join([f"{type(error).__name__}: {error}", *notes]).splitlines()
        return "\n".join(line if line.startswith(" ") else textwrap.fill(line, 112) for line in lines)
    finally:
        del linecache.cache[_FILE]
    raise AssertionError(f"a block that should raise an error did not:\n{code}")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
