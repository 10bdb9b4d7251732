"""Offer `scan` and `cond`, where NumPyro has them."""

from ..control_flow import cond as cond
from ..control_flow import scan as scan
