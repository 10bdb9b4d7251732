"""Tell from the manifest of a run how it was made."""

from collections.abc import Mapping
from typing import Any

_MOST_ROWS = 60
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
        "Machine": _listed({**machine, "backend": manifest.get("platform", ""), "cores": manifest.get("nproc", "")}),
        "Begun": str(manifest.get("created", "")),
        "Run": str(manifest.get("run_id", "")),
    }
    return tuple((name, value) for name, value in found.items() if value)


def sampler_words(manifest: Mapping[str, Any]) -> str:
    """Return the sampler or guide with the options that were given."""
    own = dict(manifest.get("sampler", {}))
    name = str(own.pop("name", manifest.get("method", "")))
    given = {key: value for key, value in own.items() if value is not None and not isinstance(value, dict | list)}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


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


def record_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest without what grows with the model or the data: layout and checksums."""
    return {name: manifest[name] for name in manifest if name not in ("layout", "particulars", "chains", "tuning")}


def _shape(shape: Any) -> str:
    sizes = [str(size) for size in shape]
    return " \u00d7 ".join(sizes) if sizes else "one number"


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value not in ("", None))


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that say something in a few words."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and "kind" in value:
            options = ", ".join(f"{key}={each}" for key, each in value.items() if key != "kind")
            value = f"{value['kind']}({options})"
        if value and not (name == "blocks" and value == 1) and len(str(value)) <= 200:
            found[name] = value
    return found
