"""Join the tables: module of NumPyro to name to row."""

from ..row import Row
from .distributions import TABLES as _DISTRIBUTIONS
from .fits import TABLES as _FITS
from .inference import TABLES as _INFERENCE
from .statements import TABLES as _STATEMENTS

TABLES: dict[str, dict[str, Row]] = {**_STATEMENTS, **_DISTRIBUTIONS, **_INFERENCE, **_FITS}
