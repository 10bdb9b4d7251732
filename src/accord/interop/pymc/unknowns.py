"""Find the unknowns of a PyMC model, and refuse what a sampler by gradients cannot sample."""

import importlib
from collections.abc import Sequence
from typing import Any

from ...core.errors import ModelError
from .graph import ancestors

WORD = "interop.pymc.target"


def unknowns_of(model: Any) -> list[Any]:
    """Return the free variables of a model.

    **Raises** `ModelError` for a model without any, for discrete ones, for minibatches, and for random numbers in the
    log density.
    """
    free = [*model.free_RVs]
    if not free:
        raise ModelError(f"{WORD}: the PyMC model has no free variable, so that there is nothing to sample.")
    discrete = [each.name for each in free if each.dtype.startswith(("int", "uint", "bool"))]
    if discrete:
        raise ModelError(
            f"{WORD}: {_listed(discrete)} {'is' if len(discrete) == 1 else 'are'} discrete. PyMC mixes step methods "
            "for such a variable, and a log density for gradients has no place for it. Sum it out, with "
            "pymc_extras.marginalize or a mixture, or write the model for accord, which sums discrete sites out."
        )
    return free


def check_graph(outputs: Sequence[Any]) -> None:
    """Raise `ModelError` where a log density takes a minibatch, or draws random numbers."""
    random = importlib.import_module("pytensor.tensor.random.op").RandomVariable
    for each in ancestors(outputs):
        operation = getattr(each.owner, "op", None)
        if operation is None:
            continue
        if type(operation).__name__.startswith("Minibatch"):
            raise ModelError(
                f"{WORD}: the PyMC model takes random parts of its data (pm.Minibatch), so that its log density "
                "changes from one evaluation to the next, and draws would not be from the posterior. Give it all "
                "the data."
            )
        if isinstance(operation, random):
            raise ModelError(
                f"{WORD}: the log density of the PyMC model draws random numbers ({operation}"
                f"{f' of {each.name!r}' if each.name else ''}), as simulators do, so that it has no gradient."
            )


def _listed(names: Sequence[str]) -> str:
    kind = "the free variables" if len(names) > 1 else "the free variable"
    return f"{kind} {', '.join(map(repr, names))}"
