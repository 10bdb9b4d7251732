"""Compute what a traced program does again and again in one operation."""

from .gradient import MANY_SITES as MANY_SITES
from .gradient import gradient_of_merged as gradient_of_merged
from .merge import merged as merged
