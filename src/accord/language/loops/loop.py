"""Define the message of a loop whose steps have sites, which a handler may run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..site import Frame, Site

if TYPE_CHECKING:
    from .boundary import Answer


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop as `ac.scan` was given it.

    **Fields**
    - `step`: from the carry and one entry of `xs` to the next carry and an output; it visits sites.
    - `init`: the first carry, a pytree of arrays and numbers.
    - `xs`: a pytree of arrays with the steps along their first axes, or None.
    - `length`: the number of steps, >= 1. `frame`: the axis of the steps, as sites see it;
      `frame.size` is `length`.
    - `reverse`: begin with the last entry of `xs`.
    - `block`: how many steps lie between carries that are kept for a gradient; None keeps all.
    """

    step: Callable[[Any, Any], tuple[Any, Any]]
    init: Any
    xs: Any
    length: int
    frame: Frame
    reverse: bool = False
    block: int | None = None


@dataclass(frozen=True, eq=False)
class LoopResult:
    """The results of a loop.

    **Fields**
    - `carry`: the last one. `outputs`: those of all steps, stacked.
    - `sites`: by their names in the step, one site for all steps, which the model keeps when the loop has been run.
    - `answers`: by the same names, what the handlers around the loop made of them.
    """

    carry: Any
    outputs: Any
    sites: Mapping[str, Site]
    answers: "Mapping[str, Answer]"
