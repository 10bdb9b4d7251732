"""Make the base of frozen pytrees that users build: their constructors are entry points, as functions are."""

from typing import TYPE_CHECKING, Any

import equinox as eqx

from .tracebacks import leave

if TYPE_CHECKING:
    from equinox import Module as Module
else:

    class _ModuleType(type(eqx.Module)):
        """Equinox checks what was built after `__init__`, in the call of the class, which only a metaclass sees."""

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().__call__(*args, **kwargs)
            except Exception as error:
                leave(error)
                raise

    class Module(eqx.Module, metaclass=_ModuleType):
        """An `equinox.Module` whose constructor shows users only their own lines of what it raises."""
