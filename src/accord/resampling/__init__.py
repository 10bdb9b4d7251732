"""Choose which particles go on, by their weights: a file for each scheme."""

from .base import AbstractResampling as AbstractResampling
from .conditional import AbstractConditionalResampling as AbstractConditionalResampling
from .conditional_multinomial import ConditionalMultinomial as ConditionalMultinomial
from .conditional_systematic import ConditionalSystematic as ConditionalSystematic
from .multinomial import Multinomial as Multinomial
from .residual import Residual as Residual
from .stratified import Stratified as Stratified
from .systematic import Systematic as Systematic
from .uniforms import Uniforms as Uniforms

RESAMPLING = {each.__name__: each for each in (Systematic, Stratified, Residual, Multinomial)}
"""Schemes by name, as manifests have them."""

CONDITIONAL = {each.__name__: each for each in (ConditionalSystematic, ConditionalMultinomial)}
"""Those that keep a reference trajectory, likewise."""
