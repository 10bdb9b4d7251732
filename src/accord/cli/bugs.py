"""Define `accord bug`: pack what a report of a bug needs from a stored run, without its data and draws."""

import importlib.metadata
import json
import platform
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import infer
from ..core.errors import OptionError
from ..storage.run_folder import manifest_of
from .options import RunFolder

PACKAGES = ("accord", "jax", "jaxlib", "numpy", "equinox", "optax", "zarr", "arviz-stats", "typer", "rich")
OF_DATA = ("data_hashes", "particulars")
"""Fields of a manifest that are computed from the data: hashes of few numbers can be guessed."""


def bug_command(
    run: RunFolder,
    output: Annotated[
        Path | None, typer.Option(help="File to write, in .zip; default RUN-bug.zip here.")
    ] = None,
) -> None:
    """Pack settings, sites, notices and versions of a stored run for a report of a bug: no data and no draws."""
    path = Path(f"{run.resolve().name}-bug.zip") if output is None else output
    if path.suffix != ".zip":
        raise OptionError(f"--output must end in .zip, got {str(path)!r}.")
    if path.exists():
        raise OptionError(f"{path} is here already and is not overwritten. Choose another name by --output.")
    parts = {
        "manifest.json": without_data(manifest_of(run)),
        "notices.json": notices(run),
        "segments.json": {
            str(file.relative_to(run)): file.stat().st_size for file in sorted(run.glob("*/*.npz"))
        },
        "versions.json": versions(),
    }
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    typer.echo(
        f"Written to {path}: {', '.join(parts)}. There are no data and no draws in it, but names of sites and "
        "arguments are,\nand a notice may quote a value where something was not finite: read notices.json before you "
        "send it."
    )


def without_data(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest without what is computed from the data, and with the number of labels in their place."""
    kept = {name: value for name, value in manifest.items() if name not in OF_DATA}
    data = manifest.get("particulars", {}).get("data", {})
    kept["data"] = {name: {"dtype": of.get("dtype"), "shape": of.get("shape")} for name, of in data.items()}
    layout = dict(kept.get("layout", {}))
    if "coords" in layout:
        layout["coords"] = {dim: len(labels) for dim, labels in layout["coords"].items()}
    return kept | {"layout": layout}


def notices(run: Path) -> list[dict[str, Any]]:
    """Return the notices of a run as they are written anew from its draws."""
    found = infer.load(run)
    return [
        {
            "severity": each.severity,
            "code": each.code,
            "message": each.message,
            "remedy": each.remedy,
            "sites": list(each.sites),
        }
        for each in found.notices
    ]


def versions() -> dict[str, str]:
    """Return the versions of Python, of the system and of the packages that matter, as they are here."""
    found = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
    }
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed as a package"
    return found
