"""Choose the form of a metric by how well it whitens held-out draws."""

from dataclasses import replace

import numpy as np

from ...core.errors import OptionError
from .curvature import asks_for_marginals, remainder, spread, widened
from .dense import dense, dense_residual
from .diagonal import diagonal
from .directions import with_directions
from .fit import Fit
from .low_rank import low_rank
from .marginal import gain, marginal, pays
from .metric import Metric
from .record import FISHER_FORMS, Choice

MAX_DENSE_DIM = 64
"""Up to this dimension every program has room for a full matrix; above it, only where one is asked for."""

MAX_ASKED_DIM = 500
"""Up to this dimension a dense metric may be asked for: an update takes a third of a second there, and there are 20."""

RANK = 16
"""Directions beside the axes for which there is room in higher dimensions."""

_GAIN = 0.75  # held-out divergence, as a fraction of the usual form's, below which another one is taken
_FEW_DRAWS = 60
_MANY_PARTS, _FEW_PARTS = 5, 2  # that a window is cut into: of fewer draws than this, and of more
_FEW_PER_DIM = (
    2  # draws for each dimension, from which on a full matrix is learnt as well as a few directions
)
_LARGEST = 1e60  # the geometric mean multiplies up to four of them


def rank_for(dim: int, form: str) -> int:
    """Return how many directions beside the axes a program has room for, given the sampler's option `form`."""
    if dim == 1:
        return 0
    return dim if dim <= MAX_DENSE_DIM or form == "dense" else RANK


def check_room(dim: int, form: str) -> None:
    """Raise `OptionError` for a dense metric in too many dimensions."""
    if form == "dense" and dim > MAX_ASKED_DIM:
        raise OptionError(
            f"metric='dense' takes up to {MAX_ASKED_DIM} dimensions, and the posterior has {dim}: every update of the "
            f"metric would take seconds. metric='low_rank' finds {RANK} directions in any dimension, and 'auto' takes "
            "it where it pays."
        )


def learn_metric(
    positions: np.ndarray,
    gradients: np.ndarray,
    previous: Metric,
    form: str,
    former: str = "initial",
    *,
    turns: bool = True,
) -> tuple[Metric, Choice | None]:
    """Learn the metric from draws and gradients, each `(draw, dim)`, unconstrained; return it with the choice.

    `previous` fills what they leave, and is kept where they say nothing: the choice is None then. Draws that repeat
    their predecessor (the chain did not move) carry no news of their own and are left out. `form` is the sampler's
    option; under "auto", a richer form is taken only where it whitens draws it has not seen better than simpler ones,
    and scales by marginals only where the posterior is bent (see `curvature`), or where they are expected to save
    gradients, more of them where `former`, the form so far, is another. `turns`: trajectories end where most
    coordinates have turned, and not where the widest one has, which alone makes scales by marginals pay.
    """
    dtype = positions.dtype
    x, g = np.asarray(positions, np.float64), np.asarray(gradients, np.float64)
    has_moved = np.concatenate([[True], np.any(x[1:] != x[:-1], axis=1)])
    x, g = x[has_moved], g[has_moved]
    if len(x) < 3:
        return previous, None
    room = previous.factor.shape[1]
    plain = diagonal(x, g, np.asarray(previous.scale, np.float64))
    has_room = room > 0 and _can_be_squared(x / plain.scale, g * plain.scale)
    if form == "marginal":
        wide = marginal(x, g, plain.scale)
        return (with_directions(wide, x, g, room) if has_room else wide).metric(room, dtype), Choice(form)
    if not has_room:
        return plain.metric(room, dtype), Choice("diagonal")
    choice = _choose(x, g, plain.scale) if form == "auto" else Choice(form)
    fit = _fit(choice.form, x, g, plain)
    if form == "auto" and turns:
        wide, remaining = marginal(x, g, plain.scale), remainder(fit, x, g, plain.scale)
        choice = replace(choice, remainder=remaining, spread=spread(g * wide.scale, widened(x, plain.scale)))
        ratio = gain(wide, fit, x, g)
        # Decided by the scales alone: with directions, a matrix would be left where it is the better form.
        does_pay = pays(ratio, former)
        if does_pay or asks_for_marginals(remaining, ratio):
            fit = with_directions(wide, x, g, room, remaining)
            choice = replace(choice, form="marginal", gain=ratio if does_pay else np.nan)
    return fit.metric(room, dtype), choice


