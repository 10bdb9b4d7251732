"""Find the bracket of a slice along a line: step out until both ends are outside, then shrink to points outside.

An evaluation is for one end, or for a point between them. Slices of any line use this: of a coordinate, or of a
direction between walkers.

**Source**: Neal (2003), Ann. Statist. 31(3), 705-767, figures 3 and 5.
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.tree import node

_MAX_WIDTHS = 20  # of a bracket that steps out
_MAX_SHRINKS = 100

_BEGIN, _LEFT, _RIGHT, _SHRINK = range(4)  # what the next evaluation is for


@node
class Bracket:
    """A bracket of places along a line; all of shape `()`.

    **Fields**: `phase`; `level`, the log density that is exceeded inside of the slice; `left` and `right`, its ends,
    with the steps out that they have left, `left_room` and `right_room`; `num_shrinks`.
    """

    phase: Int[Array, ""]
    level: Float[Array, ""]
    left: Float[Array, ""]
    right: Float[Array, ""]
    left_room: Int[Array, ""]
    right_room: Int[Array, ""]
    num_shrinks: Int[Array, ""]

    @staticmethod
    def none(dtype: Any) -> "Bracket":
        """Return the bracket of a slice that has not begun; NumPy."""
        zero: Any = np.zeros((), dtype)
        count: Any = np.zeros((), np.int32)
        return Bracket(count, zero, zero, zero, *[count] * 3)

    @property
    def is_new(self) -> Bool[Array, ""]:
        """Return whether a slice is to begin."""
        return self.phase == _BEGIN

    def begun(self, is_new: Any, here: Any, width: Any, level: Any, u_offset: Any, u_split: Any) -> "Bracket":
        """Return the bracket to go on with: this one, or where `is_new`, one of a `width` about `here`.

        `u_offset` and `u_split` are uniform in (0, 1). Its phase is the one that its room leaves it.
        """
        left = jnp.where(is_new, here - width * u_offset, self.left)
        room = jnp.floor(_MAX_WIDTHS * u_split).astype(jnp.int32)
        left_room = jnp.where(is_new, room, self.left_room)
        right_room = jnp.where(is_new, _MAX_WIDTHS - 1 - room, self.right_room)
        phase = jnp.where(is_new, _LEFT, self.phase)
        phase = jnp.where((phase == _LEFT) & (left_room == 0), _RIGHT, phase)
        phase = jnp.where((phase == _RIGHT) & (right_room == 0), _SHRINK, phase)
        return Bracket(
            phase=phase,
            level=jnp.where(is_new, level, self.level),
            left=left,
            right=jnp.where(is_new, left + width, self.right),
            left_room=left_room,
            right_room=right_room,
            num_shrinks=jnp.where(is_new, 0, self.num_shrinks),
        )

    def there(self, u: Float[Array, ""]) -> Float[Array, ""]:
        """Return where to evaluate next: an end, or the point between them that a uniform number chooses."""
        end = jnp.where(self.phase == _LEFT, self.left, self.right)
        return jnp.where(self.phase == _SHRINK, self.left + u * (self.right - self.left), end)

    def told(self, is_inside: Any, there: Any, here: Any, width: Any) -> tuple["Bracket", "Told"]:
        """Return the bracket after an evaluation, and what that was."""
        is_left, is_right, is_candidate = (self.phase == each for each in (_LEFT, _RIGHT, _SHRINK))
        is_taken, is_refused = is_candidate & is_inside, is_candidate & ~is_inside
        num_shrinks = self.num_shrinks + is_refused
        is_exhausted = num_shrinks >= _MAX_SHRINKS
        steps_left, steps_right = is_left & is_inside, is_right & is_inside
        left = jnp.where(is_refused & (there < here), there, self.left - jnp.where(steps_left, width, 0))
        right = jnp.where(is_refused & (there >= here), there, self.right + jnp.where(steps_right, width, 0))
        phase = self.phase + ((is_left | is_right) & ~is_inside)
        phase = jnp.where(is_taken | is_exhausted, _BEGIN, phase)
        left_room, right_room = self.left_room - steps_left, self.right_room - steps_right
        after = Bracket(phase, self.level, left, right, left_room, right_room, num_shrinks)
        return after, Told(steps_left | steps_right, is_candidate, is_taken, is_exhausted)


@dataclass(frozen=True)
class Told:
    """Verdict of a slice on an evaluation, each of shape `()`.

    **Fields**: `is_step`, a step out; `is_candidate`, a point between the ends; `is_taken`, one inside of the slice,
    which is its result; `is_exhausted`, the last one of a slice that is given up.
    """

    is_step: Bool[Array, ""]
    is_candidate: Bool[Array, ""]
    is_taken: Bool[Array, ""]
    is_exhausted: Bool[Array, ""]

    @property
    def is_done(self) -> Bool[Array, ""]:
        """Return whether the slice has ended."""
        return self.is_taken | self.is_exhausted
