"""Make seeded inputs of the command line: files that are damaged or made to do harm, and options of any kind."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hostile import archive, headed, npy

MODEL = """
import accord as ac
import accord.distributions as dist


@ac.model
def line(x, y, scale=1.0):
    b = ac.sample("b", dist.Normal(0, 10))
    ac.sample("y", dist.Normal(b * x, scale), obs=y)
"""
COLUMNS = {"x": [1.0, 2.0, 3.5], "y": [2.1, 3.9, 6.2]}
PIECES = (
    b"",
    b"\0",
    b"\xff",
    b"\n\n",
    b",",
    b'"',
    b"{",
    b"[" * 2000,
    b"]",
    b"9" * 400,
    b"1e999",
    b"null",
    b"\xef\xbb\xbf",
    b"PK\x03\x04",
    b"NaN",
    b" " * 500,
    "é\u2028".encode(),
)
NUMBERS = (
    *("0", "-1", "1", "2", "1e3", "nan", "-inf", "", "x", "9" * 20, "9" * 400, "9" * 5000, "-" + "9" * 400),
    *(str(2**31), str(2**63), "0x10", "1_000", "\u0663", "1" * 300, "--draws", "é" * 300),
)
NAMES = (
    "",
    ".",
    "/",
    "..",
    "x" * 300,
    "y/" * 3000,
    "é",
    "a b",
    "a\nb",
    "\udcff",
    "\x1b[31m",
    "data.json",
    "one.py",
)
VALUES = (
    *(
        0,
        -1,
        1.5,
        True,
        None,
        "",
        "NA",
        "word",
        [],
        {},
        [[]],
        [1, "a"],
        [None],
        [[1], [2, 3]],
        {"0": 1},
        10**400,
    ),
    *(float("nan"), 2**63, ["2020-01-01"], {"self": 1}, [True, 0.5], "\ud800", [[1, 2, 3]], [1, 2, 3]),
)
DTYPES = (
    "<f8",
    ">i2",
    "<U3",
    "|S2",
    "<c16",
    "<M8[D]",
    "|V4",
    "|b1",
    "<f2",
    "|O",
    "<U0",
    "<q8",
    "[('a', '<f8')]",
)


@dataclass(frozen=True)
class Attack:
    """Files by name, and the arguments of `accord`."""

    files: dict[str, bytes]
    arguments: tuple[str, ...]

    def write(self, folder: Path) -> None:
        for name, content in ({"one.py": MODEL.encode(), "data.json": _json(COLUMNS)} | self.files).items():
            (folder / name).write_bytes(content)


def attack(kind: str, number: int) -> Attack:
    """The input of this number: the same one each time."""
    rng = np.random.default_rng([19, *kind.encode(), number])
    return KINDS[kind](rng)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _any(rng: np.random.Generator, choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def _damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """Cut bytes out, flip bits, repeat a stretch, or put a piece in, at some places."""
    for _ in range(rng.integers(1, 4)):
        at, to = sorted(rng.integers(0, len(content) + 1, 2))
        match rng.integers(4):
            case 0:
                content = content[:at] + content[to:]
            case 1 if content:
                at = min(at, len(content) - 1)
                content = content[:at] + bytes([content[at] ^ (1 << rng.integers(8))]) + content[at + 1 :]
            case 2:
                content = content[:to] + content[at:to] * int(rng.integers(1, 50)) + content[to:]
            case _:
                content = content[:at] + _any(rng, PIECES) + content[at:]
    return content


def _table() -> bytes:
    return b"x,y\n" + b"".join(b"%r,%r\n" % row for row in zip(*COLUMNS.values(), strict=True))


def _parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    file = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(COLUMNS), file)
    return file.getvalue().to_pybytes()


def _npz() -> bytes:
    return archive([(f"{name}.npy", npy(column)) for name, column in COLUMNS.items()])


WHOLE: dict[str, Callable[[], bytes]] = {
    "json": lambda: _json(COLUMNS),
    "csv": _table,
    "npz": _npz,
    "parquet": _parquet,
}


def _damaged_data(rng: np.random.Generator) -> Attack:
    """A file with places damaged, or under the ending of another kind."""
    ending, content = _any(rng, list(WHOLE)), WHOLE[_any(rng, list(WHOLE))]
    content = _damaged(rng, content()) if rng.random() < 0.1 else _damaged(rng, WHOLE[ending]())
    return Attack({f"d.{ending}": content}, ("check", "one.py", "--data", f"d.{ending}"))


def _odd_values(rng: np.random.Generator) -> Attack:
    """JSON of values of any kind, also as records, and tables of such cells."""
    names = [*COLUMNS, "scale", _any(rng, NAMES)]
    if rng.random() < 0.3:
        cells = [_any(rng, (*NUMBERS, *NAMES, "NA", "true", "2020-01-01", "1,5")) for _ in range(6)]
        content = "x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(cells[::2], cells[1::2], strict=True))
        return Attack({"d.csv": content.encode(errors="replace")}, ("check", "one.py", "--data", "d.csv"))
    value: Any = COLUMNS | {name: _any(rng, VALUES) for name in names if rng.random() < 0.5}
    if rng.random() < 0.3:
        value = [value, {name: _any(rng, VALUES) for name in value}]
    return Attack({"d.json": _json(value)}, ("check", "one.py", "--data", "d.json"))


def _odd_arrays(rng: np.random.Generator) -> Attack:
    """An archive of arrays whose headers, names and sizes are of any kind."""

    def member() -> bytes:
        shape = tuple(int(_any(rng, (0, 1, 3, 3, 3, -1, 10**12, 10**30))) for _ in range(rng.integers(0, 3)))
        return _any(
            rng, (headed(shape, _any(rng, DTYPES), bytes(int(_any(rng, (0, 8, 24))))), npy([1.0, 2.0, 3.0]))
        )

    names = [_any(rng, ("x.npy", "y.npy", "x", "scale.npy", "z.txt")) for _ in range(rng.integers(1, 5))]
    sizes = _any(rng, (None, None, None, (2**40, 1000), (10, 10)))
    content = archive([("y.npy", npy(COLUMNS["y"])), *((name, member()) for name in names)], sizes)
    return Attack({"d.npz": content}, ("check", "one.py", "--data", "d.npz"))


def _odd_options(rng: np.random.Generator) -> Attack:
    """An option of any value. What is valid is a short run."""
    short = ("--draws", "4", "--warmup", "4", "--quiet")
    numbers = (
        "--draws",
        "--warmup",
        "--seed",
        "--thinning",
        "--target-accept",
        "--max-tree-depth",
        "--workers",
    )
    words = ("--out", "--data", "--sampler", "--metric", "--precision", "--executor", "--until", "--cluster")
    option = _any(rng, (*numbers, *words))
    value = _any(rng, NUMBERS if option in numbers else (*NUMBERS, *NAMES))
    other = _any(
        rng,
        (
            ("summary", _any(rng, NAMES)),
            ("summary", "run", "--prob", _any(rng, NUMBERS), "--rows", _any(rng, NUMBERS)),
            ("resume", _any(rng, NAMES), "one.py"),
            ("predict", "run", "one.py", "--out", _any(rng, NAMES)),
            ("example", _any(rng, NAMES[4:])),
            ("check", _any(rng, NAMES)),
            ("check", "one.py:" + _any(rng, NAMES), "--data", "data.json"),
            ("check", "one.py", "--data", "data.json", "--shard", _any(rng, (*NUMBERS, *NAMES))),
            ("member", _any(rng, NAMES)),
            (_any(rng, NAMES),),
        ),
    )
    if rng.random() < 0.5:
        return Attack({}, other)
    return Attack({}, ("sample", "one.py", "--data", "data.json", *short, "--chains", "1", option, value))


def _damaged_model(rng: np.random.Generator) -> Attack:
    """A model file with places damaged."""
    return Attack(
        {"one.py": _damaged(rng, MODEL.encode())},
        ("check", "one.py", "--data", "data.json"),
    )


KINDS: dict[str, Callable[[np.random.Generator], Attack]] = {
    "damaged data": _damaged_data,
    "odd values": _odd_values,
    "odd arrays": _odd_arrays,
    "odd options": _odd_options,
    "damaged models": _damaged_model,
}