def _fit(form: str, x: np.ndarray, g: np.ndarray, plain: Fit) -> Fit:
    """Score one form of metric, or several along leading axes; `plain` is the diagonal one."""
    if form == "low_rank":
        return low_rank(x, g, plain.scale, min(RANK, x.shape[-1]))
    return dense(x, g, plain.scale) if form == "dense" else plain


def _can_be_squared(x: np.ndarray, g: np.ndarray) -> bool:
    """Return whether sums of products of whitened draws and gradients stay finite; far out they may not."""
    return bool(np.all(np.abs(x) < _LARGEST) and np.all(np.abs(g) < _LARGEST))


def _choose(x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> Choice:
    """Compare forms by cross-validation: fit on most of the window, and judge on each held-out part in turn.

    What is judged is the Fisher divergence to a standard normal: the mean square of draw plus gradient, both whitened,
    about their mean where the metric was fitted.

    Parts are blocks in time, not every n-th draw: neighbours resemble each other, and would let a rich form look better
    than it is. Few draws are cut into more parts, so that those left to fit on are nearly as many as the metric will
    have: with two parts, ill-conditioned regressions kept a diagonal metric for so long that warm-up took a fifth more
    gradients.
    """
    num_draws, dim = x.shape
    if num_draws < _MANY_PARTS:
        return Choice("diagonal")
    forms = _candidates(num_draws, dim)
    losses = dict.fromkeys(forms, 0.0)
    num_parts = _MANY_PARTS if num_draws < _FEW_DRAWS else _FEW_PARTS
    for seen, unseen in _parts(num_draws, num_parts):
        of_seen = x[seen], g[seen]
        plain = diagonal(*of_seen, scale)
        for form in forms:
            if form == "dense":
                residual = dense_residual(of_seen, plain.scale, x, g)
            else:
                residual = _fit(form, *of_seen, plain).residual(x, g)
            losses[form] += _loss(residual, unseen)
    # Where there is room for a full matrix, fewer directions cost no less: they must be clearly better. While a tie
    # went to them, chains stuck in the narrow part of gp_pois_regr now and then.
    rich = forms[-1]
    if losses.get("low_rank", np.inf) < _GAIN * losses[rich]:
        rich = "low_rank"
    best = rich if losses[rich] < _GAIN * losses["diagonal"] else "diagonal"
    return Choice(best, np.array([losses.get(form, np.nan) / x.size for form in FISHER_FORMS]))


def _parts(num_draws: int, num_parts: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Yield used and held-out draws, each `(part, draw)`, for parts of one size and then of one less."""
    size, num_larger = divmod(num_draws, num_parts)
    first = num_larger * (size + 1)
    stacks = []
    for begin, end, length in ((0, first, size + 1), (first, num_draws, size)):
        if begin < end:
            starts = np.arange(begin, end, length)[:, None]
            others = np.arange(num_draws - length)
            stacks.append((others + length * (others >= starts), starts + np.arange(length)))
    return stacks


def _loss(residual: np.ndarray, unseen: np.ndarray) -> float:
    """Compute the sum of squares of held-out draws, `(part, draw)`, about the mean of the others."""
    left_out = residual[np.arange(len(unseen))[:, None], unseen]
    num_seen = residual.shape[1] - unseen.shape[1]
    centre = (residual.sum(1) - left_out.sum(1)) / num_seen
    return float(np.sum((left_out - centre[:, None]) ** 2))


def _candidates(num_draws: int, dim: int) -> list[str]:
    """Return the forms to compare, simplest first; low rank only if draws are too few for a full matrix."""
    if dim > MAX_DENSE_DIM:
        return [form for form in FISHER_FORMS if form != "dense"]
    return [form for form in FISHER_FORMS if form != "low_rank" or num_draws < _FEW_PER_DIM * dim]
