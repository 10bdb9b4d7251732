"""Run chains in threads of this process, in other processes, on devices, or on a cluster.

Each executor is loaded when it is first used: most runs need threads alone. The names and their files are in the stub
beside this file, which type checkers read too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
