"""Store a graph as arrays of edges, and find its eigenvalues if it is known while tracing."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import is_concrete

# Tolerance for rounding an eigenvalue to 1 or -1; the largest one of a connected graph is 1.
_SNAP = 1e-12


class Edges(eqx.Module):
    """Symmetric matrix of weights, stored as its non-zero elements.

    **Fields**
    - `rows`, `columns`: where they are, shape `(count,)`; each pair of nodes occurs in both orders.
    - `weights`: what they are.
    - `size`: the number of nodes.
    """

    rows: Any
    columns: Any
    weights: Any
    size: int = eqx.field(static=True)

    @classmethod
    def of(cls, matrix: np.ndarray) -> "Edges":
        """Return the edges of a dense matrix."""
        rows, columns = np.nonzero(matrix)
        return cls(rows, columns, matrix[rows, columns], matrix.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return (self.size, self.size)

    def dense(self, dtype: Any) -> jax.Array:
        """Return the dense matrix."""
        return jnp.zeros(self.shape, dtype).at[self.rows, self.columns].add(jnp.asarray(self.weights, dtype))

    def fault(self) -> str:
        """Describe what is wrong with the graph; empty if nothing is."""
        if not is_concrete(self.weights):
            return ""
        weights = np.asarray(self.weights)
        order, mirrored = (
            np.lexsort(pair) for pair in ((self.columns, self.rows), (self.rows, self.columns))
        )
        same = np.array_equal(self.rows[order], self.columns[mirrored])
        same = same and np.array_equal(self.columns[order], self.rows[mirrored])
        if not (same and np.array_equal(weights[order], weights[mirrored])):
            return "is not symmetric"
        if (weights < 0).any():
            return "has a negative weight"
        degrees = np.bincount(self.rows, weights, self.size)
        return "" if (degrees > 0).all() else "has a node without neighbours"


def keep_edges(matrix: Any) -> Any:
    """Convert a SciPy sparse matrix, which JAX cannot hold, to edges; return anything else unchanged."""
    if not hasattr(matrix, "tocoo"):
        return matrix
    entries = matrix.tocoo(copy=True)
    entries.sum_duplicates()
    return Edges(entries.row, entries.col, entries.data, entries.shape[0])


def laplacian_spectrum(graph: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Compute on the host the sums of log degrees and eigenvalues of D^-1/2 W D^-1/2; None for a traced graph."""
    if isinstance(graph, Edges):
        if not all(is_concrete(part) for part in (graph.rows, graph.columns, graph.weights)):
            return None
        rows, columns = np.asarray(graph.rows), np.asarray(graph.columns)
        weights = np.asarray(graph.weights, np.float64)
        degrees = np.bincount(rows, weights, graph.size)
        scaled = weights / np.sqrt(degrees[rows] * degrees[columns])
        return np.log(degrees).sum(), _snapped(_banded_eigenvalues(rows, columns, scaled, graph.size))
    if not is_concrete(graph):
        return None
    matrix = np.asarray(graph, np.float64)
    degrees = matrix.sum(axis=-1)
    root = np.sqrt(degrees)
    scaled = matrix / (root[..., :, None] * root[..., None, :])
    return np.log(degrees).sum(axis=-1), _snapped(np.linalg.eigvalsh(scaled))


def _banded_eigenvalues(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """Compute eigenvalues of a sparse symmetric matrix, reordered to a narrow band instead of dense."""
    from scipy.linalg import eigvals_banded
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order = reverse_cuthill_mckee(csr_array((weights, (rows, columns)), (size, size)), symmetric_mode=True)
    place = np.argsort(order)
    rows, columns = place[rows], place[columns]
    lower = rows >= columns
    below = rows[lower] - columns[lower]
    band = np.zeros((below.max() + 1, size))
    band[below, columns[lower]] = weights[lower]
    return np.asarray(eigvals_banded(band, lower=True))


def _snapped(eigenvalues: np.ndarray) -> np.ndarray:
    """Round eigenvalues near 1 or -1 to them: the error would show near a correlation of 1."""
    near = np.abs(np.abs(eigenvalues) - 1) < _SNAP * eigenvalues.shape[-1]
    return np.where(near, np.sign(eigenvalues), eigenvalues)
