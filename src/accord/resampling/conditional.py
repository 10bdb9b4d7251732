"""Define conditional resampling: ancestors are chosen given which one the first of them has.

A particle filter that keeps a reference trajectory is right only if the other ancestors follow the scheme's own
distribution given that of the reference. To choose all of them freely and then put the reference in its place is not
the same, and biases what is drawn by particle Gibbs.
"""

import abc
from typing import Any

from ..core.modules import Module


class AbstractConditionalResampling(Module):
    """A scheme of resampling, given the ancestor of the reference trajectory.

    **Contract**: if the given ancestor is drawn by weight, each of all ancestors is drawn by weight, and a random
    permutation of them changes nothing. All randomness comes from the generator. The class has no options, or fields of
    plain JSON.
    """

    @abc.abstractmethod
    def ancestors(self, weights: Any, first: Any, generator: Any) -> Any:
        """Return the ancestors of as many particles as there are, of which `first` is the first; shape `(particle,)`.

        **Arguments**: `weights`, an array of JAX of shape `(particle,)`, finite and not negative; `first`, a particle
        of positive weight, shape `()`; `generator`, as of `AbstractResampling.ancestors`.
        """
