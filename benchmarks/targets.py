"""Hold what was measured to what accord aims at; where a figure is missed, say by how much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from cells import Cell, mean_of, ratios
from engines import ENGINES
from leftovers import FROM, STEP_EXTRA_AIM, STEP_RATIO_AIM, Step, lost_of, steps_of
from results import Record
from tables import Cells

COLD_AIM = 2.5  # times better than the best peer
# Times better. Two ways of one library are held to the same models, those on which all converged; both must be beaten.
GRADIENT_AIMS = {("numpyro",): 15.0, ("nutpie_low_rank", "nutpie_pymc_low_rank"): 1.2}
DIAGONAL_AIM = 0.9  # of the best engine whose metric is diagonal, on every posterior
FIRST_DRAW_AIM = 1.5  # seconds
FAIR = 0.5  # of the models: a peer that converges on fewer is no best peer


@dataclass(frozen=True)
class Verdict:
    """One aim: what it is, what was measured, and by how much it is missed; None where it was not measured."""

    what: str
    aim: str
    figure: str
    missed: str | None

    @property
    def row(self) -> list[str]:
        """Of a table."""
        state = (
            "not measured" if self.missed is None else f"**missed**: {self.missed}" if self.missed else "met"
        )
        return [self.what, self.aim, self.figure, state]


def verdicts(cells: Cells, models: Sequence[str], runs: Sequence[Record], folder: Path) -> list[Verdict]:
    """All aims, from the cells of cold runs, all runs, and what the other commands left in `folder`."""
    return [
        cold(cells, models),
        *gradients(cells, models),
        diagonal(cells, models),
        first_draw(runs),
        against_stan(cells, models),
        steps(steps_of(folder / "overhead.md")),
        lost(lost_of(folder / "lost_chains.txt")),
    ]


def best_peer(cells: Cells, models: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The peer nearest to accord by cold seconds per effective draw, and its ratio to accord on each model."""
    found = {
        peer: ratios(cells, models, peer, "accord", "cold")
        for peer in dict.fromkeys(engine for _, engine in cells if engine != "accord")
    }
    fair = {peer: ratio for peer, ratio in found.items() if len(ratio) >= max(1, FAIR * len(models))}
    if not fair:
        return "", {}
    name = min(fair, key=lambda peer: mean_of(fair[peer]))
    return name, fair[name]


def cold(cells: Cells, models: Sequence[str]) -> Verdict:
    """Seconds per 1000 effective draws from a cold start, against the best peer."""
    peer, found = best_peer(cells, models)
    what, aim = "cold seconds per 1000 effective draws", f"{COLD_AIM} times better than the best peer"
    if not found:
        return Verdict(what, aim, "", None)
    mean = mean_of(found)
    figure = f"{mean:.2f} times better than {peer}, on {len(found)} models"
    return Verdict(what, aim, figure, "" if mean >= COLD_AIM else f"{mean / COLD_AIM:.2f} of the aim")


def gradients(cells: Cells, models: Sequence[str]) -> list[Verdict]:
    """ESS per gradient, warm-up included."""
    found = []
    for peers, aim in GRADIENT_AIMS.items():
        ratio = {peer: ratios(cells, models, "accord", peer, "ess_per_gradient") for peer in peers}
        measured = [each.keys() for each in ratio.values() if each]
        common = set(models).intersection(*measured)
        which = "models" if len(measured) < 2 else "models that all completed"
        for peer in peers:
            among = {model: each for model, each in ratio[peer].items() if model in common}
            what, wanted = f"ESS per gradient over {peer}'s", f"{aim} times"
            if not among:
                found.append(Verdict(what, wanted, "", None))
                continue
            mean = mean_of(among)
            figure = f"{mean:.2f} times, on {len(among)} {which}"
            found.append(Verdict(what, wanted, figure, "" if mean >= aim else f"{mean / aim:.2f} of the aim"))
    return found


def best_diagonal(cells: Cells, model: str) -> Cell | None:
    """The engine with a diagonal metric that has most effective draws per gradient on a model."""
    among = [
        each
        for (name, engine), each in cells.items()
        if name == model
        and ENGINES[engine].is_diagonal
        and not each.failure
        and np.isfinite(each.values["ess_per_gradient"])
    ]
    return max(among, key=lambda each: each.values["ess_per_gradient"], default=None)


