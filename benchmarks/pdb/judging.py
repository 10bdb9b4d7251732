"""Judge the draws of a run: convergence and effective draws over all unknowns, and agreement with reference draws."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from accord.report import ess_bulk, ess_tail, mcse_mean, r_hat

STUCK = 999.0  # in place of an R-hat that is none, of chains that do not move
NUM_MEANS = 20  # that a record keeps
MIN_DRAWS = 4  # of each chain; fewer, of a run that was interrupted, are not judged


def judge(file: Path, reference: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Read draws and return entries of the record.

    An element that every draw of every chain has the same value of, such as the corner of a Cholesky factor of
    correlations, is no unknown, unless all elements are: then nothing moved.
    """
    with np.load(file) as draws:
        names = sorted(draws.files)  # the order of another engine, too
        if draws[names[0]].shape[1] < MIN_DRAWS:
            return {}
        parts = [_judge(draws[name]) for name in names]
        shapes = [draws[name].shape[2:] for name in names]
        scores = [
            _disagreement(draws[name], reference[name])
            for name in names
            if name in reference and reference[name].shape[2:] == draws[name].shape[2:]
        ]
    sizes = [len(part["r_hat"]) for part in parts]
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    moves = columns.pop("moves")
    moves = moves if moves.any() else np.ones_like(moves)
    rhats = np.where(moves, columns["r_hat"], 0.0)
    worst = int(rhats.argmax())
    kept = np.arange(0, len(moves), -(-len(moves) // NUM_MEANS))
    return {
        "num_unknowns": int(moves.sum()),
        "max_r_hat": float(rhats.max()),
        "worst": _name_of(worst, names, shapes, sizes),
        "min_ess_bulk": float(np.where(moves, columns["bulk"], np.inf).min()),
        "min_ess_tail": float(np.where(moves, columns["tail"], np.inf).min()),
        "means": [float(f"{mean:.7g}") for mean in columns["mean"][kept]],
        "errors": [float(f"{error:.3g}") for error in columns["error"][kept]],
        "reference_z": max(scores) if scores else None,
    }


def _judge(draws: np.ndarray) -> dict[str, np.ndarray]:
    """Judge one site, element by element; a statistic that is undefined counts as the worst."""
    columns = np.asarray(draws, float).reshape(*draws.shape[:2], -1)
    return {
        "moves": np.ptp(columns, axis=(0, 1)) != 0,
        "r_hat": np.nan_to_num(r_hat(columns), nan=STUCK, posinf=STUCK),
        "bulk": np.nan_to_num(ess_bulk(columns)),
        "tail": np.nan_to_num(ess_tail(columns)),
        "mean": np.nan_to_num(columns.mean(axis=(0, 1))),
        "error": np.nan_to_num(mcse_mean(columns)),
    }


def _disagreement(draws: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference of means, in standard errors of that difference."""
    ours, theirs = (each.reshape(*each.shape[:2], -1) for each in (draws, reference))
    error = np.hypot(np.nan_to_num(mcse_mean(ours)), np.nan_to_num(mcse_mean(theirs)))
    gap = np.abs(ours.mean(axis=(0, 1)) - theirs.mean(axis=(0, 1)))
    return float(np.max(np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)))


def _name_of(column: int, names: list[str], shapes: list[tuple[int, ...]], sizes: list[int]) -> str:
    """Name the element in a column, as `theta[2]`, counted from 0."""
    for name, shape, size in zip(names, shapes, sizes, strict=True):
        if column < size:
            return name + (f"[{','.join(map(str, np.unravel_index(column, shape)))}]" if shape else "")
        column -= size
    raise IndexError(column)
