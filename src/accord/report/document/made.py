"""Tell from the manifest of a run how it was made."""

from collections.abc import Mapping
from typing import Any

_MOST_ROWS, _MOST_LETTERS = 60, 400
_PHASES = ("trace", "compile", "warmup", "sampling", "fit", "looks")
_LABELS = {"float64": "double precision (float64)", "float32": "single precision (float32)"}


def facts_of(manifest: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what every run with a target has: unknowns, seed, precision, versions, machine, identity."""
    versions, machine = manifest.get("versions", {}), manifest.get("machine", {})
    target = manifest.get("target", {})
    found = {
        "Free numbers": str(target["dim"]) if "dim" in target else "",
        "Seed": str(manifest.get("seed", "")),
        "Precision": _LABELS.get(str(manifest.get("precision", "")), str(manifest.get("precision", ""))),
        "Settings": _listed(_plain(manifest.get("settings", {}))),
        "Versions": _listed(versions),
        "Machine": _listed(
            {**machine, "backend": manifest.get("platform", ""), "cores": manifest.get("nproc", "")}
        ),
        "Begun": str(manifest.get("created", "")),
        "Run": str(manifest.get("run_id", "")),
    }
    return tuple((name, value) for name, value in found.items() if value)


def sampler_words(manifest: Mapping[str, Any]) -> str:
    """Return the sampler with the options that were given, as code where these are plain."""
    return _words(manifest.get("sampler", {}))[:_MOST_LETTERS]


def is_plain(manifest: Mapping[str, Any]) -> bool:
    """Return whether no option of the sampler is a kernel or a list of them."""
    return not any(isinstance(value, list | Mapping) for value in manifest.get("sampler", {}).values())


def _words(value: Any) -> str:
    """Write what a manifest says of an object: its name, and options that are not None."""
    if isinstance(value, Mapping):
        name = str(value.get("name", value.get("kind", value.get("rule", ""))))
        options = [
            f"{key}={_words(each)}"
            for key, each in value.items()
            if key not in ("name", "kind", "rule") and each is not None
        ]
        return f"{name}({', '.join(options)})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_words, value))}]"
    return repr(value)


def site_rows(manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return name, kind, distribution, shape and dimensions of each site, of at most 60."""
    laws = manifest.get("particulars", {}).get("distributions", {})
    sites = manifest.get("layout", {}).get("sites", [])
    rows = [
        (
            str(site["name"]),
            "whole numbers" if site["kind"] == "whole" else str(site["kind"]),
            str(laws.get(site["name"]) or ""),
            _shape(site["shape"]),
            ", ".join(map(str, site["dims"])),
        )
        for site in sites[:_MOST_ROWS]
    ]
    more = len(sites) - len(rows)
    return (*rows, *([(f"... and {more} more", "", "", "", "")] if more > 0 else []))


def data_rows(manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return name, dtype, shape and the beginning of the digest of each argument, of at most 60."""
    known = manifest.get("particulars", {}).get("data", {})
    digests = manifest.get("data_hashes", {}) or {}
    names = [name for name in known if name in digests] or list(digests)
    return tuple(
        (
            str(name),
            str(known.get(name, {}).get("dtype", "")),
            _shape(known.get(name, {}).get("shape", [])),
            str(digests[name])[:16],
        )
        for name in names[:_MOST_ROWS]
    )


def phases_of(timings: Mapping[str, float]) -> dict[str, float]:
    """Return seconds by phase, in the order of a run, without the total."""
    order = {name: place for place, name in enumerate(_PHASES)}
    names = sorted(timings, key=lambda name: (order.get(name, len(order)), name))
    return {name: float(timings[name]) for name in names if name != "total"}


def record_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest without what grows with the model or the data: layout and checksums."""
    return {
        name: manifest[name] for name in manifest if name not in ("layout", "particulars", "chains", "tuning")
    }


def _shape(shape: Any) -> str:
    sizes = [str(size) for size in shape]
    return " \u00d7 ".join(sizes) if sizes else "one number"


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value not in ("", None))


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that say something in a few words."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        words = _words(value) if isinstance(value, Mapping) else str(value)
        if value and not (name == "blocks" and value == 1) and len(words) <= _MOST_LETTERS:
            found[name] = words
    return found
