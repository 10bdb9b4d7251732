"""Judge how chains moved, and what their trajectories cost."""

from collections.abc import Iterator, Mapping

import numpy as np

from ...core.notice import Notice
from ..diagnostics import e_bfmi
from ..evidence import Evidence
from ..separation import Groups, best_scalar
from .extent import FEW_DRAWS
from .words import chain_list, non_centred, percent

E_BFMI_LOW = 0.3  # Stan's diagnose warns below the same
SATURATED_SHARE = 0.01  # of the draws: below this, deep trees cost time and nothing else
ALONG = 0.2  # of a half: how well a scalar must tell high energies from low ones to be named
STILL_SHARE = 0.5  # of draws that repeat the one before; HMC at its target repeats a fifth
STUCK_SHARE = 0.9
FAR_BELOW = 0.25  # of the target: so low an acceptance is that of a step for another place
LONGER = 3  # times the warm-up that ended too early
STEP_SIZES = (1e-5, 1e5)  # in whitened units, in which a good step is between 0.1 and 2


def constant_chains(run: Evidence) -> Iterator[Notice]:
    """Find chains that never moved. A scalar that is constant in all chains, as a diagonal, is no fault."""
    if run.num_draws < 4 or not run.num_scalars:
        return
    num_moving = np.zeros(len(run.chains), int)
    stuck: list[tuple[str, int]] = []
    stuck_chains: set[int] = set()
    for name, scalars, draws in run.picked():
        still = (draws == draws[:, :1]).all(axis=1)
        num_moving += (~still).sum(axis=1)
        # A count may stay constant in one chain, also if it is stored as a float.
        meant = (draws == draws[:1, :1]).all(axis=(0, 1)) | _is_whole(draws)
        stuck += [(name, int(scalars[index])) for index in np.flatnonzero(still.any(axis=0) & ~meant)]
        stuck_chains |= set(np.flatnonzero(still[:, ~meant].any(axis=1)).tolist())
    unmoved = np.flatnonzero(num_moving == 0)
    if unmoved.size:
        message = f"{chain_list(run, unmoved)} did not move in {run.num_draws} draws."
    elif stuck:
        where = chain_list(run, sorted(stuck_chains))
        share = f"{len(stuck)} of {run.num_scalars} parameters"
        message = f"{where} did not move in {share}, such as {run.label(*stuck[0])}."
    else:
        return
    remedy = f"Look at {_how_they_move(run)}, and at the model at that position."
    yield Notice("error", "constant_chains", message, remedy)


def slow_chains(run: Evidence) -> Iterator[Notice]:
    """Find chains that mostly stay in place; `constant_chains` has those that never moved."""
    if run.num_draws < FEW_DRAWS or not run.num_scalars:
        return
    still = np.ones((len(run.chains), run.num_draws - 1), bool)
    for _, _, draws in run.picked():
        still &= (draws[:, 1:] == draws[:, :-1]).all(axis=2)
    shares = still.mean(axis=1)
    # A random walk refuses most proposals at its best, and nothing says what is usual for a kernel without a target.
    usual = STUCK_SHARE if run.target_accept is None else max(STILL_SHARE, 1 - 0.5 * run.target_accept)
    slow = np.flatnonzero((shares > usual) & (shares < 1))
    if slow.size:
        worst = shares[slow].max()
        yield Notice(
            "error" if worst > STUCK_SHARE else "warning",
            "slow_chains",
            f"{chain_list(run, slow)} stayed in place for up to {percent(worst)} of the draws.",
            f"{_after_warm_up(run, slow)}; reparameterise a narrow part of the posterior, or use float64.",
        )


def _after_warm_up(run: Evidence, slow: np.ndarray) -> str:
    """Say what to look at first in `slow` chains: longer warm-up where steps do not suit the place they are in now."""
    rates = run.stats.get("acceptance_rate")
    if rates is None or run.target_accept is None:
        return f"Look at {_how_they_move(run)}"
    least = float(np.asarray(rates, np.float64)[slow].mean(axis=1).min())
    if not least < FAR_BELOW * run.target_accept:
        return f"Look at {_how_they_move(run)}"
    longer = f", such as `warmup={LONGER * run.num_warmup}`" if run.num_warmup else ""
    return (
        f"Their mean acceptance is down to {least:.2f}, with an aim of {run.target_accept:g}: the steps suit another "
        f"place, in which warm-up has ended. Use a longer warm-up{longer}. If that does not help, look at "
        f"{_how_they_move(run)}"
    )


