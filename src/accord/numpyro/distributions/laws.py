"""Offer accord's distributions with the arguments of NumPyro's."""

from collections.abc import Callable
from typing import Any

from ... import distributions as dist
from .drawn import DRAWN
from .own import Distribution, Written
from .transforms import Transform, bijector_of

RENAMED: dict[str, dict[str, str]] = {
    "ExpandedDistribution": {"base_dist": "base", "batch_shape": "shape"},
    "Independent": {"base_dist": "base", "reinterpreted_batch_ndims": "count"},
    "MaskedDistribution": {"base_dist": "base", "mask": "where"},
}
"""Arguments of NumPyro that accord calls otherwise, by distribution."""

DROPPED: dict[str, tuple[str, ...]] = {
    "DirichletMultinomial": ("total_count_max",),
    "Multinomial": ("total_count_max",),
    "MultinomialLogits": ("total_count_max",),
    "MultinomialProbs": ("total_count_max",),
    "Poisson": ("is_sparse",),
}
"""Arguments that change how NumPyro computes, and not what: accord needs none of them."""


class Law(type):
    """The type of a name in `numpyro.distributions`: calling it makes accord's distribution.

    Instances of accord's class are instances of the name, and what the class has, the name has.
    """

    accord: Callable[..., Any]
    kind: Callable[..., Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make the distribution; `validate_args` is taken, since accord checks parameters in any case."""
        kwargs.pop("validate_args", None)
        for name in DROPPED.get(cls.__name__, ()):
            kwargs.pop(name, None)
        for theirs, ours in RENAMED.get(cls.__name__, {}).items():
            if theirs in kwargs:
                kwargs[ours] = kwargs.pop(theirs)
        return cls.accord(*map(_of_accord, args), **{name: _of_accord(each) for name, each in kwargs.items()})

    def __instancecheck__(cls, instance: Any) -> bool:
        kind: Any = cls.kind
        if isinstance(kind, type):
            return isinstance(instance, kind)
        # `BernoulliProbs` and the like: of accord's class, with its parameter given so.
        for parameter in ("probs", "logits"):
            whole: Any = getattr(dist, cls.__name__.removesuffix(parameter.capitalize()), None)
            if isinstance(whole, type) and isinstance(instance, whole):
                return getattr(instance, parameter, None) is not None
        return False

    def __subclasscheck__(cls, subclass: Any) -> bool:
        kind: Any = cls.kind
        return subclass is cls or (isinstance(kind, type) and issubclass(subclass, kind))

    def __getattr__(cls, name: str) -> Any:
        return getattr(type.__getattribute__(cls, "accord"), name)


def _of_accord(given: Any) -> Any:
    """Return accord's form of a transform, of a list of them, and of a law of the program's own."""
    if isinstance(given, Distribution):
        return Written.of(given)
    if isinstance(given, list | tuple) and any(isinstance(each, Transform) for each in given):
        return [bijector_of(each) for each in given]
    return bijector_of(given) if isinstance(given, Transform) else given


def law(name: str) -> Any:
    """Return the name of `numpyro.distributions` that makes this distribution of accord."""
    own = getattr(dist, name)
    made = DRAWN.get(name, own)
    return Law(
        name,
        (),
        {
            "accord": staticmethod(made),
            "kind": staticmethod(own),
            "__doc__": own.__doc__,
            "__module__": __name__,
        },
    )
