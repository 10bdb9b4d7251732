"""Sample from models, and read runs, at the command line: `accord sample`, `accord summary`, `accord example`."""

from .app import main

__all__ = ["main"]
