"""Define the base class of frozen pytrees that users build, with constructors as entry points."""

from typing import TYPE_CHECKING, Any

import equinox as eqx

from .tracebacks import leave

if TYPE_CHECKING:
    from equinox import Module as Module
else:

    class _ModuleType(type(eqx.Module)):
        """Metaclass that shortens tracebacks of Equinox's checks, which run after `__init__`."""

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().__call__(*args, **kwargs)
            except Exception as error:
                leave(error)
                raise

    class Module(eqx.Module, metaclass=_ModuleType):
        """An `equinox.Module` whose constructor errors show only the user's own frames."""
