"""Offer distributions as frozen values, by NumPyro's names.

Each is loaded when it is first used: a model needs few of them, and loading all would cost a third of a second. The
names and their files are in the stub beside this file, which type checkers read too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
