"""Write models from formulas, as lme4, brms and Bambi do."""

from .glm import glm
from .model import FormulaModel

__all__ = ["FormulaModel", "glm"]
