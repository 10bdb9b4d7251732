"""Run a broken model, and compare its messages with the required ones."""

import faulthandler
import threading
from dataclasses import dataclass
from typing import Any

from failure_case import Case

from accord import infer

LIMIT = 30.0  # seconds for anything to end; the slowest takes two
SHORT = dict(draws=100, warmup=100, chains=2)
SEVERITIES = ("info", "warning", "error")


@dataclass(frozen=True)
class Said:
    """A notice, or an error, which has no code."""

    severity: str
    code: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """How a run ended, `"draws"` or the name of an error, and what was said."""

    ended: str
    said: tuple[Said, ...]


def outcome(case: Case, **options: Any) -> Outcome:
    """Run a case to its end, or for as long as anything may take; `options` are those that it has not of its own."""
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(_outcome(case, options)), daemon=True)
    thread.start()
    thread.join(LIMIT)
    if not found:
        faulthandler.dump_traceback(all_threads=True)
        return Outcome("no end", (Said("error", "", f"No end within {LIMIT:g} s."),))
    return found[0]


def best(case: Case, found: Outcome) -> tuple[Said | None, list[str]]:
    """What says most of what must be said, and which words it lacks; None where all is of a lesser kind."""
    if case.ends in SEVERITIES:
        severe = SEVERITIES[SEVERITIES.index(case.ends) :]
        fitting = [each for each in found.said if each.severity in severe and not _is_of_any_model(each)]
    else:
        fitting = [each for each in found.said if found.ended == case.ends]
    lacking = [[word for word in case.words if not _has(each.text, word)] for each in fitting]
    return min(zip(fitting, lacking, strict=True), key=lambda pair: len(pair[1]), default=(None, []))


def shortfall(case: Case, found: Outcome) -> str:
    """What an outcome lacks; nothing where it is as it must be."""
    if case.ends == "sound":
        return "; ".join(each.text for each in found.said if each.severity == "error")
    said, lacking = best(case, found)
    if said is None:
        return f"no {case.ends}: it ended with {found.ended}"
    return f"lacks {', '.join(lacking)}: {said.text}" if lacking else ""


def _outcome(case: Case, options: dict[str, Any]) -> Outcome:
    try:
        target = case.model(**case.data)
        if case.asks == "check":
            ended, notices = "report", infer.check(target).findings
        else:
            draws = infer.sample(target, **({"quiet": True} | options | dict(case.options)))
            ended, notices = "draws", draws.notices
    except Exception as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        return Outcome(type(error).__name__, (Said("error", "", text),))
    return Outcome(ended, tuple(Said(each.severity, each.code, str(each)) for each in notices))


def _has(text: str, word: str) -> bool:
    return any(each in text for each in word.split("|"))


def _is_of_any_model(said: Said) -> bool:
    """Whether it is said of every run as short as these."""
    return said.code in ("ess_bulk", "ess_tail") or (said.code == "r_hat" and said.severity != "error")
