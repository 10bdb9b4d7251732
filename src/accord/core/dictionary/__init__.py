"""Translate other libraries' words to accord's; loaded by the first error that needs it."""
