"""Hand a calibration to its report and its plots."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OptionError
from ..report.document.again import call_of, guide_of, sampler_of, target_of
from ..report.document.base import DOUBT, Document
from ..report.document.calibrated import CalibrationRun, by_p, document_of_calibration
from ..report.document.made import sampler_words
from ..report.figures.marks import Panel
from ..report.figures.picture import Picture
from ..report.figures.uniform import Ranked, overview, rank_ecdf, rank_histogram
from ..report.pictures import Kind, picture
from .kinds import is_of_fits
from .ranked import bars, columns_of
from .uniformity import Uniformity

if TYPE_CHECKING:
    from .calibration import Calibration

_PANELS = {"rank_ecdf": rank_ecdf, "rank": rank_histogram}


def document(found: "Calibration") -> Document:
    """Return the report of a calibration."""
    manifest = found.manifest
    is_fit = is_of_fits(manifest)
    by = guide_of(manifest["sampler"]["guide"]) if is_fit else sampler_words(manifest)
    num_draws = found.num_ranks - 1
    facts = {
        "Guide" if is_fit else "Sampler": by,
        "Simulations": f"{len(found.simulations)} of {found.requested} ranked",
        "Draws of each": f"{num_draws}" + (f", every {found.thinning}th kept" if found.thinning > 1 else ""),
        "Warm-up": "" if is_fit else f"{manifest['warmup']} draws as planned",
    }
    kind = "fits" if is_fit else "chains"
    state = "" if found.complete else ", incomplete"
    every = _ranked(found)
    return document_of_calibration(
        CalibrationRun(
            f"Calibration of {kind}: {len(found.simulations)} simulations \u00d7 {num_draws} draws by "
            f"{manifest['sampler']['guide']['name'] if is_fit else manifest['sampler']['name']}{state}",
            tuple((name, value) for name, value in facts.items() if value),
            _numbers(found),
            every,
            _sites_of(found),
            found.values,
            [bars(each.ranks, found.num_ranks) for each in every],
            [shape != "uniform" for shape in found.shapes],
            found.notices,
            found.problems,
            manifest,
            _again(found),
        )
    )


def plot(found: "Calibration", kind: object, sites: object, most: object) -> Picture:
    """See `Calibration.plot`."""
    if not found.simulations:
        raise OptionError("there are no ranks to plot: no simulation has all its draws. See `notices`.")

    def of(name: str) -> Kind:
        def draw(only: tuple[str, ...], count: int) -> Sequence[Panel]:
            owners = _sites_of(found)
            rows = np.flatnonzero(np.isin(owners, only))
            if len(rows) > count:
                rows = [row for row in by_p(found.values) if owners[row] in only][:count]
            every = _ranked(found, rows)
            return [_PANELS[name](each) for each in every]

        return Kind(draw)

    def all_of_them(only: tuple[str, ...], count: int) -> Sequence[Panel]:
        del only, count
        return [overview(_ranked(found), [shape != "uniform" for shape in found.shapes])]

    kinds = {**{name: of(name) for name in _PANELS}, "overview": Kind(all_of_them, shows="all parameters")}
    return picture(kinds, found.ranks, kind, sites, most)


def _ranked(found: "Calibration", rows: Sequence[int] | np.ndarray | None = None) -> list[Ranked]:
    """Return the ranks of parameters, all of them for None, with what the test says."""
    if not found.simulations:
        return []
    test = Uniformity(len(found.simulations), found.num_ranks)
    low, high = test.band()
    ranks = columns_of(found.ranks)
    return [
        Ranked(
            found.labels[row],
            ranks[:, row],
            found.num_ranks,
            _verdict(found, row),
            test.cuts,
            test.counts(ranks[:, row]),
            low,
            high,
        )
        for row in (range(len(found)) if rows is None else rows)
    ]


def _verdict(found: "Calibration", row: int) -> str:
    shape, adjusted = found.shapes[row], found.values["p_adjusted"][row]
    what = "Uniform, as far as so many simulations tell" if shape == "uniform" else f"Draws are {shape}"
    return f"{what}: p adjusted for all parameters is {adjusted:.2g}."


def _sites_of(found: "Calibration") -> list[str]:
    return [name for name, ranks in found.ranks.items() for _ in range(int(np.prod(ranks.shape[1:])))]


def _numbers(found: "Calibration") -> tuple[tuple[str, str], ...]:
    """Return the numbers that decide, each with its limit."""
    bad = [
        f"{label}: {shape}"
        for label, shape in zip(found.labels, found.shapes, strict=True)
        if shape != "uniform"
    ]
    numbers = [("Simulations with ranks", f"{len(found.simulations)} of {found.requested}")]
    if found.simulations:
        least = int(np.argmin(found.values["p"]))
        numbers.append(
            (
                "Smallest adjusted p",
                f"{found.values['p_adjusted'][least]:.2g} ({found.labels[least]}); wanted: at least {DOUBT}",
            )
        )
        listed = f" ({'; '.join(bad[:5])}{' and more' if len(bad) > 5 else ''})" if bad else ""
        numbers.append(("Parameters whose ranks are not uniform", f"{len(bad)} of {len(found)}{listed}"))
    return tuple(numbers)


def _again(found: "Calibration") -> str:
    """Write the call that makes the calibration again."""
    manifest = found.manifest
    is_fit = is_of_fits(manifest)
    by = guide_of(manifest["sampler"]["guide"]) if is_fit else sampler_of(manifest)
    options: dict[str, object] = {"simulations": found.requested, "draws": manifest["draws"]}
    if not is_fit:
        if "max_warmup" not in manifest["settings"]:  # else it was left to accord
            options["warmup"] = manifest["warmup"]
        options["thinning"] = manifest["thinning"]
    options |= {"seed": manifest["seed"], "precision": repr(manifest["precision"])}
    return call_of("calibration", "calibrate", (target_of(manifest, is_simulated=True), f"{by},"), options)
