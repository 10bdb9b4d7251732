"""Read a table of text: detect the separator, and report lines that do not fit."""

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import DataError
from .cells import MISSING, from_words
from .files import whole

_GROWTH = (
    15  # times its size that a table takes in memory: 17 for numbers of 18 digits, 59 for numbers of one
)
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


class Line(NamedTuple):
    """Cells of one row, and the number of its first line, from 1."""

    number: int
    cells: list[str]


def open_csv(path: Path) -> dict[str, Callable[[], Any]]:
    """Return a getter of the argument for each column; the first line shows the separator.

    **Raises** `DataError` with the line for a file that is not such a table.
    """
    text = _text(path)
    lines, separator = _lines(path, text)
    if len(lines) < 2:
        raise DataError(f"{path}: a line of column names and at least one line of data are wanted.")
    names = _names(path, lines[0], separator)
    rows = _rows(path, lines[1:], names, separator)
    return {
        name: _reader(path, [line.number for line in rows], [line.cells[i].strip() for line in rows], name)
        for i, name in enumerate(names)
    }


def _reader(path: Path, numbers: list[int], cells: list[str], name: str) -> Callable[[], Any]:
    return lambda: from_words(cells, name, lambda row: f"{path}, line {numbers[row]}, column {name!r}")


def _text(path: Path) -> str:
    raw = whole(path, _GROWTH)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is written in UTF-16, as by Excel. Save it as CSV UTF-8.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: is not CSV in UTF-8 (the byte {raw[error.start]:#04x} is not). Save it as UTF-8."
        ) from error


def _lines(path: Path, text: str) -> tuple[list[Line], str]:
    """Split all rows by the separator that gives the first line most cells."""

    def parsed(separator: str) -> Any:
        return csv.reader(
            io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
        )

    def num_names(separator: str) -> int:
        try:
            return len(next(parsed(separator), []))
        except csv.Error:
            return 0

    separator = max(_SEPARATORS, key=num_names)  # the first of those that give as many
    reader, number = parsed(separator), 1
    lines: list[Line] = []
    try:
        for cells in reader:
            lines.append(Line(number, cells))
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{path}, line {number}: is not CSV: {error}. A cell with quotes or {_SEPARATORS[separator]} in it "
            'stands in quotes, which are doubled inside: "say ""no""".'
        ) from error
    while lines and not lines[0].cells:
        del lines[0]
    return lines, separator


def _names(path: Path, first: Line, separator: str) -> list[str]:
    names = [cell.strip() for cell in first.cells]
    where = f"{path}, line {first.number}"
    if all(_is_number(name) for name in names):
        raise DataError(f"{where}: names of the columns are wanted, got {', '.join(names)}.")
    for name, count in Counter(name for name in names if name).items():
        if count > 1:
            raise DataError(
                f"{where}: column names must be different, and {name!r} comes {count} times (cells are separated by "
                f"{_SEPARATORS[separator]})."
            )
    # R and pandas write no name above the names of rows; a name with a space is that of no argument.
    return [name or f"column {i}" for i, name in enumerate(names, start=1)]


def _rows(path: Path, lines: list[Line], names: list[str], separator: str) -> list[Line]:
    """Return the rows of data, all of one length. Blank lines are missing cells in a one-column table, else skipped."""
    if len(names) > 1:
        rows = [line for line in lines if line.cells]
    else:
        _check_separated(path, lines, names[0])
        if not lines[-1].cells:
            raise DataError(
                f"{path}, line {lines[-1].number}: the last line is blank. If a cell is missing there, write NA; if "
                "not, delete the line."
            )
        rows = [line if line.cells else Line(line.number, [""]) for line in lines]
    if not rows:
        raise DataError(f"{path}: at least one line of data is wanted.")
    for number, cells in rows:
        if len(cells) != len(names):
            is_one_more = all(len(line.cells) == len(names) + 1 for line in rows)
            remedy = (
                "Every row has one more: if it is the name of the row, as R writes it, write `row.names=FALSE`."
                if is_one_more
                else "Write NA for what is missing, and put a cell in quotes that has the separator in it."
            )
            found = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            raise DataError(
                f"{path}, line {number}: {found} for {len(names)} columns, separated by "
                f"{_SEPARATORS[separator]}. {remedy}"
            )
    return rows


def _check_separated(path: Path, lines: list[Line], name: str) -> None:
    """Raise `DataError` for columns separated by spaces, which may also be words with spaces."""
    sizes = {len(line.cells[0].split()) for line in lines if line.cells}
    if len(name.split()) > 1 and sizes == {len(name.split())}:
        raise DataError(
            f"{path}, line 1: the {len(name.split())} columns seem to be separated by spaces. Separate them by commas, "
            "semicolons or tabs."
        )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return word not in MISSING
