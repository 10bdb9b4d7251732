"""Match the draws of sites with a model that is called with other data, by the labels of their entries."""

from .alignment import Held, Taking, check_follows, taking_of, unknown_labels
from .by_label import DrawNew
from .match import Match, mark_of, match_draws

__all__ = [
    "DrawNew",
    "Held",
    "Match",
    "Taking",
    "check_follows",
    "mark_of",
    "match_draws",
    "taking_of",
    "unknown_labels",
]
