"""Describe a run before it starts, so that it can be read without the model and identified."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import jax
import numpy as np

from ...density import LogDensity
from ...density.rows.cutting import NUM_BLOCKS
from ...density.rows.row_files import pieces_in_memory
from ...executors import available_cores
from ...kernels import AbstractKernel
from ...mcmc.plan import Plan
from ...mcmc.start.base import AbstractStart
from ...mcmc.statistics import stored_stats
from ...report.labels import are_default, default_labels, written
from ...storage import Manifest
from ..particulars import FIELD, particulars
from ..stopping.looks import FIRST


def describe(density: LogDensity, plan: Plan, chains: Sequence[int], start: AbstractStart) -> Manifest:
    """Build the manifest of a run of `chains` that starts at `start`."""
    layout = density.layout
    chunk = {} if layout.chunked is None else {"chunk": list(layout.chunked)}
    longest = {"max_warmup": plan.max_warmup} if plan.max_warmup > plan.num_warmup else {}
    until: dict[str, Any] = {} if plan.until is None else {"until": plan.until.described()}
    if plan.until is not None and plan.first_look != FIRST:
        until |= {"first_look": plan.first_look}
    raises = {"on_nonfinite": plan.on_nonfinite} if plan.on_nonfinite == "raise" else {}
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
        }
        for entry in layout.sites
    ]
    return Manifest.new(
        {
            "model": density.program.name,
            "target": {"kind": "log density", "dim": density.dim},
            "sampler": {"name": type(plan.kernel).__name__, **vars_of(plan.kernel)},
            "statistics": [asdict(each) for each in stored_stats(plan.kernel.stats)],
            "seed": plan.seed,
            "precision": plan.precision,
            "lanes": plan.lanes,
            "settings": {
                "shard": dict(plan.shard),
                "blocks": NUM_BLOCKS if plan.shard else 1,
                "init": start.described(),
                **chunk,
                **longest,
                **until,
                **raises,
            },
            "chains": list(chains),
            "draws": plan.num_kept,
            "warmup": plan.num_warmup,
            "thinning": plan.thinning,
            "layout": {
                "dim": density.dim,
                "sites": sites,
                "coords": coords,
                **({"labelled": counted} if counted else {}),
            },
            "data_hashes": {name: _digest(array) for name, array in density.data.items()},
            FIELD: particulars(density),
            "platform": jax.default_backend(),
            "nproc": int(os.environ.get("NPROC") or available_cores()),
        }
    )


def labelled_in(layout: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dims of a manifest's layout whose labels the model gave, rather than the default 0, 1, ..."""
    given = layout.get("labelled", ())
    return tuple(dim for dim, labels in layout["coords"].items() if dim in given or not are_default(labels))


def vars_of(sampler: AbstractKernel) -> dict[str, Any]:
    """Return the options of a sampler by name."""
    return {field.name: getattr(sampler, field.name) for field in fields(sampler)}


def _digest(array: Any) -> str:
    digest = hashlib.sha256(f"{np.dtype(array.dtype).str}{np.shape(array)}".encode())
    for piece in pieces_in_memory(array):
        digest.update(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
