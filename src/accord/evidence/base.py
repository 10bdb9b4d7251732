"""State what a method of estimating the evidence is."""

import abc
from typing import Any

from ..report.log_evidence import LogEvidence


class AbstractEvidenceMethod(abc.ABC):
    """Abstract base class of methods for `infer.evidence(found, method)`: frozen values, which hold their options."""

    @abc.abstractmethod
    def estimate(self, found: Any) -> LogEvidence:
        """Estimate the log evidence from what a run has found: draws, or a fit.

        **Raises** `OptionError` for a result of another kind, which names what the method takes.
        """
