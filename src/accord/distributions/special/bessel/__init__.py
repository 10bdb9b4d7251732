"""Bessel functions and their like."""
