"""Give the command line model files that fail, and read what it says: the user's own lines, and status 2."""

import io
import subprocess
import sys

import jax
import pytest

from accord.cli import main

IMPORTS = "import accord as ac\nimport accord.distributions as dist\n"
MODEL = IMPORTS + "\n\n@ac.model\ndef one():\n    x = ac.sample('x', dist.Normal(0, 1))\n"
# Content of `model.py`, the first line of the message, and the lines of the file that it shows.
FAILING = {
    "an error": ("1 / 0\n", "error: ZeroDivisionError: division by zero", ["    1 / 0"]),
    "an error within": (MODEL + "    x + None\n", "error: TypeError", ["    x + None"]),
    "syntax": ("y = 1\nx = = 1\n", "error: SyntaxError: invalid syntax", ["    x = = 1", "        ^"]),
    "syntax of a neighbour": (
        "import wrong\n",
        "error: SyntaxError: invalid syntax",
        ["    import wrong", "    x = = 2"],
    ),
    "a line without end": ("(" * 5000, "error: SyntaxError: too many nested parentheses", []),
    "operators without end": ("x = " + "-" * 100_000 + "1\n", "error: model.py cannot be read as Python", []),
    "bytes of no text": (b"x = 1\0\n", "error: model.py cannot be read as Python", []),
    "another encoding": (b"x = '\xe9'\n", "error: SyntaxError: (unicode error)", []),
    "recursion": (
        "def f():\n    f()\n\n\nf()\n",
        "error: RecursionError: maximum recursion depth",
        ["    f()"],
    ),
    "a long message": (
        "raise ValueError('v' * 100_000)\n",
        "error: ValueError: vvvv",
        ["    raise ValueError"],
    ),
    "an exception that is none": (
        "class Stop(BaseException): ...\n\n\nraise Stop\n",
        "error: Stop",
        ["    raise Stop"],
    ),
    "a message that fails": (
        "class E(Exception):\n    def __str__(self):\n        return 1 / 0\n\n\nraise E\n",
        "error: E",
        ["    raise E"],
    ),
    "memory": ("x = bytearray(2**62)\n", "error: MemoryError", ["    x = bytearray(2**62)"]),
    "an end that says that all is well": (
        "import sys\n\nsys.exit(0)\n",
        "error: model.py ended the process by SystemExit(0)",
        [],
    ),
    "an end without a status": (
        "raise SystemExit\n",
        "error: model.py ended the process by SystemExit(None)",
        [],
    ),
    "an end within": (MODEL + "    exit(0)\n", "error: model.py ended the process by SystemExit(0)", []),
    "an end of the command line": (
        "import typer\n\nraise typer.Exit(0)\n",
        "error: model.py ended the process by Exit",
        [],
    ),
    "a reader that is gone": (
        "raise BrokenPipeError\n",
        "error: model.py ended the process by BrokenPipeError",
        [],
    ),
    "the end of the input": (
        "raise EOFError('gone')\n",
        "error: model.py read beyond the end of its input",
        [],
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_model_file_that_fails_is_told_by_its_own_lines(folder, accord, name):
    content, first, shown = FAILING[name]
    (folder / "wrong.py").write_text("x = = 2\n")
    (folder / "model.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    status, out, err = accord("check", "model.py")
    lines = err.splitlines()
    assert (status, out) == (2, ""), err
    assert lines[0].startswith(first), err
    for line in shown:
        assert any(each.startswith(line) for each in lines), err
    assert "Traceback" not in err and "JAX_TRACEBACK_FILTERING" not in err
    assert len(lines) < 30 and len(err) < 3000, err


def test_an_error_of_a_process_shows_no_frame_of_the_program(folder):
    """As a shell starts it: what calls the command line is not the user's code."""
    command = [sys.executable, "-c", "from accord.cli import main; main()", "sample", "broken.py"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.splitlines()[0] == "error: ZeroDivisionError: division by zero"
    assert found.stderr.count("  File ") == 1 and "broken.py" in found.stderr


def test_ctrl_c_in_a_model_file_is_one(folder, accord):
    (folder / "model.py").write_text("raise KeyboardInterrupt\n")
    assert accord("check", "model.py") == (130, "", "")


@pytest.fixture
def unfiltered():
    """As `JAX_TRACEBACK_FILTERING=off` in the environment."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    yield
    jax.config.update("jax_traceback_filtering", before)


def test_all_lines_are_shown_on_request(folder, accord, unfiltered):
    _, _, err = accord("check", "broken.py")
    assert "source.py" in err and "Traceback" in err


def test_letters_that_the_terminal_lacks_are_written_by_their_numbers(folder, monkeypatch):
    (folder / "model.py").write_text(MODEL.replace("one()", "β()"), encoding="utf-8")
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", terminal)
    with pytest.raises(SystemExit) as ending:
        main(["check", "model.py"])
    terminal.flush()
    assert ending.value.code == 0
    assert terminal.buffer.getvalue().startswith(rb"\u03b2: ")


def test_a_model_may_have_an_argument_called_self(folder, accord):
    (folder / "model.py").write_text(
        IMPORTS + "\n\n@ac.model\ndef one(self):\n    ac.sample('x', dist.Normal(self, 1))\n"
    )
    (folder / "self.json").write_text('{"self": 0.5}')
    status, out, err = accord("check", "model.py", "--data", "self.json")
    assert status == 0, out + err
