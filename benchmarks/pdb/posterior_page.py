"""Write the page on posteriordb from the runs that were kept."""

from collections.abc import Sequence
from pathlib import Path

from database import Database
from launch import CURED
from left_out import LEFT_OUT
from registry import missing, problems
from results import Record
from standing import Standing, apart, disagreements, has_converged, mean, ratios, short, standings
from tables import table

COMMAND = "python benchmarks/posteriordb.py"
PEER = "numpyro"
AIM = 1.2  # accord's warm seconds per effective draw over NumPyro's, at most
LEAST = 0.5  # warm seconds of the peer, below which they cannot be told from what it compiles
MAX_APART = 6.0  # standard errors

Standings = dict[tuple[str, str], Standing]


def write(path: Path, runs: Sequence[Record], database: Database) -> None:
    """Write the page."""
    if not runs:
        raise SystemExit("There are no runs to write about: run without --page first.")
    path.write_text(page(runs, database))


def page(runs: Sequence[Record], database: Database) -> str:
    """The Markdown of the page."""
    found = standings(runs)
    posteriors = sorted(
        {run["posterior"] for run in runs}, key=lambda name: (name.startswith("simulated-"), name.lower())
    )
    engines = sorted({run["engine"] for run in runs} - {CURED})
    parts = [
        "# posteriordb",
        f"<!-- Written by {COMMAND} --page: run it again instead of changing this page. -->",
        _head(runs, posteriors),
        "## Which runs converged",
        "A run has converged if it ended within the limit, R-hat of every unknown is at most 1.01, and accord gave no "
        "notice of severity error. Beside each count stands the largest R-hat of the runs, or what stopped them.",
        table(
            ["engine", "posteriors", "converged with every seed", "with some", "with none"],
            _totals(found, engines),
        ),
        table(
            ["posterior", "unknowns", *(f"{engine}{what}" for engine in engines for what in ("", ", R-hat"))],
            [_convergence(found, posterior, engines) for posterior in posteriors],
        ),
        "## Seconds of CPU per 1000 effective draws",
        "Effective draws are the smallest bulk ESS over all unknowns. Cold: CPU time from the call to draws, with "
        "nothing compiled before. Warm: without tracing and compiling; a short run is made a second time for it. "
        f"Medians over the runs that converged; ratios where every run of both did, and warm ones where {PEER} takes "
        f"at least {LEAST} seconds of CPU: it compiles in every run, and less cannot be told from that.",
        *_times(found, posteriors, engines),
        "## What accord said where it did not converge",
        _said(found, posteriors),
        "## Agreement",
        _agreement(found, posteriors, engines),
        "## Posteriors that were left out",
        _left_out(database, posteriors),
    ]
    return "\n\n".join(parts) + "\n"


def _head(runs: Sequence[Record], posteriors: Sequence[str]) -> str:
    dates = sorted({run["date"] for run in runs})
    simulated = sum(name.startswith("simulated-") for name in posteriors)
    load = sum(run["load"] for run in runs) / len(runs)
    own = f" and {simulated} models with simulated data" if simulated else ""
    return (
        f"{len(runs)} runs of {len(posteriors) - simulated} posteriors of [posteriordb](https://github.com/stan-dev/posteriordb)"
        f"{own}, {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, with {_versions(runs)}, on "
        f"{', '.join(sorted({run['machine'] for run in runs}))}, {max(run['cores'] for run in runs)} cores; mean load "
        f"before a run {load:.1f}. Each run is a process of its own with 4 chains in float64; limit {_limit(runs)}. "
        "Both engines run at their defaults, from one source of each model. The models are translations of "
        "the Stan programs with the same parameters, and centred where those are. "
        "[How it is measured](../benchmarks/README.md)."
    )


