"""Draw from the posterior of a model written as a Python function."""

from . import distributions as distributions
from . import handlers as handlers
from . import infer as infer
from .density import LogDensity as LogDensity
from .language import Model as Model
from .language import deterministic as deterministic
from .language import factor as factor
from .language import model as model
from .language import plate as plate
from .language import sample as sample
from .language import static as static
from .language import submodel as submodel

__version__ = "0.1.0"
