"""State the forms of a manifest and of the records in a run folder, and check what was read against them.

The folder may come from anyone: what does not have its form is refused before anything is built from it.
"""

from typing import Any

import numpy as np

from ..core.errors import StorageError
from .manifest import FORMAT
from .schema import (
    LARGEST,
    Form,
    anything,
    count,
    either,
    fields,
    flag,
    list_of,
    map_of,
    matching,
    number,
    one_of,
    or_none,
    scalar,
    shape,
    text,
)

_MOST_CHAINS = 2**20
_MOST_UNKNOWNS = 2**31
_MOST_LABELS = 2**30  # of one dim; 8 GiB when they are read

_dtype = matching(r"bool|(u?int|float|complex)\d{1,3}", "the name of a dtype of numbers")
_shown_dtype = one_of("float64", "int64", "bool", "str")
_labels = list_of(scalar)
_counted = fields({"count": count(most=_MOST_LABELS)})


def _dates(value: Any, where: str) -> None:
    _dates_as_text(value, where)
    try:
        np.array(value["dates"], f"datetime64[{value['unit']}]")
    except (ValueError, TypeError, OverflowError) as error:
        raise StorageError(f"{where} holds no dates ({error}).") from error


def _as_map(value: Any, where: str) -> None:
    """Take labels that are not listed: dates, or the number of default labels."""
    (_counted if "count" in value else _dates)(value, where)


_dates_as_text = fields(
    {
        "unit": matching(r"(\d{1,9})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)", "a unit of time"),
        "dates": list_of(text),
    }
)

_written_site = fields(
    {
        "name": text,
        "kind": text,
        "shape": shape,
        "dtype": text,
        "dims": list_of(text, most=64),
        "source": text,
    },
    others=anything,
)


def _site(value: Any, where: str) -> None:
    _written_site(value, where)
    if value["kind"] in ("latent", "whole", "collapsed", "deterministic"):
        _dtype(value["dtype"], f"{where}.dtype")


_layout = fields(
    {
        "dim": count(most=_MOST_UNKNOWNS),
        "sites": list_of(_site),
        "coords": map_of(either(_as_map, _labels, lambda value: isinstance(value, dict))),
    },
    {"labelled": list_of(text)},
    others=anything,
)
_rule = fields({"rule": text}, others=anything)
_start = fields({"kind": text}, others=scalar)
_settings = fields(
    {},
    {
        "shard": map_of(number),
        "blocks": count(1),
        "init": or_none(_start),
        "chunk": list_of(scalar),
        "max_warmup": count(),
        "until": _rule,
        "first_look": count(1),
        "superchains": count(1),
        "on_nonfinite": one_of("notice", "raise"),
    },
    others=anything,
)
_argument = fields(
    {"shape": shape, "dtype": text},
    {"step": count(1), "sums": matching(r"([0-9a-f]{8})*", "checksums")},
)
_particulars = fields(
    {"data": map_of(_argument), "fixed": map_of(text), "distributions": map_of(text)}, others=anything
)


def _chains(value: Any, where: str) -> None:
    list_of(count(most=LARGEST), least=1, most=_MOST_CHAINS)(value, where)
    if len(set(value)) < len(value):
        raise StorageError(f"{where} names a chain twice.")


_MANIFEST = fields(
    {
        "format": anything,  # which `Manifest` judges
        "run_id": text,
        "created": text,
        "versions": fields({"accord": text}, others=text),
        "machine": map_of(text),
        "model": text,
        "target": map_of(scalar),
        "sampler": fields(
            {"name": text},
            {
                "superchains": or_none(count(1)),
                "max_tree_depth": or_none(number),
                "target_accept": or_none(number),
            },
            others=anything,
        ),
        "seed": count(most=2**64 - 1),
        "precision": one_of("float32", "float64"),
        "lanes": count(1, _MOST_CHAINS),
        "chains": _chains,
        "draws": count(1),
        "warmup": count(),
        "thinning": count(1),
    },
    {
        "method": text,
        "phases": list_of(text, least=1),
        "layout": _layout,
        "data_hashes": map_of(text),
        "platform": text,
        "nproc": count(1),
        "settings": _settings,
        "particulars": _particulars,
        "statistics": list_of(fields({"name": text, "dtype": _dtype})),
        "tuning": list_of(fields({"name": text, "dtype": _shown_dtype, "shape": shape})),
    },
    others=anything,
)

_finding = fields(
    {"rule": text, "holds": or_none(flag), "text": text},
    {
        "value": or_none(number),
        "site": or_none(text),
        "scalar": or_none(count()),
        "times": or_none(number),
    },
)
_written_stopping = fields(
    {
        "rule": _rule,
        "held": or_none(flag),
        "draws": or_none(count()),
        "chains": list_of(count()),
        "looks": list_of(fields({"draws": count(), "findings": list_of(_finding)})),
        "is_by_clock": flag,
    }
)


def _stopping(value: Any, where: str) -> None:
    _written_stopping(value, where)
    if value["held"]:
        count()(value["draws"], f"{where}.draws")


_RECORDS: dict[str, Form] = {
    "target": list_of(list_of(number, 2, 2), 3, 3),
    "notices": or_none(
        list_of(
            fields(
                {
                    "severity": one_of("error", "warning", "info"),
                    "code": text,
                    "message": text,
                    "remedy": text,
                    "sites": list_of(text),
                }
            )
        )
    ),
    "timings": map_of(number),
    "lost_chains": list_of(fields({"chains": list_of(count()), "draw": count(), "error": text})),
    "extended": count(1),
    "cap": count(1),
    "seams": list_of(fields({}, others=anything)),
    "init": fields({}, others=anything),
    "stopping": _stopping,
}


def check_manifest(value: Any, where: str) -> dict[str, Any]:
    """Return what was read of a manifest. **Raises** `StorageError` unless it has the form of one."""
    if isinstance(value, dict) and value.get("format") == FORMAT:
        _MANIFEST(value, where)
    elif not isinstance(value, dict):
        fields({})(value, where)
    return value


def check_record(name: str, value: Any, where: str) -> Any:
    """Return what was read of a record. **Raises** `StorageError` unless it has the form of one of that name."""
    _RECORDS.get(name, anything)(value, where)
    return value
