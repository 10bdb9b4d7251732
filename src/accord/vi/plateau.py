"""Tell by its losses whether a noisy fit still gains."""

from typing import Any

import equinox as eqx
import numpy as np

from ..core.errors import OptionError
from ..core.modules import Module
from ..core.options import checks_fields, positive_count

_USUAL = 250  # steps
_SURE = 2.0  # standard errors of a gain that is told from noise


@checks_fields
class ELBOPlateau(Module):
    """Stop a fit when its bound rises no more, as far as that can be told from noise.

    The mean bound over the last `window` steps is compared with that over the `window` steps before, and likewise with
    windows twice as long. The fit ends when, at both lengths, the bound has gained less than `gain` nats, or no more
    than two standard errors of noise. With the default optimiser, steps then become ten times smaller, and the fit ends
    at the next plateau. It is looked at each half window, so that it depends on the steps alone.

    **Fields**: `window`, in steps, >= 20, which is kept as it is given; None takes 250 steps, and, where parts of the
    data are fitted with parameters that have an entry for each row, at least 20 passes over the rows: a part moves its
    own entries alone. `gain`, in nats, >= 0.

    **Raises** `OptionError` for other values.

    **Example**

    >>> stop = infer.ELBOPlateau(window=100)
    >>> infer.fit(eight_schools(sigma, y), infer.guides.FullRank(), until=stop, quiet=True).converged
    True
    """

    window: int | None = eqx.field(static=True, default=None, kw_only=True)
    gain: float = eqx.field(static=True, default=0.01, kw_only=True)

    def __check_init__(self) -> None:
        if self.window is not None:
            positive_count("ELBOPlateau: window", self.window, 20)
        if isinstance(self.gain, bool) or not isinstance(self.gain, int | float) or not self.gain >= 0:
            raise OptionError(
                f"ELBOPlateau: gain must be a number of at least 0, in nats, got {self.gain!r}."
            )

    @property
    def width(self) -> int:
        """Steps of a window: those that were given, or 250."""
        return _USUAL if self.window is None else self.window

    @property
    def period(self) -> int:
        """Steps between two looks."""
        return self.width // 2

    def holds(self, losses: np.ndarray) -> bool:
        """Return whether it holds after these losses, shape `(step,)`."""
        return all(self._is_level(losses, width) for width in (self.width, 2 * self.width))

    def _is_level(self, losses: np.ndarray, width: int) -> bool:
        if len(losses) < 2 * width:
            return False
        before, after = losses[-2 * width : -width], losses[-width:]
        before, after = before[np.isfinite(before)], after[np.isfinite(after)]
        if len(before) < width // 2 or len(after) < width // 2:
            return False
        gain = before.mean() - after.mean()
        # From neighbours, since a trend is not noise.
        error = np.sqrt(sum(np.mean(np.diff(each) ** 2) / 2 / len(each) for each in (before, after)))
        return bool(gain < max(self.gain, _SURE * error))

    def described(self) -> dict[str, Any]:
        """Return its name and its options for a manifest, in plain JSON."""
        return {"rule": type(self).__name__, "window": self.window, "gain": self.gain}
