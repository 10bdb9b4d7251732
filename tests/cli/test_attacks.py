"""Give the command line hundreds of seeded inputs: each ends with a status and a message, and none from the inside."""

import contextlib
import io
import os
import sys

import pytest
from attacks import KINDS, attack

from accord.cli import main

DEFAULT, ALL = 8, 100
"""Inputs of each kind, of which there are five: by default, and in the slow test."""
MOST_BYTES = 2**29
"""By which an input may raise the most memory that the process has ever used."""


def ending_of(arguments):
    """Run `accord`: status, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ending,
    ):
        main(arguments)
    return ending.value.code, out.getvalue(), err.getvalue()


def peak():
    """The most memory that the process has used, in bytes; 0 where the system does not say."""
    if os.name != "posix":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def survive(folder, kind, numbers):
    """Give inputs of a kind, and check how each ends; return how often each status came."""
    found = dict.fromkeys((0, 1, 2), 0)
    for number in numbers:
        given = attack(kind, number)
        given.write(folder)
        before = peak()
        status, out, err = ending_of(given.arguments)
        where = f"{kind} {number}: {given.arguments!r}\n{out[-500:]}\n{err[-2000:]}"
        assert status in found, where
        assert status != 2 or err.startswith(("error: ", "note: ", "Usage: ")), where
        assert "Traceback" not in err and "JAX_TRACEBACK_FILTERING" not in err, where
        assert len(err) < 6000 and len(out) < 10_000, where
        assert peak() - before < MOST_BYTES, where
        found[status] += 1
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, in which the folders of runs do not meet."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_8_inputs_of_a_kind_end_with_a_message(folder, kind):
    found = survive(folder, kind, range(DEFAULT))
    assert found[2] >= 2


@pytest.mark.slow
def test_500_inputs_end_with_a_message(folder):
    found = [survive(folder, kind, range(ALL)) for kind in KINDS]
    print(dict(zip(KINDS, found, strict=True)))
    assert sum(each[2] for each in found) >= 200
