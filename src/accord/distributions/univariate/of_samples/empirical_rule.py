"""Provide quadrature points and weights over the distance of an empirical distribution function."""

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Number of draws up to which the kinks between pieces of the density matter.
_ROUGH = 16
# In units of sqrt(size): the probability beyond the upper end is 1e-33, below the lower end 1e-16.
_FAR, _NEAR = 6.2, 0.18


def distance_rule(size: int, *, is_two_sided: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return points in the support and weights: Gauss-Legendre rules on pieces where the density is smooth.

    At the outer ends of the first and last piece the density may be a power (times its logarithm in the entropy):
    points are denser there.
    """
    first = max(0.5, np.floor(2 * _NEAR * np.sqrt(size)) / 2) if is_two_sided else 0.0
    ends = np.arange(first, min(size, _ROUGH) + 0.25, 0.5)
    last = min(size, _FAR * np.sqrt(size))
    if last > _ROUGH:
        ends = np.append(ends, np.linspace(_ROUGH, last, int(2 * (last - _ROUGH) / np.sqrt(size)) + 2)[1:])
    low, width = ends[:-1, None], np.diff(ends)[:, None]
    unit, weights = 0.5 * (1 + _NODES), 0.5 * _WEIGHTS
    points, weights = low + width * unit, width * weights
    points[0] = ends[0] + width[0] * unit**3
    weights[0] *= 3 * unit**2
    if len(points) > 1:
        points[-1] = ends[-1] - width[-1] * unit**3
        weights[-1] *= 3 * unit**2
    return points.reshape(-1) / size, weights.reshape(-1) / size
