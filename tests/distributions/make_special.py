"""Compute the values that accord's special functions are compared with, from textbook formulas, with 90 digits.

Run `python tests/distributions/make_special.py` where mpmath is installed; it writes `data/special.json`: by function,
rows of arguments, the value, and the derivative by each argument.
"""

import json

import numpy as np
from accuracy import FOLDER
from mpmath import mp
from references_core import beta_lower, gamma_lower, gamma_upper, normal_cdf, student_tail

mp.dps = 90

SHAPES = [
    (1e-6, 1e-5),
    (1e-6, 3.0),
    (0.3, 0.2),
    (1.4, 0.9),
    (1.6, 0.9),
    (1.0, 50.0),
    (7.0, 2.0),
    (200.0, 260.0),
]
SHAPES += [(1e5, 1e5), (1e5, 9.8e4)]
BETAS = [
    (1e-6, 1e-6, 0.3),
    (1e-3, 5.0, 0.01),
    (0.5, 0.5, 0.7),
    (1.4, 30.0, 0.01),
    (3.0, 0.2, 0.4),
    (30.0, 50.0, 0.2),
]
BETAS += [(1e4, 1e4, 0.5), (0.5, 1e6, 4e-6), (2.0, 1e6, 3e-5)]
FUNCTIONS = {
    "log_gamma_cdf": (lambda a, x: mp.log(gamma_lower(a, x)), SHAPES),
    "log_gamma_survival": (lambda a, x: mp.log(gamma_upper(a, x)), SHAPES),
    "log_beta_cdf": (lambda a, b, x: mp.log(beta_lower(a, b, x, 1 - x)), BETAS),
    "log_beta_survival": (lambda a, b, x: mp.log(beta_lower(b, a, 1 - x, x)), BETAS),
    "student_log_tail": (
        lambda z, df: mp.log(student_tail(z, df)),
        [
            (0.3, 0.05),
            (20.0, 0.05),
            (0.5, 2.9),
            (0.5, 3.1),
            (40.0, 3.1),
            (2.0, 1e6),
            (30.0, 1e3),
            (1.5, 1e10),
        ],
    ),
    "log_ndtr": (lambda z: mp.log(normal_cdf(z)), [(-140.0,), (-5.0,), (-0.1,), (0.1,), (6.0,)]),
    "log_bessel_i0": (lambda x: mp.log(mp.besseli(0, x)), [(1e-3,), (1.9,), (2.1,), (30.0,), (1e5,)]),
    "bessel_ratio": (
        lambda x: mp.besseli(1, x) / mp.besseli(0, x),
        [(1e-3,), (2.0,), (19.0,), (21.0,), (1e5,)],
    ),
    "log_bessel_ke": (
        lambda order, x: mp.log(mp.besselk(order, x)) + x,
        [
            (1e-6, 1e-6),
            (0.3, 0.1),
            (1.0, 1e5),
            (2.5, 30.0),
            (7.9, 5.0),
            (8.1, 5.0),
            (40.0, 1e-3),
            (1000.0, 300.0),
        ],
    ),
    "log_bessel_i": (
        lambda order, x: mp.log(mp.besseli(order, x)),
        [
            (-0.5, 3.0),
            (-0.3, 0.1),
            (1e-6, 1e-6),
            (2.5, 0.999),
            (2.5, 1.001),
            (17.5, 2.0),
            (7.9, 30.0),
            (300.0, 1000.0),
            (0.3, 1e5),
        ],
    ),
}


def row(function, arguments: tuple[float, ...]) -> list[float]:
    """Arguments, rounded to float32; the value; and its derivatives by central differences."""
    at = [float(np.float32(argument)) for argument in arguments]
    exact = [mp.mpf(argument) for argument in at]
    slopes = []
    for i, argument in enumerate(exact):
        step = argument * mp.mpf(10) ** -25
        up, down = (function(*exact[:i], argument + s * step, *exact[i + 1 :]) for s in (1, -1))
        slopes.append((up - down) / (2 * step))
    return [*at, float(function(*exact)), *map(float, slopes)]


if __name__ == "__main__":
    found = {name: [row(f, point) for point in points] for name, (f, points) in FUNCTIONS.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in found.items())
    (FOLDER.parent / "special.json").write_text("{" + lines + "}\n")
