"""Write a model as a Python function of statements, and change what the statements mean."""

from .columns import Levels, levels
from .handler import AbstractHandler, AbstractLoopHandler
from .loops.cond import cond
from .loops.loop import Loop, LoopResult
from .loops.scan import scan
from .loops.steps import Steps
from .model import Model, ModelFunction
from .modules.module import module
from .param import param
from .plate import plate, plate_stack
from .primitives import deterministic, factor, sample
from .random import prng_key, subsample
from .site import Site
from .static import static
from .submodel import submodel

__all__ = [
    "AbstractHandler",
    "AbstractLoopHandler",
    "Levels",
    "Loop",
    "LoopResult",
    "Model",
    "ModelFunction",
    "Site",
    "Steps",
    "cond",
    "deterministic",
    "factor",
    "levels",
    "module",
    "param",
    "plate",
    "plate_stack",
    "prng_key",
    "sample",
    "scan",
    "static",
    "submodel",
    "subsample",
]
