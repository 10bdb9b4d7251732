"""Define the CAR distribution: values at a graph's nodes, each normal about its neighbours' mean."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, float_type, is_concrete
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..special import HALF_LOG_TWO_PI
from ..special.basic.linear import diagonal_matrix, log_diagonal, lower_factor, multiply
from .adjacency import Edges, keep_edges, laplacian_spectrum
from .matrices.triangular import with_event_axes
from .normal.centred import AbstractCentredVector


class CAR(AbstractCentredVector):
    """Conditional autoregressive (CAR) prior of spatial effects: a normal whose precision follows a graph.

    Given its neighbours, element i has mean `loc_i + correlation * (weighted mean of the neighbours' values less their
    loc)` and precision `conditional_precision * (sum of its weights)`.

    The log determinant comes from the eigenvalues of the graph. They are computed on the host while tracing, so an
    evaluation costs one pass over the weights. A traced adjacency is factored at each evaluation instead.

    **Fields**
    - `loc`: mean, shape `(..., n)`, or a number for all elements.
    - `correlation`: strength of dependence on neighbours, in (-1, 1).
    - `conditional_precision`: > 0, see above.
    - `adj_matrix`: symmetric, non-negative weights, shape `(..., n, n)`; every node needs a neighbour. With
      `is_sparse`, also a SciPy sparse matrix, which is kept as arrays of its edges.
    - `is_sparse`: whether a pass is over the edges instead of all pairs; for one known graph, shape `(n, n)`.

    **Density**: `sqrt(det Q / (2 pi)^n) exp(-(x - loc)' Q (x - loc) / 2)`, where
    Q = conditional_precision (D - correlation W), W is the adjacency and D the diagonal matrix of its row sums.

    **Source**: Banerjee, Carlin & Gelfand (2014), Hierarchical Modeling and Analysis for Spatial Data, section 4.3; the
    determinant from eigenvalues is Jin, Carlin & Banerjee (2005), Biometrics 61.
    """

    loc: Any
    correlation: Any
    conditional_precision: Any
    adj_matrix: Any = eqx.field(converter=keep_edges)
    is_sparse: bool = eqx.field(static=True, default=False, kw_only=True)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "correlation": constraints.open_interval(-1.0, 1.0),
        "conditional_precision": constraints.positive,
        "adj_matrix": constraints.real_matrix,
    }

    def __check_init__(self) -> None:
        loc, shape = np.shape(self.loc), self.adj_matrix.shape
        if len(shape) < 2 or shape[-1] != shape[-2] or (loc and loc[-1] not in (1, shape[-1])):
            raise self.refuse(
                f"loc has shape {loc} and adj_matrix {shape}", "Give shapes (..., n) and (..., n, n)."
            )
        if isinstance(self.adj_matrix, Edges) and not self.is_sparse:
            raise self.refuse(
                "adj_matrix is a sparse matrix", "Pass is_sparse=True, or adj_matrix.toarray()."
            )
        if self.is_sparse and len(shape) != 2:
            raise self.refuse(
                f"adj_matrix has shape {shape}", "With is_sparse, give one graph, shape (n, n)."
            )
        if isinstance(self.adj_matrix, Edges):
            fault = self.adj_matrix.fault()
        else:
            fault = _fault_of(np.asarray(self.adj_matrix)) if is_concrete(self.adj_matrix) else ""
        if fault:
            raise self.refuse(
                f"adj_matrix {fault}", "Give symmetric weights with a neighbour for every node."
            )

    @property
    def batch_shape(self) -> Shape:
        shapes = (np.shape(self.correlation), np.shape(self.conditional_precision))
        return np.broadcast_shapes(np.shape(self.loc)[:-1], self.adj_matrix.shape[:-2], *shapes)

    @property
    def event_shape(self) -> Shape:
        return (self.adj_matrix.shape[-1],)

    @property
    def dtype(self) -> np.dtype:
        return self._dtype_with()

    @property
    def variance(self) -> jax.Array:
        squares, precision = align(
            (self._covariance_factor() ** 2).sum(axis=-1), with_event_axes(self.conditional_precision, 1)
        )
        return self._full(squares / precision)

    def log_prob(self, value: Any) -> jax.Array:
        dtype = self._dtype_with(value)
        x, loc = align(jnp.asarray(value, dtype), self.loc)
        x = x - loc
        x = jnp.broadcast_to(x, (*x.shape[:-1], *self.event_shape))
        correlation, precision = (
            jnp.asarray(p, dtype) for p in (self.correlation, self.conditional_precision)
        )
        sign = jnp.where(correlation < 0, -1.0, 1.0)
        own, between = self._energies(x, sign, dtype)
        own, between, correlation, precision, sign = align(own, between, correlation, precision, sign)
        # x'(D - correlation W)x from squares of differences, which do not cancel where neighbours are alike.
        strength = sign * correlation
        quadratic = (1 - strength) * own + strength * between
        quadratic, precision, log_determinant = align(quadratic, precision, self._log_determinant(dtype))
        log_volume = 0.5 * (self.event_shape[0] * jnp.log(precision) + log_determinant)
        return -0.5 * precision * quadratic + log_volume - self.event_shape[0] * HALF_LOG_TWO_PI

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, self._shape(sample_shape), self.dtype)
        coloured, loc, precision = align(
            multiply(self._covariance_factor(), noise),
            self.loc,
            with_event_axes(self.conditional_precision, 1),
        )
        return loc + coloured / jnp.sqrt(precision)

    def entropy(self) -> jax.Array:
        (precision,) = self._arrays("conditional_precision")
        size = self.event_shape[0]
        log_volume = 0.5 * (size * jnp.log(precision) + self._batched(self._log_determinant(self.dtype)))
        return size * (HALF_LOG_TWO_PI + 0.5) - log_volume

    def _dtype_with(self, *values: Any) -> np.dtype:
        """Return the widest floating dtype of parameters and values."""
        weights = self.adj_matrix.weights if isinstance(self.adj_matrix, Edges) else self.adj_matrix
        return float_type(*values, self.loc, self.correlation, self.conditional_precision, weights)

    def _graph(self) -> Any:
        """Return the adjacency: as edges if asked for and known, else as a matrix."""
        if self.is_sparse and not isinstance(self.adj_matrix, Edges) and is_concrete(self.adj_matrix):
            return Edges.of(np.asarray(self.adj_matrix))
        return self.adj_matrix

    def _dense(self, dtype: Any) -> jax.Array:
        """Return the adjacency as a matrix."""
        graph = self.adj_matrix
        return graph.dense(dtype) if isinstance(graph, Edges) else jnp.asarray(graph, dtype)

    def _energies(self, x: jax.Array, sign: jax.Array, dtype: Any) -> tuple[jax.Array, jax.Array]:
        """Return sums of `x_i^2` weighted by D, and of `(x_i - sign x_j)^2` weighted by W, each pair once."""
        graph = self._graph()
        if isinstance(graph, Edges):
            weights = jnp.asarray(graph.weights, dtype)
            to, other = x[..., graph.rows], x[..., graph.columns]
            _, sign = align(to, with_event_axes(sign, 1))
            weights = weights.reshape((1,) * (np.ndim(to - sign) - 1) + (-1,))
            own = (weights * to**2).sum(axis=-1)
            return own, 0.5 * (weights * (to - sign * other) ** 2).sum(axis=-1)
        matrix, to, sign = align(jnp.asarray(graph, dtype), jnp.expand_dims(x, -1), with_event_axes(sign, 2))
        own = (matrix * to**2).sum(axis=(-2, -1))
        return own, 0.5 * (matrix * (to - sign * to.mT) ** 2).sum(axis=(-2, -1))

    def _log_determinant(self, dtype: Any) -> jax.Array:
        """Return the logarithm of det(D - correlation W)."""
        spectrum = laplacian_spectrum(self._graph())
        if spectrum is None:
            return -2 * log_diagonal(self._covariance_factor(dtype))
        log_degrees, eigenvalues = (part.astype(dtype) for part in spectrum)
        correlation, eigenvalues = align(
            with_event_axes(jnp.asarray(self.correlation, dtype), 1), jnp.asarray(eigenvalues)
        )
        shrunk = jnp.log1p(-correlation * eigenvalues).sum(axis=-1)
        shrunk, log_degrees = align(shrunk, jnp.asarray(log_degrees))
        return shrunk + log_degrees

    def _covariance_factor(self, dtype: Any = None) -> jax.Array:
        """Return the lower Cholesky factor of the inverse of D - correlation W."""
        matrix, correlation = align(
            self._dense(dtype or self.dtype),
            with_event_axes(jnp.asarray(self.correlation, dtype or self.dtype), 2),
        )
        return lower_factor(
            matrix.dtype, precision=diagonal_matrix(matrix.sum(axis=-1)) - correlation * matrix
        )


def _fault_of(matrix: np.ndarray) -> str:
    """Describe what is wrong with a known adjacency; empty if nothing is."""
    if not np.array_equal(matrix, matrix.swapaxes(-1, -2)):
        return "is not symmetric"
    if (matrix < 0).any():
        return "has a negative weight"
    return "" if (matrix.sum(axis=-1) > 0).all() else "has a node without neighbours"