def over_diagonal(cells: Cells, models: Sequence[str]) -> dict[str, float]:
    """By model, accord's ESS per gradient over that of the best engine with a diagonal metric; 0 if accord failed."""
    found = {}
    for model in models:
        other, mine = best_diagonal(cells, model), cells.get((model, "accord"))
        if other is None or mine is None or mine.failure == "not run":
            continue
        one = 0.0 if mine.failure else mine.values["ess_per_gradient"]
        found[model] = one / other.values["ess_per_gradient"]
    return found


def diagonal(cells: Cells, models: Sequence[str]) -> Verdict:
    """On no posterior may the metric cost more than it brings."""
    found = over_diagonal(cells, models)
    what, aim = "ESS per gradient over the best diagonal metric's", f"{DIAGONAL_AIM} on every posterior"
    return _everywhere(what, aim, found, below=DIAGONAL_AIM)


def first_draw(runs: Sequence[Record]) -> Verdict:
    """Seconds from the call to one draw, warm-up included, in a process that finds its programs compiled."""
    seconds = [run["seconds"] for run in runs if run["engine"] == "accord_first_draw" and not run["error"]]
    what, aim = "warm seconds to the first draw, eight_schools", f"{FIRST_DRAW_AIM}"
    if not seconds:
        return Verdict(what, aim, "", None)
    figure = f"{median(seconds):.2f}, the median of {len(seconds)}"
    over = median(seconds) - FIRST_DRAW_AIM
    return Verdict(what, aim, figure, "" if over <= 0 else f"by {over:.2f} s")


def over_stan(cells: Cells, models: Sequence[str]) -> dict[str, float]:
    """By model, Stan's seconds of running per effective draw over accord's; by its own clock, where that says less."""
    found = {}
    for model in models:
        pair = [cells.get((model, engine)) for engine in ("pystan", "accord")]
        if all(each is not None and not each.failure for each in pair):
            stan, accord = (each.values for each in pair if each is not None)
            # Not a number where Stan did not say, and too much where more chains than cores shared them.
            found[model] = np.fmin(stan["own_clock"], stan["run"]) / accord["run"]
    return found


def against_stan(cells: Cells, models: Sequence[str]) -> Verdict:
    """Seconds of warm-up and sampling per effective draw, without compiling."""
    what, aim = "run time per effective draw, Stan's over accord's", "1 on every posterior"
    return _everywhere(what, aim, over_stan(cells, models), below=1.0)


def _everywhere(what: str, aim: str, found: Mapping[str, float], below: float) -> Verdict:
    if not found:
        return Verdict(what, aim, "", None)
    short = {model: ratio for model, ratio in found.items() if ratio < below}
    mean = mean_of({model: ratio for model, ratio in found.items() if ratio > 0})
    figure = f"{min(found.values()):.2f} at least, {mean:.2f} on average, on {len(found)} models"
    return Verdict(what, aim, figure, ", ".join(f"{model} {ratio:.2f}" for model, ratio in short.items()))


def steps(found: Sequence[Step]) -> Verdict:
    """What a step of NUTS costs beyond its gradient."""
    aim = f"{STEP_RATIO_AIM} times the gradient from {FROM:.0f} µs on, {STEP_EXTRA_AIM} µs more below"
    if not found:
        return Verdict("a step of NUTS", aim, "", None)
    extra = [each.step - each.gradient for each in found if each.gradient < FROM]
    ratio = [each.step / each.gradient for each in found if each.gradient >= FROM]
    parts = [f"{median(extra):.1f} µs more in the median of {len(extra)}"] if extra else []
    parts += [f"{max(ratio):.2f} times at most of {len(ratio)}"] if ratio else []
    missed = [
        f"{each.model} {each.step / each.gradient:.2f} times"
        if each.gradient >= FROM
        else f"{each.model} {each.step - each.gradient:.1f} µs"
        for each in found
        if not each.is_met
    ]
    return Verdict("a step of NUTS", aim, ", ".join(parts), ", ".join(missed))


def lost(found: Mapping[int, int]) -> Verdict:
    """Chains that end in the far mode of arma11."""
    what, aim = "arma11, chains lost", "none in 20 seeds"
    if not found:
        return Verdict(what, aim, "", None)
    figure = f"{sum(found.values())} of {4 * len(found)} chains, in {len(found)} seeds"
    missed = ", ".join(f"seed {seed}: {count}" for seed, count in found.items() if count)
    return Verdict(what, aim, figure, missed)
