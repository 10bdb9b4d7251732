"""Write a branch as a statement whose two sides have sites."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...core.errors import ModelError, OptionError
from ...core.options import checks_options
from ..interpreter import Outside, inside, is_running
from ..messages.places import caller
from ..shapes import shape_of
from ..site import Site
from .boundary import Answer, Trace
from .branches import Side, check_agreement, merged


@checks_options
def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Run `true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`, as `jax.lax.cond` does, with sites.

    Where `pred` is a bool of Python, it is an `if`. Where it is traced, the sites of both are sites of the model, and
    there are the same ones whichever is taken: a density whose dimension or data change from one value to the next is
    none. So each site is in both, with the same shape, observed in both or in none, and if not observed, with supports
    of one kind; their distributions may differ. A factor may be in one alone.

    **Arguments**
    - `pred`: one bool. For each entry of a batch, use `jnp.where` on parameters, or a mixture.
    - `true_fun`, `false_fun`: return pytrees of the same shapes and dtypes.
    - `operands`: pytrees of arrays.

    **Returns** what the one taken returns.

    **Raises** `ModelError` outside of a model; `OptionError` for a `pred` that is not one bool; `SiteError` for sites
    that the two have not in common.

    **Example**

    >>> @ac.model
    ... def market(volume, change):
    ...     def calm():
    ...         ac.sample("change", dist.Normal(0.0, 1.0), obs=change)
    ...
    ...     def wild():
    ...         ac.sample("change", dist.StudentT(2.0, 0.0, 5.0), obs=change)
    ...
    ...     threshold = ac.sample("threshold", dist.Normal(0.0, 1.0))
    ...     ac.cond(volume > threshold, wild, calm)
    >>> print(market(volume=0.5, change=4.0).sites())
    site       kind      shape  dims  distribution
    threshold  latent    ()           Normal
    change     observed  ()           StudentT or Normal
    """
    for function in (true_fun, false_fun):
        if not callable(function):
            raise OptionError(f"ac.cond: a branch must be a function, got {function!r}.")
    if not is_running():
        raise ModelError(
            f"ac.cond was called outside of any model (at {caller()}). Without sites, `jax.lax.cond` does the same."
        )
    if isinstance(pred, bool | np.bool_):
        return (true_fun if pred else false_fun)(*operands)
    if shape_of(pred) != () or getattr(pred, "dtype", None) != np.bool_:
        raise OptionError(
            f"ac.cond (at {caller()}): pred must be one bool, got {_described(pred)}. For a batch, choose parameters "
            "by `jnp.where`, or write a mixture; of a number, write what it is compared with, as in `pred=(k == 1)`."
        )
    traces = [Trace(Outside.here(), lambda answer: answer.source) for _ in range(2)]
    functions = (true_fun, false_fun)
    sides = [Side.of(lambda *given, i=i: _run(traces[i], functions[i], given), operands) for i in range(2)]
    check_agreement(*sides)
    answers: dict[str, Answer] = {}
    for trace in traces:
        answers |= trace.without(answers).shown()
    given = {name: (answer, answer.source) for name, answer in answers.items()}

    def branch(i: int) -> Callable[..., Any]:
        def run(*operands: Any) -> Any:
            result, sites = _run(traces[i].again(given), functions[i], operands)
            return (
                result,
                sides[i].common(sites, sides[1 - i]),
                sides[i].parameters(sites),
                sides[1 - i].no_parameters(),
            )

        def swapped(*operands: Any) -> Any:
            result, common, own, other = run(*operands)
            return result, common, other, own

        return swapped if i else run

    result, common, first, second = jax.lax.cond(pred, branch(0), branch(1), *operands)
    for name, site in merged(pred, sides, common, first, second).items():
        answers[name].keep(site)
    return result


def _run(trace: Trace, function: Callable[..., Any], operands: Any) -> tuple[Any, dict[str, Site]]:
    with inside(trace.boundary) as recorder:
        return function(*operands), recorder.sites


def _described(pred: Any) -> str:
    if hasattr(pred, "dtype"):
        return f"an array of shape {pred.shape} and dtype {pred.dtype}"
    return repr(pred)
