"""Offer `render_model`, where NumPyro has it too."""

from ..infer.inspect import render_model as render_model
