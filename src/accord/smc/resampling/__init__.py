"""Choose which particles go on, by their weights: a file for each scheme."""

from .base import AbstractResampling as AbstractResampling
from .multinomial import Multinomial as Multinomial
from .residual import Residual as Residual
from .stratified import Stratified as Stratified
from .systematic import Systematic as Systematic

RESAMPLING = {each.__name__: each for each in (Systematic, Stratified, Residual, Multinomial)}
"""Schemes by name, as manifests have them."""
