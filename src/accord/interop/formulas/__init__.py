"""Write models from formulas, as lme4, brms and Bambi do."""

from .design import columns_of
from .glm import glm
from .model import FormulaModel
from .parse import split

__all__ = ["FormulaModel", "columns_of", "glm", "split"]
