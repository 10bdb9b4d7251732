"""Move chains: kernels are resumable state machines told one evaluation at a time.

Each is loaded when it is first used: a run needs one or two of them. The names and their files are in the stub beside
this file, which type checkers read too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
