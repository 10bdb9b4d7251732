"""Keep notices beside the draws of a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...core.notice import Notice


def notice_records(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    """Convert notices to JSON."""
    return [asdict(notice) | {"sites": list(notice.sites)} for notice in notices]


def notice_of(record: Mapping[str, Any]) -> Notice:
    """Return the notice that was converted to this record."""
    severity, code, message, remedy = (record[name] for name in ("severity", "code", "message", "remedy"))
    return Notice(severity, code, message, remedy, tuple(record["sites"]))


def repaired(problems: Sequence[str]) -> list[Notice]:
    """Make a notice of damage that was set aside."""
    if not problems:
        return []
    more = f" ({len(problems) - 1} more)" if problems[1:] else ""
    return [
        Notice(
            "info",
            "repaired",
            f"The folder of the run was damaged: {problems[0]}{more}",
            "The damaged files are beside the others, with names that begin with `rejected-`; draws that were missing "
            "have been made again.",
        )
    ]
