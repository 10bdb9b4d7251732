"""Make the notices of a calibration."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.notice import Notice, by_severity
from ..report.document.base import DOUBT
from .calibration import Calibration, Trial
from .kinds import is_of_fits
from .ranked import LP

_CERTAIN = 1e-4  # adjusted p-value below which draws are not to be used
_MAX_NAMED = 5
_REMEDY = (
    "The draws do not follow the posterior of the simulated data: look for divergences and short warm-up, and "
    "for a distribution whose draws do not follow its density. `calibration.plot()` shows where."
)
_REMEDY_OF_FITS = (
    "The guide does not follow the posterior of the simulated data: take one that can bend or correlate (FullRank, "
    "Flow), write the model in a non-centred form, or draw with infer.sample. `calibration.plot()` shows where."
)


def findings(found: Calibration, trials: Sequence[Trial]) -> list[Notice]:
    """Return the notices of a calibration, most severe first."""
    return by_severity(
        [
            *_incomplete(found, trials),
            *_failed(found, trials),
            *_divergent(trials),
            *_heavy_weights(found, trials),
            *_uneven(found),
            *_dependent(found, trials),
        ]
    )


def _incomplete(found: Calibration, trials: Sequence[Trial]) -> Iterator[Notice]:
    """A calibration that was stopped, or whose folder is damaged."""
    num_done = f"{len(trials)} of {found.requested} simulations"
    if found.problems:
        num_more = len(found.problems) - 1
        more = f" There are {num_more} more in `calibration.problems`." if num_more else ""
        yield Notice(
            "error",
            "damaged",
            f"The folder of the run is damaged, and {num_done} are whole: {found.problems[0]}{more}",
            "`infer.resume` sets aside what is damaged, and runs again what is missing.",
        )
    elif not found.complete:
        yield Notice(
            "error",
            "incomplete",
            f"The calibration stopped after {num_done}.",
            "The finished ones are valid; run it again with the same seed for all."
            if found.location is None or not trials
            else f"The finished ones are valid; infer.resume({found.location!r}, model) runs the others.",
        )


def _failed(found: Calibration, trials: Sequence[Trial]) -> Iterator[Notice]:
    """Simulations with errors; leaving them out would favour what went well."""
    bad = [trial for trial in trials if not trial.ranks or _errors(trial)]
    if not bad:
        return
    num_out = sum(not trial.ranks for trial in bad)
    named = ", ".join(f"{trial.number} ({_why(trial)})" for trial in bad[:_MAX_NAMED])
    more = f" and {len(bad) - _MAX_NAMED} more" if len(bad) > _MAX_NAMED else ""
    counted = (
        f" {num_out} of them have no ranks, and those of the others may look the better for it."
        if num_out
        else ""
    )
    yield Notice(
        "error",
        "failed_simulations",
        f"{len(bad)} of {len(trials)} simulations failed or have draws that must not be used: "
        f"{named}{more}.{counted}",
        f"{_again(found, bad[0])}; `calibration.seeds` has the others. Priors that allow absurd data are the usual "
        "cause.",
    )


def _errors(trial: Trial) -> list[str]:
    """Return the codes of what makes draws unusable; a calibration of fits tests what a high Pareto k warns of."""
    return [n.code for n in trial.notices if n.severity == "error" and n.code != "high_pareto_k"]


def _again(found: Calibration, trial: Trial) -> str:
    """Say how to make a simulation again."""
    same = "guide and precision" if is_of_fits(found.manifest) else "sampler, warmup and precision"
    return (
        f"`infer.simulate_and_recover(model, seed={trial.seed})`, with the {same} as here, makes simulation "
        f"{trial.number} again"
    )


def _why(trial: Trial) -> str:
    errors = _errors(trial)
    if trial.error is not None:
        return f"{type(trial.error).__name__}: {str(trial.error).split('. ')[0]}"
    return ", ".join(errors) or "the log density of the truth is not finite"


def _divergent(trials: Sequence[Trial]) -> Iterator[Notice]:
    found = [trial for trial in trials if any(n.code == "divergences" for n in trial.notices)]
    if found:
        yield Notice(
            "warning" if len(found) > 0.1 * len(trials) else "info",
            "divergences",
            f"Trajectories diverged in {len(found)} of {len(trials)} simulations, the first is {found[0].number}.",
            f"`infer.simulate_and_recover(model, seed={found[0].seed})`, with the sampler, warmup and precision as "
            "here, makes it again. Raise target_accept, or reparameterise.",
        )


def _heavy_weights(found: Calibration, trials: Sequence[Trial]) -> Iterator[Notice]:
    """Fits whose guide has far less mass than the posterior in places."""
    high = [trial for trial in trials if any(n.code == "high_pareto_k" for n in trial.notices)]
    if high:
        yield Notice(
            "warning" if len(high) > 0.1 * len(trials) else "info",
            "high_pareto_k",
            f"Pareto k of the guide is above 0.7 in {len(high)} of {len(trials)} simulations, the first is "
            f"{high[0].number}: in places the posterior has far more mass than the guide.",
            f"{_again(found, high[0])}. The ranks say how far it matters for each parameter by itself.",
        )


def _uneven(found: Calibration) -> Iterator[Notice]:
    adjusted = found.values["p_adjusted"]
    bad = np.flatnonzero(adjusted < DOUBT)
    if not len(bad):
        return
    worst = bad[np.argsort(found.values["p"][bad], kind="stable")]
    named = ", ".join(f"{found.labels[i]!r} {found.shapes[i]}" for i in worst[:_MAX_NAMED])
    more = f" and {len(bad) - _MAX_NAMED} more" if len(bad) > _MAX_NAMED else ""
    start, touched = 0, []
    for name, ranks in found.ranks.items():
        stop = start + ranks[0].size
        if name != LP and np.any((bad >= start) & (bad < stop)):
            touched.append(name)
        start = stop
    least = float(adjusted[worst[0]])
    yield Notice(
        "error" if least < _CERTAIN else "warning",
        "not_calibrated",
        f"Ranks are not uniform for {len(bad)} of {len(found)} parameters (adjusted p = {least:.2g}): draws of "
        f"{named}{more}.",
        _REMEDY_OF_FITS if is_of_fits(found.manifest) else _REMEDY,
        tuple(touched),
    )


def _dependent(found: Calibration, trials: Sequence[Trial]) -> Iterator[Notice]:
    """Draws that are too much alike have ranks at the ends though each is right."""
    done = [trial.effective for trial in trials if trial.effective]
    num_draws = found.num_ranks - 1
    if not done:
        return
    every = np.array([np.concatenate([each[name] for name in found.ranks]) for each in done])
    known = ~np.isnan(every).all(axis=0)
    if not known.any():
        return
    usual = np.where(known, np.nanmedian(np.where(known, every, num_draws), axis=0), np.inf)
    least = int(np.argmin(usual))
    if usual[least] < num_draws / 2:
        wanted = int(np.ceil(found.thinning * num_draws / max(usual[least], 1.0)))
        yield Notice(
            "warning",
            "dependent_draws",
            f"The {num_draws} draws of {found.labels[least]!r} are worth {usual[least]:.0f} independent ones in the "
            f"median simulation, which moves ranks to the ends.",
            f"Take thinning={wanted}; here it is {found.thinning}.",
        )
