"""Store draws as immutable segments, each with the state that follows it, and export them.

Each name is loaded when it is first used: many runs are kept in memory. The names and their files are in the stub
beside this file, which type checkers read too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
