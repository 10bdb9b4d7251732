"""Check and sample models, and read runs, at the command line: `accord check`, `accord sample`, `accord summary`."""

from .app import main

__all__ = ["main"]
