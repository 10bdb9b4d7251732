"""Functions that most others are written with."""
