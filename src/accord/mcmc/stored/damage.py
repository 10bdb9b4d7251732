"""Report what is damaged in a stored run."""

from ...core.notice import Notice
from ..draws import Draws

OF_PARTS = ("incomplete", "damaged")
"""Codes of notices that are of a run before it was finished or repaired."""


def damaged(draws: Draws) -> list[Notice]:
    """Make a notice of a run whose folder is damaged."""
    if not draws.problems:
        return []
    more = f" There are {len(draws.problems) - 1} more in `draws.problems`." if draws.problems[1:] else ""
    return [
        Notice(
            "error",
            "damaged",
            f"The folder of the run is damaged, and {draws.num_draws} of {draws.requested} draws per chain are whole: "
            f"{draws.problems[0]}{more}",
            "Do not use these draws yet: `infer.resume` sets aside what is damaged, and draws again what is missing.",
        )
    ]
