"""Learn the inverse of the curvature of a log density from the points of a climb.

**Source**: Zhang, Carpenter, Gelman & Vehtari (2022), "Pathfinder: parallel quasi-Newton variational inference", JMLR
23(306), Algorithms 3 and 4; Byrd, Nocedal & Schnabel (1994), Math. Program. 63, 129-156, Theorem 2.2, for the compact
form; Gilbert & Lemaréchal (1989), Math. Program. 45, 407-435, for the diagonal.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from .normal import Normal

MEMORY = 10
"""Moves that tell the curvature."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """Inverse curvature of a log density, as the moves so far have told it; NumPy, float64.

    **Fields**: `diagonal`, of the inverse curvature that the moves correct, shape `(dim,)`, > 0; `moves`, changes of
    the position, and `turns`, falls of the gradient, shape `(move, dim)`, newest last, at most `MEMORY`. A pair has
    the inner product one: to scale both alike changes nothing.
    """

    diagonal: np.ndarray
    moves: np.ndarray
    turns: np.ndarray

    @staticmethod
    def unknown(dim: int) -> "Curvature":
        """Return the curvature before any move: one, in every direction."""
        return Curvature(np.ones(dim), np.zeros((0, dim)), np.zeros((0, dim)))

    def after(self, move: np.ndarray, turn: np.ndarray, epsilon: float) -> "Curvature":
        """Return the curvature after a move; unchanged where the density curves upward, or by less than rounding.

        `epsilon`: relative rounding error of the gradient. The condition is in no units, unlike that of the paper.
        """
        with np.errstate(all="ignore"):  # what is not finite is found below
            product = move @ turn
            if not product > epsilon * np.linalg.norm(move) * np.linalg.norm(turn):  # false for NaN
                return self
            move, turn = move / np.sqrt(product), turn / np.sqrt(product)
            diagonal = _updated(self.diagonal, move, turn)
        if not np.all(np.isfinite(diagonal) & (diagonal > 0)):
            return self
        moves, turns = (
            np.concatenate([old, new[None]])[-MEMORY:]
            for old, new in ((self.moves, move), (self.turns, turn))
        )
        return Curvature(diagonal, moves, turns)

    def normal(self, position: np.ndarray, gradient: np.ndarray) -> Normal | None:
        """Return the normal with this curvature whose log density has this gradient at a position.

        None before the first move, and where rounding leaves no positive definite covariance.
        """
        if not len(self.moves):
            return None
        scale = np.sqrt(self.diagonal)
        with np.errstate(all="ignore"):  # what is not finite is found below
            try:
                basis, inner = self._correction(scale)
                if not np.all(np.isfinite(inner)):
                    return None
                factor = np.linalg.cholesky(np.eye(len(inner)) + inner)
            except np.linalg.LinAlgError:
                return None
            scaled = scale * gradient
            step = scale * (scaled + basis @ (inner @ (basis.T @ scaled)))
            found = Normal(position + step, scale, basis, factor)
        is_finite = np.all(np.isfinite(found.mean)) and np.all(np.diagonal(factor) > 0)
        return found if is_finite else None

    def _correction(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `Q` and a symmetric `C`: the inverse curvature is `S (I + Q C Q') S`; `scale`, the diagonal of `S`."""
        count, dim = self.moves.shape
        moves, turns = self.moves / scale, self.turns * scale
        upper = np.triu(moves @ turns.T)
        inverse = solve_triangular(upper, np.eye(count), check_finite=False)
        middle = inverse.T @ (turns @ turns.T + np.diag(np.diagonal(upper))) @ inverse
        inner = np.block([[np.zeros((count, count)), -inverse], [-inverse.T, middle]])
        columns = np.concatenate([turns, moves]).T
        if not np.all(np.isfinite(columns)):
            return np.zeros((dim, 1)), np.full((1, 1), np.nan)
        basis, triangle = np.linalg.qr(columns)
        found = triangle @ inner @ triangle.T
        return basis, (found + found.T) / 2


def _updated(diagonal: np.ndarray, move: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return the diagonal after a move, whose product with the turn is one."""
    along = np.sum(diagonal * turn**2)
    across = np.sum(move**2 / diagonal)
    # Not below zero, by the inequality of Cauchy and Schwarz; but rounding does not know.
    left = np.maximum(1 - move**2 / (across * diagonal), 0.0)
    return 1 / (along * left / diagonal + turn**2)
