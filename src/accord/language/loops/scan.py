"""Write a loop as a statement whose steps have sites."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ...core.errors import ModelError, OptionError
from ...core.options import checks_options, positive_count
from ..interpreter import is_running, run_loop
from ..labels import read_labels
from ..messages.places import caller
from ..naming import check_text
from ..site import Frame
from .blocks import block_size
from .loop import Loop
from .steps import jax_array, scanned


@checks_options
def scan(
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    name: str | None = None,
    coords: Sequence[Any] | None = None,
    checkpoint: int | bool | None = None,
) -> tuple[Any, Any]:
    """Run `carry, y = step(carry, x)` for each `x` of `xs`, as `jax.lax.scan` does; the step may have sites.

    A site inside of the step is one site of the model, with the steps along its first axis: in a scan of 100 steps it
    has shape `(100, *batch, *event)`, and so have values that `condition` and the like give it. The log density is that
    of the loop written out; the program holds the step once, however many there are.

    **Arguments**
    - `step`: from the carry and one entry of `xs` to the next carry, of the same shapes and dtypes, and an output.
    - `init`: the first carry, a pytree of arrays and numbers.
    - `xs`: a pytree of arrays with the steps along their first axes, or None.
    - `length`: the number of steps, >= 1; needed without `xs`.
    - `reverse`: begin with the last entry of `xs`. Sites keep the order of `xs`.
    - `name`: of the steps' axis in the draws, as a plate has one, with `coords` as the labels of the steps.
    - `checkpoint`: keep every so-many-th carry alone for the gradient, >= 1, and work out again what lies between: it
      takes less memory and one more evaluation. True is the square root of `length`. The numbers are the same.

    **Returns** the last carry, and the outputs of all steps, stacked.

    **Raises** `ModelError` outside of a model; `OptionError` for what cannot be looped over; `SiteError` for a value
    with another number of steps.

    **Example**

    >>> @ac.model
    ... def volatility(returns):
    ...     sigma = ac.sample("sigma", dist.HalfNormal(0.5))
    ...
    ...     def step(previous, observed):
    ...         h = ac.sample("h", dist.Normal(0.9 * previous, sigma))
    ...         ac.sample("return", dist.Normal(0.0, jnp.exp(h / 2)), obs=observed)
    ...         return h, None
    ...
    ...     ac.scan(step, 0.0, returns, name="day")
    >>> print(volatility(np.array([0.3, -1.2, 0.8])).sites())
    site    kind      shape  dims  distribution
    sigma   latent    ()           HalfNormal
    h       latent    (3,)   day   Normal
    return  observed  (3,)   day   Normal
    """
    xs = jax.tree.map(jax_array, xs)
    length = _length(step, xs, length)
    frame = Frame(_checked_name(name), length, 0, _labels(name, coords, length))
    block = block_size(checkpoint, length)
    if not is_running():
        raise ModelError(
            f"ac.scan was called outside of any model (at {caller()}). For a step without sites, `jax.lax.scan` does "
            "the same."
        )
    return run_loop(Loop(step, init, xs, length, frame, reverse, block), scanned)


def _length(step: Any, xs: Any, length: int | None) -> int:
    if not callable(step):
        raise OptionError(
            f"ac.scan (at {caller()}): the step must be a function `step(carry, x)`, got {step!r}."
        )
    if length is not None:
        length = positive_count("ac.scan: length", length)
    shapes = [np.shape(x) for x in jax.tree.leaves(xs)]
    if not shapes and length is None:
        raise OptionError(
            f"ac.scan (at {caller()}): give `xs` to loop over, or the number of steps as `length=`."
        )
    if () in shapes:
        raise OptionError(
            f"ac.scan (at {caller()}): `xs` holds a number, which has no axis of steps. What is the same at each step "
            "needs no place in `xs`: the step may use it as it is."
        )
    lengths = sorted({shape[0] for shape in shapes} | (set() if length is None else {length}))
    if len(lengths) > 1:
        raise OptionError(
            f"ac.scan (at {caller()}): `xs` has arrays of shapes {', '.join(map(str, shapes))}"
            f"{'' if length is None else f', and length is {length}'}. The first axis of each is the steps, of which "
            "all must have as many."
        )
    return positive_count("ac.scan: the number of steps", lengths[0])


def _checked_name(name: str | None) -> str:
    if name is not None and (not isinstance(name, str) or not name):
        raise OptionError(
            f"ac.scan (at {caller()}): the name must be a string that is not empty, got {name!r}."
        )
    check_text(f"ac.scan (at {caller()}): the name", name or "", OptionError)
    return name or ""


def _labels(name: str | None, coords: Sequence[Any] | None, length: int) -> tuple[Any, ...] | None:
    if coords is None:
        return None
    labels = read_labels("ac.scan: coords", coords)
    if name is None or len(labels) != length:
        raise OptionError(
            f"ac.scan: coords has {len(labels)} labels for {length} steps{' and no name' if name is None else ''}. "
            "Give the axis a name, and one label for each step."
        )
    return labels
