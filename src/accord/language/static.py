"""Mark an argument of a model as fixed: part of the program rather than data of it."""

from dataclasses import dataclass
from typing import Any

from ..core.tracebacks import entry_point


@dataclass(frozen=True, eq=False)
class Static:
    """A value that is marked. Not a pytree: code that takes arguments apart meets it whole."""

    value: Any


@entry_point
def static(value: Any) -> Any:
    """Mark an argument of a model, or a part of one, as a constant of the compiled program.

    Arrays and floats among a model's arguments are traced: the model sees no numbers, and new data of the same shape
    compile nothing. A marked one keeps its numbers, so that Python may use them (`range(int(n.max()))`), and other
    numbers compile anew. Integers, booleans, strings and None are constants without it.

    `model(x, groups=ac.static(groups))`

    **Example**

    >>> @ac.model
    ... def polynomial(x, y, powers):
    ...     slopes = ac.sample("slopes", dist.Normal(0, 1).expand([len(powers)]))
    ...     with ac.plate("row", len(x)):
    ...         ac.sample("y", dist.Normal(sum(s * x**k for s, k in zip(slopes, powers)), 1), obs=y)
    >>> x = np.linspace(0, 1, 5)
    >>> polynomial(x, x**2, ac.static((1, 2))).log_density().dim
    2
    """
    return Static(value)


def unmarked(leaf: Any) -> Any:
    """Return the value behind a mark, or the value itself."""
    return leaf.value if isinstance(leaf, Static) else leaf
