"""Describe a run before it starts, so that it can be read without the model and identified."""

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ...core.precision import Precision
from ...density import Layout, LogDensity
from ...density.rows.cutting import NUM_BLOCKS
from ...density.rows.row_files import pieces_in_memory
from ...executors import available_cores
from ...report.labels import are_default, default_labels, written
from ...storage import Manifest
from ..particulars import FIELD, particulars


def describe(
    density: LogDensity,
    kind: str,
    precision: Precision,
    shard: Mapping[str, int],
    settings: Mapping[str, Any],
    more: Mapping[str, Any],
) -> Manifest:
    """Build the manifest of a run: what every run with a target has, and `more`.

    `kind`, of the method; `shard`, arguments whose rows are split over devices; `settings`, the method's own.
    """
    layout = density.layout
    chunk = {} if layout.chunked is None else {"chunk": list(layout.chunked)}
    return Manifest.new(
        {
            "method": kind,
            "model": density.program.name,
            "target": {"kind": "log density", "dim": density.dim},
            "precision": precision,
            "settings": {
                "shard": dict(shard),
                "blocks": NUM_BLOCKS if shard else 1,
                **chunk,
                **({} if layout.by is None else {"collapsed_by": str(layout.by)}),
                **settings,
            },
            **more,
            "layout": described_layout(layout),
            "data_hashes": digests(density.data),
            FIELD: particulars(density),
            "platform": jax.default_backend(),
            "nproc": int(os.environ.get("NPROC") or available_cores()),
        }
    )


def described_layout(layout: Layout) -> dict[str, Any]:
    """Describe the sites of a density for its manifest, in plain JSON."""
    # Labels other than the default must have been given; for default ones this is recorded.
    given = dict(layout.labels)
    coords = {
        dim: written(np.array(given[dim])) if dim in given else default_labels(size)
        for dim, size in layout.sizes.items()
    }
    counted = [dim for dim in layout.labelled if are_default(coords[dim])]
    sites = [
        {
            "name": entry.name,
            "kind": entry.kind,
            "shape": list(entry.shape),
            "dtype": entry.dtype,
            "dims": list(entry.dims),
            "source": entry.source,
            **({} if entry.upto is None else {"upto": entry.upto}),
            **({"is_flat": True} if entry.is_flat else {}),
        }
        for entry in layout.sites
    ]
    return {
        "dim": layout.dim,
        "sites": sites,
        "coords": coords,
        **({"labelled": counted} if counted else {}),
    }


def labelled_in(layout: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dims of a manifest's layout whose labels the model gave, rather than the default 0, 1, ..."""
    given = layout.get("labelled", ())
    return tuple(dim for dim, labels in layout["coords"].items() if dim in given or not are_default(labels))


def digests(arrays: Mapping[str, Any]) -> dict[str, str]:
    """Return the sha256 of each array."""
    return {name: _digest(array) for name, array in arrays.items()}


def _digest(array: Any) -> str:
    digest = hashlib.sha256(f"{np.dtype(array.dtype).str}{np.shape(array)}".encode())
    for piece in pieces_in_memory(array):
        digest.update(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