def step_sizes(run: Evidence) -> Iterator[Notice]:
    """Find step sizes outside of the usual range."""
    if run.step_size is None:
        return
    low, high = STEP_SIZES
    bad = np.flatnonzero((run.step_size < low) | (run.step_size > high))
    if bad.size:
        worst = float(run.step_size[bad[np.argmax(np.abs(np.log(run.step_size[bad])))]])
        small = (
            "Nothing smaller was accepted: look for a jump in the log density, a wrong gradient, or "
            "rounding (precision='float64')."
        )
        large = "The log density hardly changes: look for an improper posterior, or a site that nothing depends on."
        yield Notice(
            "error",
            "step_size",
            f"The step size of {chain_list(run, bad).lower()} ended at its bound: {worst:.2g}, where about 1 is usual.",
            small if worst < low else large,
        )


def saturated_trees(run: Evidence) -> Iterator[Notice]:
    """Find trajectories that the limit on their length ended."""
    depth = run.stats.get("tree_depth")
    if depth is None or run.max_tree_depth is None:
        return
    is_long, step_size = depth >= run.max_tree_depth, run.stats.get("step_size")
    if step_size is not None and run.step_size is not None:
        # In a curved posterior some draws take shorter steps on purpose, and many of them.
        is_long &= step_size > 0.75 * run.step_size[:, None]
    count = int(is_long.sum())
    if count:
        yield Notice(
            "warning" if count >= SATURATED_SHARE * depth.size else "info",
            "tree_depth",
            f"{count} of {depth.size} draws ({percent(count / depth.size)}) "
            f"reached max_tree_depth {run.max_tree_depth}.",
            "The draws are valid but expensive: rescale or reparameterise the model, or raise max_tree_depth.",
        )


def has_low_e_bfmi(stats: Mapping[str, np.ndarray]) -> bool:
    """Return whether `low_e_bfmi` finds any, from statistics of shape `(chain, draw)`."""
    energy = stats.get("energy")
    return energy is not None and energy.shape[1] >= FEW_DRAWS and bool(np.any(e_bfmi(energy) < E_BFMI_LOW))


def low_e_bfmi(run: Evidence) -> Iterator[Notice]:
    """Find chains whose energy changes too little from draw to draw."""
    energy = run.stats.get("energy")
    if energy is None or run.num_draws < FEW_DRAWS:
        return
    values = e_bfmi(energy)
    low = np.flatnonzero(values < E_BFMI_LOW)
    if low.size:
        worst = int(low[np.argmin(values[low])])
        is_high = energy > np.median(energy)
        score, name, scalar = best_scalar(run, Groups(is_high, ~is_high))
        most = f", most along {run.label(name, scalar)}" if abs(score) > ALONG else ""
        on = f"what depends on {run.label(name, scalar)}" if most else "heavy tails and varying scales"
        form = non_centred(run, name) if most else ""
        form = form or f"Reparameterise {on} (a non-centred form)"
        yield Notice(
            "warning",
            "e_bfmi",
            f"E-BFMI is below {E_BFMI_LOW} in {low.size} of {len(values)} chains, "
            f"lowest {values[worst]:.2f} in chain {run.chains[worst]}: tails are explored slowly{most}.",
            f"{form}, or take more draws.",
            (name,) if most else (),
        )


def _how_they_move(run: Evidence) -> str:
    """Return where the draws say how chains move."""
    has_step = run.step_size is not None or "step_size" in run.stats
    return (
        "their step size and acceptance rate in `draws.stats`"
        if has_step
        else "`draws.stats` and `draws.tuning`"
    )


def _is_whole(draws: np.ndarray) -> np.ndarray:
    """Return which scalars take only whole numbers, shape `(n,)`."""
    return (draws == np.floor(draws)).all(axis=(0, 1))
