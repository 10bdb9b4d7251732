"""Tell of a stopping rule that raised an error: the run ends there, and keeps its draws."""

import traceback

from ...core.errors import AccordError
from ...core.notice import Notice
from .base import AbstractRule


class RuleFailedError(AccordError):
    """A stopping rule raised an error while it judged the draws of a run."""

    def __init__(self, rule: AbstractRule, error: Exception):
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        super().__init__(f"the stopping rule {rule!r} raised {type(error).__name__}: {error}{where}")


def notice_of_failure(error: RuleFailedError) -> Notice:
    """Make the notice of a run that a rule has ended so."""
    text = str(error)
    return Notice(
        "error",
        "rule_failed",
        f"{text[0].upper()}{text[1:]}. The run ended there.",
        "The draws are those of a run without the rule. Mend its `judge`, and go on by "
        "`infer.resume(path, model, until=rule)` if the run is stored.",
    )
