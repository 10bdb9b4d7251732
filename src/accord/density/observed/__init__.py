"""Compare what is observed with the support of its site, on the host and before anything is compiled.

Values, supports and masks are taken out of the trace of the model, and computed in NumPy as far as they follow from
data and constants. Where they depend on unknowns nothing can be said before the run: a value outside of the support
then makes the log density -inf, and the search for starting points and `infer.explain` tell why.
"""

from .claims import Claims
from .collect import Claim, claims_of

__all__ = ["Claim", "Claims", "claims_of"]
