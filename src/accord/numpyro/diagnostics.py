"""Diagnose and summarise draws, by the names of `numpyro.diagnostics`."""

import sys
from collections import OrderedDict
from collections.abc import Mapping
from itertools import product
from typing import Any

import jax
import numpy as np

from ..core.errors import OptionError
from .names.refusal import refusal as _refusal

__all__ = [
    "autocorrelation",
    "autocovariance",
    "effective_sample_size",
    "gelman_rubin",
    "hpdi",
    "print_summary",
    "split_gelman_rubin",
    "summary",
]

__getattr__ = _refusal("numpyro.diagnostics")


def autocorrelation(x: Any, axis: int = 0, bias: bool = True) -> np.ndarray:
    """Return the autocorrelations of draws along an axis, by lag."""
    covariance = autocovariance(x, axis, bias)
    return covariance / np.take(covariance, [0], axis=axis)


def autocovariance(x: Any, axis: int = 0, bias: bool = True) -> np.ndarray:
    """Return the autocovariances of draws along an axis, by lag.

    **Arguments**: `bias`, whether each lag is divided by the number of draws, in place of that of its products.
    """
    x = np.moveaxis(np.asarray(x, float), axis, -1)
    count = x.shape[-1]
    centred = x - x.mean(axis=-1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * count)))
    spectrum = np.fft.rfft(centred, size)
    found = np.fft.irfft(np.abs(spectrum) ** 2, size)[..., :count]
    found = found / (count if bias else np.arange(count, 0, -1))
    return np.moveaxis(found, -1, axis)


def gelman_rubin(x: Any) -> np.ndarray:
    """Return R-hat of draws, shape `(chain, draw, ...)`.

    **Source**: Gelman & Rubin (1992), Statistical Science 7(4).
    """
    x = _chains(x, 2)
    within, estimate = _variances(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(estimate / within)


def split_gelman_rubin(x: Any) -> np.ndarray:
    """Return R-hat of the halves of chains, shape `(chain, draw, ...)`."""
    x = _chains(x, 4)
    half = x.shape[1] // 2
    return gelman_rubin(np.concatenate([x[:, :half], x[:, -half:]], axis=0))


def effective_sample_size(x: Any, bias: bool = True) -> np.ndarray:
    """Return the effective sample size of draws, shape `(chain, draw, ...)`, by Geyer's initial monotone sequence.

    **Source**: Geyer (1992), Statistical Science 7(4); Stan Reference Manual, "Effective sample size".
    """
    x = _chains(x, 2)
    chains, count = x.shape[:2]
    covariance = autocovariance(x, axis=1, bias=bias)
    within, estimate = _variances(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = 1 - (within - covariance.mean(axis=0)) / estimate
    rho[0] = 1
    pairs = rho[0 : 2 * (count // 2) : 2] + rho[1 : 2 * (count // 2) : 2]
    pairs = np.minimum.accumulate(np.maximum(pairs, 0), axis=0)
    # Geyer's sequence ends with the first pair that is not positive.
    is_before = np.cumprod(pairs > 0, axis=0)
    return chains * count / (2 * (pairs * is_before).sum(axis=0) - 1)


def hpdi(x: Any, prob: float = 0.9, axis: int = 0) -> np.ndarray:
    """Return the shortest interval that has a share `prob` of the draws along an axis; shape `(2, ...)`."""
    if not 0 < prob < 1:
        raise OptionError(f"hpdi: prob must be between 0 and 1, got {prob!r}.")
    x = np.sort(np.moveaxis(np.asarray(x), axis, 0), axis=0)
    inside = int(prob * x.shape[0])
    low = (x[inside:] - x[: x.shape[0] - inside]).argmin(axis=0)
    return np.stack([np.take_along_axis(x, (low + k)[None], axis=0)[0] for k in (0, inside)])


def summary(samples: Any, prob: float = 0.9, group_by_chain: bool = True) -> dict[str, dict[str, np.ndarray]]:
    """Return mean, std, median, interval, n_eff and r_hat of draws by name.

    **Arguments**: `samples`, by name, shape `(chain, draw, ...)`, or `(draw, ...)` unless they are grouped.
    """
    if not isinstance(samples, Mapping):
        samples = {f"Param:{i}": value for i, value in enumerate(jax.tree.leaves(samples))}
    found: dict[str, dict[str, np.ndarray]] = {}
    for name, value in samples.items():
        grouped = np.asarray(value) if group_by_chain else np.asarray(value)[None]
        flat = grouped.reshape((-1, *grouped.shape[2:])).astype(float)
        low, high = hpdi(flat, prob)
        found[name] = OrderedDict(
            [
                ("mean", flat.mean(axis=0)),
                ("std", flat.std(axis=0, ddof=1)),
                ("median", np.median(flat, axis=0)),
                (f"{50 * (1 - prob):.1f}%", low),
                (f"{50 * (1 + prob):.1f}%", high),
                ("n_eff", effective_sample_size(grouped)),
                ("r_hat", split_gelman_rubin(grouped)),
            ]
        )
    return found


def print_summary(samples: Any, prob: float = 0.9, group_by_chain: bool = True) -> None:
    """Print the table of `summary`."""
    table = summary(samples, prob, group_by_chain)
    rows: list[tuple[str, list[str]]] = []
    for name, columns in table.items():
        for at in product(*map(range, columns["mean"].shape)):
            label = name + (f"[{','.join(map(str, at))}]" if at else "")
            rows.append((label, [f"{float(column[at]):.2f}" for column in columns.values()]))
    if not rows:
        return
    heads = list(next(iter(table.values())))
    wide = max(len(label) for label, _ in rows)
    lines = ["\n" + " " * wide + "".join(f"{head:>11}" for head in heads)]
    lines += [f"{label:>{wide}}" + "".join(f"{cell:>11}" for cell in cells) for label, cells in rows]
    sys.stdout.write("\n".join([*lines, "", ""]))


def _chains(x: Any, least: int) -> np.ndarray:
    x = np.asarray(x, float)
    if x.ndim < 2 or x.shape[1] < least:
        raise OptionError(
            f"draws must have shape (chain, draw, ...) with at least {least} draws, got {x.shape}."
        )
    return x


def _variances(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean variance within chains, and the estimate that counts the means of chains too."""
    chains, count = x.shape[:2]
    within = x.var(axis=1, ddof=1).mean(axis=0)
    estimate = within * (count - 1) / count
    if chains > 1:
        estimate = estimate + x.mean(axis=1).var(axis=0, ddof=1)
    return within, estimate
