"""List what the accuracy grid asks and accord does not give, with the bound that is held instead and its reason.

Bounds are twice what was measured, in natural scales. An entry goes when its cause does: the aim is at most five.
"""

EXCEPTIONS: dict[tuple[str, str, str], tuple[float, str]] = {}