def _versions(runs: Sequence[Record]) -> str:
    """Name each package with its versions, and say how many commits of accord the runs are of, if more than one."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for name, number in run["versions"].items():
            found.setdefault(name, set()).add(number)
    words = []
    for name, numbers in sorted(found.items()):
        releases = ", ".join(sorted({number.split()[0] for number in numbers}))
        commits = len({number for number in numbers if " " in number})
        words.append(f"{name} {releases}" + (f" at {commits} commits" if commits > 1 else ""))
    return ", ".join(words)


def _limit(runs: Sequence[Record]) -> str:
    cpu = sorted({run["cpu_limit"] for run in runs if run.get("cpu_limit") is not None})
    limits, unit = (cpu, "seconds of CPU") if cpu else (sorted({run["limit"] for run in runs}), "seconds")
    return " to ".join(f"{limit:.0f}" for limit in dict.fromkeys((limits[0], limits[-1]))) + f" {unit}"


def _totals(found: Standings, engines: Sequence[str]) -> list[list[str]]:
    rows = []
    for engine in engines:
        mine = [standing for (_, name), standing in found.items() if name == engine]
        sound = sum(standing.is_sound for standing in mine)
        none = sum(not standing.converged for standing in mine)
        rows.append([engine, *map(str, (len(mine), sound, len(mine) - sound - none, none))])
    return rows


def _convergence(found: Standings, posterior: str, engines: Sequence[str]) -> list[str]:
    mine = [found.get((posterior, engine), Standing(())) for engine in engines]
    sizes = {str(run["num_unknowns"]) for standing in mine for run in standing.runs if "num_unknowns" in run}
    return [
        posterior,
        ", ".join(sorted(sizes)),
        *(text for each in mine for text in (each.count, each.worst)),
    ]


def _times(found: Standings, posteriors: Sequence[str], engines: Sequence[str]) -> list[str]:
    kinds = {"cold": "cpu_seconds", "warm": "warm_cpu_seconds"}
    by_kind = {
        kind: ratios(found, posteriors, PEER, "accord", figure, LEAST if kind == "warm" else 0.0)
        for kind, figure in kinds.items()
    }
    header = ["posterior"]
    for kind in kinds:
        header += [*(f"{engine}, {kind}" for engine in engines), f"{PEER} / accord, {kind}"]
    rows = []
    for posterior in posteriors:
        row = [posterior]
        for kind, figure in kinds.items():
            values = [
                found[posterior, e].per_thousand(figure) if (posterior, e) in found else None for e in engines
            ]
            row += ["" if value is None else f"{value:.3g}" for value in values]
            row.append(f"{by_kind[kind][posterior]:.3g}" if posterior in by_kind[kind] else "")
        if any(row[1:]):
            rows.append(row)
    slower = {name: 1 / ratio for name, ratio in by_kind["warm"].items() if ratio < 1 / AIM}
    worst = sorted(slower, key=lambda name: -slower[name])
    listed = ", ".join(f"{name} ({slower[name]:.2f})" for name in worst) or "nowhere"
    summary = (
        f"Geometric means of {PEER}'s seconds over accord's: {mean(by_kind['cold'].values())} cold, "
        f"{mean(by_kind['warm'].values())} warm, on {len(by_kind['warm'])} posteriors. More than {AIM} times "
        f"{PEER}'s warm seconds: {listed}."
    )
    return [summary, table(header, rows)]


def _said(found: Standings, posteriors: Sequence[str]) -> str:
    rows, silent = [], []
    for posterior in posteriors:
        for run in found.get((posterior, "accord"), Standing(())).runs:
            if has_converged(run):
                continue
            notices = run.get("notices", [])
            if not notices and not run["error"]:
                silent.append(f"{posterior} (seed {run['seed']})")
            rhat = f"{run['max_r_hat']:.3f} ({run['worst']})" if "max_r_hat" in run else ""
            said = ", ".join(f"{notice['severity']} `{notice['code']}`" for notice in notices)
            metrics = ", ".join(dict.fromkeys(run.get("metric", ())))
            rows.append(
                [
                    posterior,
                    str(run["seed"]),
                    rhat,
                    str(run.get("divergences", "")),
                    metrics,
                    said or short(run["error"]),
                    *_cured(found.get((posterior, CURED), Standing(())).runs, run["seed"]),
                ]
            )
    if not rows:
        return "Every run converged."
    header = ["posterior", "seed", "R-hat", "divergences", "metric", "notices", "what was done", "R-hat then"]
    told = (
        f"Without any notice: {', '.join(silent)}."
        if silent
        else "None of these runs was without a notice or an error."
    )
    cured = (
        "The last two columns are of what the notices said, by their own words: components of the same draws matched "
        "by the line that they print; where there is none, or more is asked for, of further runs, at most three, each "
        "by what the notices of the one before say: with proper priors for what runs away, where the model is also "
        "written with them, else with the model changed by such a line, else in the non-centred form that they ask "
        "for, where it is also written in it, else by the sampler that they name, else with a higher acceptance target "
        "where draws diverged and the number of draws that they ask for."
    )
    return f"{told} {cured}\n\n{table(header, rows)}"


def _cured(runs: Sequence[Record], seed: int) -> list[str]:
    """Return what was done about a run that did not converge, and the R-hat of the run after it."""
    mine = [run for run in runs if run["seed"] == seed]
    if not mine:
        return ["", ""]
    run = mine[0]
    if "max_r_hat" not in run or run["error"]:
        return [run.get("cure", ""), short(run["error"])]
    doubt = "" if has_converged(run) else ", not converged"
    return [run["cure"], f"{run['max_r_hat']:.3f}{doubt}"]


def _agreement(found: Standings, posteriors: Sequence[str], engines: Sequence[str]) -> str:
    judged = sum(run.get("reference_z") is not None for each in found.values() for run in each.converged)
    wrong = [f"{name} ({engine}, {z:.1f})" for name, engine, z in disagreements(found, posteriors)]
    differ = []
    for posterior in posteriors:
        pair = [found.get((posterior, engine), Standing(())) for engine in ("accord", PEER)]
        gap = apart(*pair)
        if gap > MAX_APART:
            differ.append(f"{posterior} ({gap:.1f})")
    compared = f"; between accord and {PEER}: {', '.join(differ) or 'none'}" if PEER in engines else ""
    return (
        f"Of {judged} converged runs with reference draws, means differ by more than {MAX_APART:.0f} standard errors "
        f"from the reference in: {', '.join(wrong) or 'none'}{compared}.{_largest(found, engines)}"
    )


def _largest(found: Standings, engines: Sequence[str]) -> str:
    """Name the run of each engine that converged furthest from its reference."""
    words = []
    for engine in engines:
        scored = [
            (run["reference_z"], posterior)
            for (posterior, other), standing in found.items()
            if other == engine
            for run in standing.converged
            if run.get("reference_z") is not None
        ]
        if scored:
            z, posterior = max(scored)
            words.append(f"{posterior} for {engine} ({z:.1f} standard errors)")
    return f" The furthest from its reference is {', and '.join(words)}." if words else ""


def _left_out(database: Database, posteriors: Sequence[str]) -> str:
    rows = [[name, LEFT_OUT.get(model, "No model here yet.")] for name, model in missing(database).items()]
    rows += [[name, "Not run yet."] for name in problems(database) if name not in posteriors]
    return table(["posterior", "reason"], rows) if rows else "None."
