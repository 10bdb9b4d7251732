"""Evaluate the log density of a model over vectors of unconstrained numbers.

Each name is loaded when it is first used: few runs explain a failure, or draw a graph. The names and their files are in
the stub beside this file, which type checkers read too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
