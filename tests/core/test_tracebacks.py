"""An exception that reaches the user shows their own lines, then the message, and nothing after it."""

import dataclasses
import importlib.util
import inspect
import json
import pickle
import re
import subprocess
import sys
import traceback
from pathlib import Path

import jax
import pytest
from mistakes import HEAD, MISTAKES, printed, raised, rows

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DistributionError, OptionError
from accord.core.tracebacks import entry_point

MOST = 12  # lines in a terminal
ROWS = rows()
CHAINED = ("The above exception was the direct cause", "During handling of the above exception")


@pytest.fixture
def filtering():
    """Set what JAX does with tracebacks, until the end of the test."""
    before = jax.config.jax_traceback_filtering
    yield lambda mode: jax.config.update("jax_traceback_filtering", mode)
    jax.config.update("jax_traceback_filtering", before)


@pytest.mark.parametrize("name", ROWS)
def test_a_mistake_is_told_by_lines_of_the_user_and_the_message_alone(name):
    code, words = ROWS[name]
    error = raised(code, "script.py")
    lines = printed(error)
    assert len(lines) <= MOST, "\n".join(lines)
    assert {file for file in files(lines) if "equinox" not in file} == {"script.py"}
    assert sum(line.startswith("Traceback") for line in lines) == 1
    message = "".join(traceback.format_exception_only(error)).splitlines()
    assert lines[-len(message) :] == message
    assert "JAX_TRACEBACK_FILTERING" not in "\n".join(message)
    for word in words:
        assert word in "\n".join(message)


NOTEBOOK = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell()
shell.history_manager.enabled = False
for code in json.load(sys.stdin):
    print("cell")
    shell.run_cell(code)
"""


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="IPython is not installed")
@pytest.mark.parametrize("some", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["every tenth", "all"])
def test_a_mistake_in_a_notebook_is_one_traceback(some):
    tried = [*MISTAKES][::some]
    cells = [HEAD, *(MISTAKES[name][0] for name in tried)]
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], input=json.dumps(cells), capture_output=True, text=True, check=True
    )
    _, head, *outputs = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).split("cell\n")
    assert "Traceback" not in head and len(outputs) == len(tried)
    for name, output in zip(tried, outputs, strict=True):
        assert output.count("Traceback (most recent call last)") == 1, f"{name}: {output}"
        assert not any(words in output for words in CHAINED), f"{name}: {output}"
        assert "/accord/" not in output, f"{name}: {output}"


CHAINS = {
    "a cause": (
        """
def f(mu):
    try:
        {}["k"]
    except KeyError as error:
        raise ValueError("mine") from error

infer.sample(shifted(f, y))
""",
        CHAINED[0],
    ),
    "what was handled in the model": (
        """
def f(mu):
    try:
        {}["k"]
    except KeyError:
        dist.Normal(0, -1)

infer.sample(shifted(f, y))
""",
        CHAINED[1],
    ),
    "what was handled at the call": (
        """
try:
    {}["k"]
except KeyError:
    infer.sample(shifted(lambda mu: mu if mu > 0 else 0.0, y))
""",
        CHAINED[1],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_exceptions_that_the_user_has_caught_are_still_told(name):
    code, words = CHAINS[name]
    lines = printed(raised(HEAD + code, "script.py"))
    assert sum(line.startswith(words) for line in lines) == 1
    assert sum(line.startswith("Traceback") for line in lines) == 2
    assert "KeyError: 'k'" in lines
    assert set(files(lines)) == {"script.py"}


def test_what_this_package_has_caught_is_not_printed_and_can_be_looked_at():
    error = raised(HEAD + MISTAKES["a branch on a traced value"][0], "script.py")
    assert isinstance(error.__context__, jax.errors.TracerBoolConversionError)
    assert error.__suppress_context__ and error.__cause__ is None


@pytest.mark.parametrize("mode", ["auto", "remove_frames", "quiet_remove_frames", "tracebackhide"])
def test_what_jax_adds_is_left_out_in_each_of_its_ways(mode, filtering):
    filtering(mode)
    lines = printed(raised(HEAD + MISTAKES["a plate of another size"][0], "script.py"))
    assert len(lines) <= MOST and set(files(lines)) == {"script.py"}


def test_all_frames_are_shown_where_jax_shows_all(filtering):
    filtering("off")
    lines = printed(raised(HEAD + MISTAKES["a plate of another size"][0], "script.py"))
    assert {Path(file).name for file in files(lines)} >= {
        "script.py",
        "sample.py",
        "interpreter.py",
        "shapes.py",
    }


def test_an_error_that_nobody_raised_on_purpose_says_where_it_was():
    lines = printed(raised(f"{HEAD}\ndist.kl_divergence(1, 2)", "script.py"))
    assert [Path(file).name for file in files(lines)] == ["script.py", "kl.py"]


def test_an_exception_that_is_frozen_passes():
    @dataclasses.dataclass(frozen=True)
    class FrozenError(Exception):
        number: int

    @entry_point
    def fails():
        raise FrozenError(3) from KeyError("k")

    with pytest.raises(FrozenError) as caught:
        fails()
    names = [at.name for at in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_an_exception_that_is_frozen_passes", "fails"]


def test_an_interrupt_keeps_its_frames():
    @entry_point
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    assert "entered" in [at.name for at in traceback.extract_tb(caught.value.__traceback__)]


def test_what_a_model_catches_has_its_frames_still():
    found = []

    @ac.model
    def careful():
        try:
            dist.Normal(0, -1)
        except DistributionError as error:
            found.extend(at.name for at in traceback.extract_tb(error.__traceback__))
        ac.sample("x", dist.Normal(0, 1))

    careful().sites()
    assert "check_parameter" in found


def test_a_function_that_users_call_keeps_its_signature_and_its_name():
    for function in (infer.sample, ac.model, ac.Model.log_density, ac.LogDensity.from_model):
        assert (
            function.__doc__ and "function" not in inspect.signature(function).parameters
        ) or function is ac.model
    assert pickle.loads(pickle.dumps(infer.sample)) is infer.sample
    assert pickle.loads(pickle.dumps(dist.kl_divergence)) is dist.kl_divergence
    assert list(inspect.signature(dist.Normal).parameters) == ["loc", "scale"]
    with pytest.raises(OptionError, match="warmup"):
        infer.sample(warmpu=1)


def files(lines):
    """The files of the frames that were printed."""
    return re.findall(r'^  File "(.*?)"', "\n".join(lines), re.MULTILINE)
