"""Draw from the posterior of a model written as a Python function.

Examples in docstrings begin with the lines at the head of docs/reference/index.md: imports, two models, and draws.
"""

import typing as _typing

from . import distributions as distributions
from . import handlers as handlers
from . import infer as infer
from . import reparam as reparam
from .core import forks as _forks  # pyright: ignore[reportUnusedImport] - it hears of forks from now on
from .core.names import refusal as _refusal
from .core.tracebacks import entry_point as _entry_point
from .language import Levels as Levels
from .language import cond as cond
from .language import deterministic as deterministic
from .language import factor as factor
from .language import levels as levels
from .language import module as module
from .language import param as param
from .language import plate as plate
from .language import plate_stack as plate_stack
from .language import prng_key as prng_key
from .language import sample as sample
from .language import scan as scan
from .language import static as static
from .language import submodel as submodel
from .language import subsample as subsample
from .model import Model as Model
from .model import model as model

if _typing.TYPE_CHECKING:
    from .density import LogDensity as LogDensity
    from .interop.formulas import glm as glm

__version__ = "0.1.0"

_refuse = _refusal(__name__)


@_entry_point
def __getattr__(name: str) -> _typing.Any:
    # What a model is made into, or from, is loaded when it is first asked for.
    if name == "LogDensity":
        from .density import LogDensity

        globals()[name] = LogDensity
        return LogDensity
    if name == "glm":
        from .interop.formulas import glm

        globals()[name] = glm
        return glm
    return _refuse(name)


def __dir__() -> list[str]:
    late = ["LogDensity", "glm"]
    return [*(name for name in globals() if name not in late), *late]
