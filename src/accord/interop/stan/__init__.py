"""Sample Stan programs, which Stan's own code evaluates."""

from .target import messages, target

__all__ = ["messages", "target"]
