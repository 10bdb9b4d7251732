"""Map unconstrained vectors to constrained spaces and back, with log determinants."""

from ..core.names import refusal as _refusal
from .arrays import align, float_type, is_concrete, is_number, value_hash
from .base import AbstractBijector
from .bounded import Interval, LowerBounded, UpperBounded
from .cdf import Cdf
from .combine import Chain, Independent, Inverse
from .covariance import (
    BelowIdentity,
    Cholesky,
    CorrCholesky,
    CorrMatrix,
    CorrMatrixCholesky,
    PositiveDefinite,
)
from .elementwise import (
    Abs,
    Affine,
    Exp,
    Identity,
    LeakyRelu,
    Power,
    Scale,
    Shift,
    Sigmoid,
    Softplus,
)
from .flows.autoregressive import InverseAutoregressive
from .flows.batch_norm import BatchNorm
from .flows.block import BlockNeuralAutoregressive, BlockNeuralAutoregressiveNN
from .flows.coupling import AffineFamily, Coupling, SplineFamily
from .flows.networks import AutoregressiveNN, DenseNN, MaskedDense
from .flows.planar import Planar, Radial
from .flows.splines import RationalQuadraticSpline
from .linear import Complex, LowerCholeskyAffine, Permute, RecursiveLinear, Reshape
from .named import Named, Unpack
from .spectral import DiscreteCosine, Haar, PackRealFastFourierCoefficients, RealFastFourier
from .stacked import Stacked
from .triangular import LowerCholesky, ScaledUnitLowerCholesky, SoftplusLowerCholesky
from .vectors import L1Ball, Ordered, PositiveOrdered, SimplexToOrdered, StickBreaking, ZeroSum

__all__ = [
    "Abs",
    "AbstractBijector",
    "Affine",
    "AffineFamily",
    "AutoregressiveNN",
    "BatchNorm",
    "BelowIdentity",
    "BlockNeuralAutoregressive",
    "BlockNeuralAutoregressiveNN",
    "Cdf",
    "Chain",
    "Cholesky",
    "Complex",
    "CorrCholesky",
    "CorrMatrix",
    "CorrMatrixCholesky",
    "Coupling",
    "DenseNN",
    "DiscreteCosine",
    "Exp",
    "Haar",
    "Identity",
    "Independent",
    "Interval",
    "Inverse",
    "InverseAutoregressive",
    "L1Ball",
    "LeakyRelu",
    "LowerBounded",
    "LowerCholesky",
    "LowerCholeskyAffine",
    "MaskedDense",
    "Named",
    "Ordered",
    "PackRealFastFourierCoefficients",
    "Permute",
    "Planar",
    "PositiveDefinite",
    "PositiveOrdered",
    "Power",
    "Radial",
    "RationalQuadraticSpline",
    "RealFastFourier",
    "RecursiveLinear",
    "Reshape",
    "Scale",
    "ScaledUnitLowerCholesky",
    "Shift",
    "Sigmoid",
    "SimplexToOrdered",
    "Softplus",
    "SoftplusLowerCholesky",
    "SplineFamily",
    "Stacked",
    "StickBreaking",
    "Unpack",
    "UpperBounded",
    "ZeroSum",
    "align",
    "float_type",
    "is_concrete",
    "is_number",
    "value_hash",
]

__getattr__ = _refusal(__name__)
