"""Bind data to a function of statements: a model is a value."""

import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import equinox as eqx
import jax

from ..core.errors import ModelError
from ..core.modules import Module
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from .binding import bind, gather
from .handler import AbstractHandler
from .handlers.values import Condition, Do, Uncondition, names_of, undone
from .interpreter import forget_bound, is_running, remember_bound, run, run_alone
from .messages.places import caller
from .site import Site
from .static import unmarked

M = TypeVar("M", bound="Model")


@entry_points
@dataclass(frozen=True)
class ModelFunction(Generic[M]):
    """A decorated function: call it with data to get a model of class `kind`. `function` is the plain function."""

    function: Callable[..., Any]
    kind: type[M] = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.function.__doc__

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.function

    def __call__(self, /, *args: Any, **kwargs: Any) -> M:
        """Bind arguments to the function's signature; the one place that takes keywords of any name.

        Inside a running model it is `ac.submodel` that runs the model; one that is not run is an error.

        **Raises** `DataError` for missing and unknown arguments.
        """
        arguments = bind(self.name, self.function, args, kwargs)
        remember_bound(self, caller())
        return self.kind(self, arguments)

    def __get__(self, instance: Any, owner: type | None = None) -> "ModelFunction[M]":
        """Bind a method of a class to its instance; a model that is only an attribute stays as it is."""
        function = self.function
        if instance is None or not _is_written_in(function, type(instance) if owner is None else owner):
            return self
        return replace(self, function=MethodType(function, instance))

    @checks_options
    def bind(self, *sources: Any) -> M:
        """Bind columns of data frames to the arguments of their names: `line.bind(df, {"degree": 2})`.

        Columns of words, and categorical ones, become levels, as by `ac.levels`; the others arrays of numbers. An index
        of rows is passed over, and so are columns that the model does not take. A key of a mapping that it does not
        take is an error.

        **Arguments**: `sources`, data frames of pandas, polars or Arrow, structured arrays, and mappings from names to
        columns or other values; each argument is in one of them.

        **Raises** `DataError` for an argument that nothing gives, or two sources do; for a column that is passed over
        though its name is near that of an argument that nothing gives; for columns that are not numbers, such as dates,
        and for whole numbers and words of which some are missing.

        **Example**

        >>> import pandas as pd
        >>> df = pd.DataFrame({"x": [0.0, 1.0], "y": [0.1, 0.9], "remark": ["", "wet"]})
        >>> @ac.model
        ... def line(x, y=None):
        ...     slope = ac.sample("slope", dist.Normal(0, 1))
        ...     with ac.plate("row", len(x)):
        ...         ac.sample("y", dist.Normal(slope * x, 0.5), obs=y)
        >>> print(line.bind(df).sites())
        site   kind      shape  dims  distribution
        slope  latent    ()           Normal
        y      observed  (2,)   row   Normal
        """
        found = gather(self.name, self.function, sources)
        arguments = bind(self.name, self.function, (), found)
        remember_bound(self, caller())
        return self.kind(self, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self.function, MethodType):
            return _bound_to, (replace(self, function=self.function.__func__), self.function.__self__)
        # By name where the module holds it, since pickle would find this object in place of the plain function.
        module, name = getattr(self.function, "__module__", ""), getattr(self.function, "__qualname__", "")
        is_held = _held(module, name) == self
        if is_held and module != "__main__" and not _travels_by_value(module):
            return _find, (module, name)
        return ModelFunction, (self.function, self.kind)


