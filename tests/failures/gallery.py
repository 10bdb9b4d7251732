"""Gather the broken models, by name and by kind."""

from collections.abc import Mapping

from failure_case import Case
from failures_in_data import DATA
from failures_in_derivatives import DERIVATIVES
from failures_in_posteriors import POSTERIORS
from failures_in_programs import PROGRAMS

KINDS: Mapping[str, Mapping[str, Case]] = {
    "The model's code": PROGRAMS,
    "Data": DATA,
    "Values and derivatives": DERIVATIVES,
    "Posteriors": POSTERIORS,
}
CASES: Mapping[str, Case] = {name: case for kind in KINDS.values() for name, case in kind.items()}
