"""Do what the notices of a run say, by their own words: change the model by the line that they print, or the run."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from accord import handlers, infer, reparam
from accord.core.notice import Notice
from other_forms import NON_CENTRED, PROPER

DRAWS = 1000  # of each chain by default
MOST = 20  # times as many draws as by default
LONGER = 4  # times as many where a notice asks for more draws without a number
TARGET = 0.99
MOST_STEPS = 3  # further runs, each by what the notices of the one before say

_SAMPLER = re.compile(r"`infer\.sample\(model, (infer\.\w+\(.*?\))\)`")
_PROPER = re.compile(r"[Gg]ive '(.+?)' a proper prior, with which `(infer\.\w+\(.*?\))`")
_BOUNDED = re.compile(r"Give '(.+?)' a proper prior, with a scale")
_LINE = re.compile(r"`(handlers\.reparam\(model, .+?\))`")
_RELABEL = re.compile(r"`(infer\.relabel\(draws, .+?\))`")
_TIMES = re.compile(r"about (\d+) times as many draws")


def cured(model: Any, draws: Any, sampled: Callable[..., Any]) -> tuple[Any, str]:
    """Do what the notices of a run that did not converge say, by `sampled(model, **options)`, until one converges.

    **Returns** the last draws, with their components matched where a notice gave the line for it, and what was done, in
    words.
    """
    options: dict[str, Any] = {}
    done = []
    draws, matching = relabelled(draws)
    is_unfinished = not matching or has_more_to_do(draws.notices)
    while is_unfinished and len(done) < MOST_STEPS:
        model, further, words = cure(model, draws.notices, options)
        if not words:
            break
        done.append(words)
        options |= further
        draws, matching = relabelled(sampled(model, **options), matching)
        is_unfinished = any(notice.code == "r_hat" or notice.severity == "error" for notice in draws.notices)
    return draws, ", then ".join(filter(None, (*done, matching)))


def relabelled(draws: Any, before: str = "") -> tuple[Any, str]:
    """Return draws whose components are matched, if a notice gives the line for it, and what was done, in words.

    `before`: what was done to an earlier run, and is done again.
    """
    told = " ".join(notice.remedy for notice in draws.notices)
    for line in _RELABEL.findall(told) or _RELABEL.findall(before):
        return eval(line, {"infer": infer, "draws": draws}), f"`{line}`"
    return draws, ""


def has_more_to_do(notices: Sequence[Notice]) -> bool:
    """Return whether notices of matched components ask for more than that."""
    return any(
        notice.code != "relabelled" and (notice.severity != "info" or notice.code == "r_hat")
        for notice in notices
    )


def cure(
    model: Any, notices: Sequence[Notice], before: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, Any], str]:
    """Return the model and the options of `infer.sample` that the remedies ask for, and what was done, in words.

    `before`: options of the run that the notices are of, None for the defaults; its sampler stays. Proper priors for
    what runs away go before all else, for a model that is also written with them, then a line that reparameterises,
    then a non-centred form, for a model that is also written in one, then a line that names a sampler, perhaps with the
    proper priors that it needs, likewise. Without any, the acceptance target is raised where draws diverged or chains
    stayed in place, and there are more draws where chains disagree or effective draws are few.
    """
    before = before or {}
    bounded = [found for notice in notices for found in _BOUNDED.findall(notice.remedy)]
    if bounded and model.name in PROPER:
        return PROPER[model.name](**model.arguments), {}, f"a proper prior for {_listed(bounded[0])}"
    lines = dict.fromkeys(line for notice in notices for line in _LINE.findall(notice.remedy))
    if lines:
        for line in lines:
            model = eval(line, {"handlers": handlers, "reparam": reparam, "model": model})
        return model, {}, ", then ".join(f"`{line}`" for line in lines)
    if model.name in NON_CENTRED and any("a non-centred form" in notice.remedy for notice in notices):
        options = {"draws": LONGER * DRAWS, "warmup": DRAWS}
        words = f"the non-centred form, warmup={options['warmup']}, draws={options['draws']}"
        return NON_CENTRED[model.name](**model.arguments), options, words
    # How many more draws the notices ask for says nothing of chains that do not change modes.
    samplers = [line for notice in notices for line in _SAMPLER.findall(notice.remedy)]
    needing = [found for notice in notices for found in _PROPER.findall(notice.remedy)]
    first = ""
    if needing and model.name in PROPER:
        first = f"a proper prior for {_listed(needing[0][0])}, then "
        model = PROPER[model.name](**model.arguments)
        samplers = [needing[0][1]]
    if samplers:
        options = {"sampler": eval(samplers[0], {"infer": infer}), "draws": LONGER * DRAWS, "warmup": DRAWS}
        return model, options, f"{first}`{samplers[0]}`, warmup={options['warmup']}, draws={options['draws']}"
    options: dict[str, Any] = {}
    done = []
    serious = [notice for notice in notices if notice.severity != "info"]
    has_long_steps = any(notice.code in ("divergences", "slow_chains") for notice in serious)
    if has_long_steps and "sampler" not in before:
        options["sampler"] = infer.NUTS(target_accept=TARGET)
        done.append(f"target_accept={TARGET}")
    asked = [int(times) for notice in serious for times in _TIMES.findall(notice.remedy)]
    # An R-hat between 1.01 and 1.02 is told for information alone, and asks for more draws as well.
    if asked or any(notice.code == "r_hat" for notice in notices):
        options["draws"] = before.get("draws", DRAWS) * min(max([LONGER, *asked]), MOST)
        options["warmup"] = DRAWS
        done.append(f"warmup={options['warmup']}, draws={options['draws']}")
    return model, options, ", ".join(done)


def _listed(sites: str) -> str:
    """Return names of sites without the quotes between them."""
    return sites.replace("'", "")
