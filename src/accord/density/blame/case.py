"""Hold what the rules look at when they choose a cause."""

import math
from dataclasses import dataclass

from .operation import CONSTANT
from .result import OWN, BadTerm, Blame, Operation


@dataclass(frozen=True)
class Case:
    """The facts that the rules look at: everything found, the first bad site, and the operation or a blank."""

    found: Blame
    term: BadTerm | None
    operation: Operation

    @property
    def is_derivative(self) -> bool:
        """Return whether the log density is finite and a derivative is not."""
        return self.term is None

    @property
    def site(self) -> str:
        """The first site with a bad term, or else the first through which a derivative is bad."""
        return self.term.site if self.term else next(iter(self.found.sites), "")

    @property
    def is_observed(self) -> bool:
        """Return whether that site is data."""
        return self.term is not None and self.term.kind == "observed"

    @property
    def is_impossible(self) -> bool:
        """Return whether its density is zero, not infinite."""
        return self.term is not None and self.term.log_density < 0

    @property
    def by(self) -> str:
        """The name of the primitive."""
        return self.operation.primitive

    @property
    def is_given(self) -> bool:
        """Return whether the first number that is not finite is an argument, or written in the code."""
        return self.by in ("argument", CONSTANT)

    @property
    def is_infinite(self) -> bool:
        """Return whether the first number that is not finite is an infinity, computed or given."""
        return math.isinf(self.operation.output) or any(map(math.isinf, self.operation.inputs))

    @property
    def is_own(self) -> bool:
        """Return whether accord computes it, from what the model gives."""
        return self.operation.owner == "accord" or self.operation.owner.startswith(OWN)

    @property
    def has_zero(self) -> bool:
        """Return whether the operation was given a zero."""
        return 0.0 in self.operation.inputs
