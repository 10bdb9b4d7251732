"""Include a model in another one."""

from typing import Any

from ..core.errors import ModelError
from ..core.options import checks_options
from .handlers.scope import Scope
from .interpreter import is_running
from .messages.places import caller
from .model import Model, ModelFunction


@checks_options
def submodel(model: Model, *, prefix: str | None) -> Any:
    """Run `model` as a part of the model around the statement, and return its value.

    Its sites and plates join those of the model around it, as `prefix/name`. What was put on it (conditions,
    interventions, masks) applies inside, to its own names; plates, masks and conditions around the statement apply to
    its sites too, by their new names.

    **Arguments**
    - `model`: a model with its data, which may be values of the model around it.
    - `prefix`: different for every submodel with a name in common; None leaves names as they are.

    **Raises** `ModelError` outside of a model, and for what is not a model with its data; `OptionError` for a prefix
    that is no name.

    **Example**

    >>> @ac.model
    ... def effects(count):
    ...     spread = ac.sample("spread", dist.HalfNormal(1))
    ...     with ac.plate("group", count):
    ...         return spread * ac.sample("z", dist.Normal(0, 1))
    >>> @ac.model
    ... def both():
    ...     ac.submodel(effects(3), prefix="school")
    ...     ac.submodel(effects(2), prefix="town")
    >>> print(both().sites())
    site           kind    shape  dims          distribution
    school/spread  latent  ()                   HalfNormal
    school/z       latent  (3,)   school/group  Normal
    town/spread    latent  ()                   HalfNormal
    town/z         latent  (2,)   town/group    Normal
    """
    if not isinstance(model, Model):
        raise ModelError(f"ac.submodel (at {caller()}) takes a model with its data. {_remedy(model)}")
    if not is_running():
        raise ModelError(
            f"ac.submodel was called outside of any model (at {caller()}). To draw from the posterior of "
            f"{model.name!r}, call `infer.sample(model, ...)`."
        )
    return model.run_within(*([] if prefix is None else [Scope.of("ac.submodel", prefix)]))


def _remedy(given: Any) -> str:
    if isinstance(given, ModelFunction):
        return f'Call {given.name!r} with it: `ac.submodel({given.name}(...), prefix="...")`.'
    if callable(given):
        return (
            "A plain function is called as it is, inside of `with handlers.scope(prefix=...):` if its sites are to "
            "have a prefix; or write `@ac.model` above it."
        )
    return f"Got {type(given).__name__} {given!r}."