@entry_points
class Model(Module):
    """A function of statements with its data bound, and the handlers put on it. Frozen: to change is to build.

    Users have `accord.Model`, which adds what rooms above make of it.

    **Fields**
    - `source`: the decorated function.
    - `arguments`: mapping from argument name to the value as given; columns of data frames are NumPy arrays.
    - `handlers`: innermost first.
    """

    source: ModelFunction[Any] = eqx.field(static=True)
    arguments: dict[str, Any]
    handlers: tuple[AbstractHandler, ...] = ()

    if not TYPE_CHECKING:
        # Equinox makes pytrees of bound methods, and the frame of their call would be in every traceback.
        __getattribute__ = object.__getattribute__

    @property
    def function(self) -> Callable[..., Any]:
        """The plain function."""
        return self.source.function

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.source.name

    @property
    def redrawn(self) -> tuple[str, ...]:
        """Unknowns whose entries with new labels predictions draw without `redraw=`; none, unless a subclass says."""
        return ()

    def __call__(self) -> Any:
        """Run the function inside of its handlers and return its value; `handlers.seed(model, key)()` simulates.

        **Raises** `ModelError` inside a running model.
        """
        if is_running():
            raise ModelError(
                f"the model {self.name!r} was called inside a running model. Write "
                f"`ac.submodel({self.name}(...), prefix={self.name!r})`: its sites join the model around it, under the "
                "prefix."
            )
        return self.run()[0]

    @checks_options
    def condition(self, values: Mapping[str, Any]) -> Self:
        """Observe sample sites to have `values`, by site name; a site conditioned before gets the new value.

        The sites keep their log density. A name that is no sample site is an error when the model runs.
        """
        return self.inside_of(Condition.of(values))

    @checks_options
    def do(self, values: Mapping[str, Any]) -> Self:
        """Set sample sites to `values`, by site name, as an intervention: what chose them before has no effect.

        The sites lose their log density (Pearl, 2009, Causality, section 3.2).
        """
        return self.inside_of(Do.of(values))

    def __or__(self, values: Mapping[str, Any]) -> Self:
        """Condition: `model | {"x": 1.0}` is `model.condition({"x": 1.0})`."""
        return self.condition(values) if isinstance(values, Mapping) else NotImplemented

    @checks_options
    def uncondition(self, names: Collection[str] | None = None) -> Self:
        """Make observed sites latent again, all or those in `names`, whether `obs=` or `.condition` gave the value.

        A name that is no sample site is an error when the model runs.
        """
        return self.inside_of(Uncondition(names_of("uncondition", names)))

    @checks_options
    def undo(self, names: Collection[str] | None = None) -> Self:
        """Undo what `.do` did to this model, for all sites or those in `names`: they are what they were before.

        **Raises** `SiteError` for a name that `.do` has not set.
        """
        left = undone(self.handlers, names_of("undo", names))
        return replace(self, handlers=left)

    def inside_of(self, handler: AbstractHandler) -> Self:
        """Return the model with one more handler around it; values join those of an outermost handler of their kind."""
        inner = self.handlers
        for kind in (Condition, Do):  # so that each site has one value among the data
            if inner and isinstance(handler, kind) and isinstance(inner[-1], kind):
                inner, handler = inner[:-1], kind({**inner[-1].values, **handler.values})
        return replace(self, handlers=(*inner, handler))

    def run(self, *outside: AbstractHandler) -> tuple[Any, dict[str, Site]]:
        """Run the function inside of its handlers and these (innermost first); return its value and all its sites."""
        forget_bound(self.source)
        bound = self._bound()
        return run_alone(self.function, (*self.handlers, *outside), bound.args, bound.kwargs)

    def run_within(self, *outside: AbstractHandler) -> Any:
        """Run as a part of the model that is running, which sees the sites; return the value."""
        forget_bound(self.source)
        bound = self._bound()
        return run(self.function, (*self.handlers, *outside), bound.args, bound.kwargs)[0]

    def _bound(self) -> inspect.BoundArguments:
        arguments = {name: jax.tree.map(unmarked, value) for name, value in self.arguments.items()}
        return inspect.BoundArguments(inspect.signature(self.function), arguments)


def _travels_by_value(module: str) -> bool:
    """Return whether cloudpickle was told that others cannot import this module."""
    cloudpickle = sys.modules.get("cloudpickle")
    return cloudpickle is not None and module in cloudpickle.list_registry_pickle_by_value()


def _find(module: str, name: str) -> ModelFunction[Any]:
    __import__(module)
    return _held(module, name)


def _held(module: str, name: str) -> Any:
    """Return what a module holds under a name, or a method (`Study.measured`); None where it holds nothing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, ModelFunction) and isinstance(found.function, MethodType):  # of a class
        return replace(found, function=found.function.__func__)
    return found.__func__ if isinstance(found, MethodType) else found


def _bound_to(method: ModelFunction[M], instance: Any) -> ModelFunction[M]:
    return replace(method, function=MethodType(method.function, instance))


def _is_written_in(function: Callable[..., Any], owner: type) -> bool:
    """Return whether a function was defined in the body of a class, or of one that it inherits from."""
    place = getattr(function, "__qualname__", "").rpartition(".")[0]
    return any(place == each.__qualname__ for each in owner.__mro__)
