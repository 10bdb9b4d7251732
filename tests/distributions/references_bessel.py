"""Give textbook formulas, in mpmath, of distributions whose densities are Bessel functions of the second kind."""

import math
from typing import Any

from accuracy import Family
from mpmath import mp
from references_core import normal_cdf
from references_skewed import inverse

import accord.distributions as dist

# How far the logarithm of an integrand is followed down.
_FALL = 60.0


def bessel_k1(y: Any) -> Any:
    """K1(y) by the trapezoidal rule on the integral of exp(-y cosh t) cosh(t) (DLMF 10.32.9); faster than mpmath's."""
    size = float(y)
    step = min(0.12, 0.5 / math.sqrt(size))
    count = int(math.acosh(1 + 1.5 * _FALL / size) / step) + 1
    heights = (mp.cosh(i * mp.mpf(step)) for i in range(count))
    terms = [c * mp.exp(-y * (c - 1)) for c in heights]
    return mp.mpf(step) * (sum(terms) - terms[0] / 2) * mp.exp(-y)


def mixture_log_density(x: Any, loc: Any, scale: Any, tailweight: Any, skewness: Any) -> Any:
    z = x - loc
    q, rate = mp.sqrt(scale**2 + z * z), mp.sqrt(tailweight**2 - skewness**2)
    height = mp.log(tailweight * scale / mp.pi * bessel_k1(tailweight * q) / q)
    return height + scale * rate + skewness * z


def mixture_cdf(x: Any, loc: Any, scale: Any, tailweight: Any, skewness: Any) -> Any:
    """Normal cdfs under an inverse Gaussian distribution of the time v, by the trapezoidal rule in log v.

    The nodes stay where they are when arguments move a little, so that differences have no noise.
    """
    z, a, b = (x - loc) / scale, scale * tailweight, scale * skewness
    g = mp.sqrt(a * a - b * b)
    far, slow, fast = math.hypot(1.0, float(z)), float(g), float(a)
    peak = max(slow, fast * far)
    if slow + float(b * z) - fast * far < -2000:
        return mp.mpf(int(z > 0))  # nothing is left in any precision
    step = min(0.22, 0.6 / math.sqrt(peak))
    # From where exp(-1 / (2 v)) is small to where exp(-g^2 v / 2) is, and the same of the integrand at the tail.
    most = 2 * (_FALL + peak)
    low = max(
        -math.log(most), math.log(min(1 / slow, far / fast)) - math.acosh(1 + _FALL / min(slow, fast * far))
    )
    high = math.log(max(1 / slow, far / fast)) + math.acosh(1 + _FALL / min(slow, fast * far))
    is_upper = z > b / g
    total = mp.mpf(0)
    for i in range(int(low / step), int(high / step) + 1):
        v = mp.exp(i * mp.mpf(step))
        level = (z - b * v) / mp.sqrt(v)
        share = normal_cdf(-level if is_upper else level)
        total += share * mp.exp(-((1 - g * v) ** 2) / (2 * v)) / mp.sqrt(2 * mp.pi * v)
    total *= mp.mpf(step)
    with mp.workdps(mp.dps + 50):
        return 1 - total if is_upper else total


FEW = (1e-8, 0.99)


def inverse_log_density(x: Any, a: Any, b: Any, p: Any) -> Any:
    """The density, with the whole mass by the trapezoidal rule in log x (DLMF 10.32.10); faster than mpmath's."""
    return (p - 1) * mp.log(x) - (a * x + b / x) / 2 - mp.log(inverse_mass(a, b, p, None, 1))


def inverse_cdf(x: Any, a: Any, b: Any, p: Any) -> Any:
    """The share below x, or 1 less that above, of the smaller tail."""
    is_upper = x > inverse_top(a, b, p)
    share = inverse_mass(a, b, p, x, 1 if is_upper else -1) / inverse_mass(a, b, p, None, 1)
    with mp.workdps(mp.dps + 50):
        return 1 - share if is_upper else share


def inverse_top(a: Any, b: Any, p: Any) -> Any:
    """Where x times the density is largest."""
    w = mp.sqrt(p * p + a * b)
    return (p + w) / a if p > 0 else b / (w - p)


def inverse_mass(a: Any, b: Any, p: Any, end: Any, side: int) -> Any:
    """The integral of x^(p - 1) exp(-(a x + b / x) / 2), from `end` upwards or downwards, or over all x.

    The rule is the trapezoidal one in s, x = end * (1 + exp(s - exp(c - s)))^side or x = top * exp(s); its nodes stay
    where they are when arguments move a little, so that differences have no noise.
    """
    first, second, power = float(a), float(b), float(p)
    top = float(inverse_top(a, b, p))
    width = 1 / math.sqrt(math.hypot(power, math.sqrt(first * second)))

    def height(x: Any) -> Any:
        return mp.exp(p * mp.log(x) - (a * x + b / x) / 2)

    step, total = mp.mpf(min(0.12, 0.5 * width) if end is None else 0.1), mp.mpf(0)
    # Below the width of the tail the nodes run to the end doubly exponentially.
    place = top if end is None else float(end)
    pull = abs(first * place / 2 - second / (2 * place) - power)
    begin = 0.0 if end is None else math.log(1 / (1 + 1 / width + pull)) - 3
    least = None
    for sign in (1, -1):
        i = 0 if sign > 0 else 1
        while True:
            s = begin + sign * i * step
            if end is None:
                term = height(top * mp.exp(s))
            else:
                grown = mp.exp(s - mp.exp(begin - s))
                slope = grown / (1 + grown) * (1 + mp.exp(begin - s))
                term = height(end * (1 + grown) ** side) * slope
            total += term
            least = max(least or term, term)
            if i > 50 and term < least * mp.mpf(10) ** -34:
                break
            i += 1
    return total * step


FAMILIES = {
    "NormalInverseGaussian": Family(
        dist.NormalInverseGaussian,
        ("loc", "scale", "tailweight", "skewness"),
        mixture_log_density,
        mixture_cdf,
        inverse(dist.NormalInverseGaussian, mixture_cdf, mixture_log_density),
        [
            ((0.5, 2.0, 1.5, 0.5), [-5e3, -30.0, -3.0, 0.5, 1.2, 1.3, 8.0, 9e3]),
            ((0.0, 1.0, 1e-6, 0.0), [-1e7, -9e5, -1e3, 1e-3, 2.0, 1.1e6]),
            ((0.0, 1e6, 1e-6, -5e-7), [-1e8, -5.8e5, -5.7e5, 1e5, 2e6]),
            ((0.0, 1.0, 1e6, 2e5), [0.19, 0.2041, 0.2042, 0.21]),
            ((0.0, 1.0, 40.0, -39.9), [-150.0, -20.0, -14.0, -10.0, -5.0, 0.1]),
            ((0.0, 1e-6, 5e5, 4.99e5), [-1e-3, -2e-6, 1e-6, 8e-6, 1e-4]),
            ((-1.0, 3.0, 0.01, 0.002), [-400.0, -20.0, 0.0, 60.0, 5e3]),
            ((0.0, 1.0, 2.5e-6, 2.475e-6), [-4.1e5, 0.5, 3.9e5, 4.1e5, 1e8]),
        ],
        q=FEW,
        digits=50,
    ),
    "GeneralizedInverseGaussian": Family(
        dist.GeneralizedInverseGaussian,
        ("a", "b", "p"),
        inverse_log_density,
        inverse_cdf,
        inverse(dist.GeneralizedInverseGaussian, inverse_cdf, inverse_log_density),
        [
            ((1.5, 2.0, 0.75), [0.01, 0.1, 0.7, 1.2, 1.3, 5.0, 60.0]),
            ((1e-6, 1e-6, 0.0), [1e-9, 1e-6, 0.01, 1.0, 30.0, 1e6, 1e8]),
            ((3.0, 1e-8, 2.5), [1e-9, 1e-6, 0.1, 1.0, 20.0]),
            ((1e-8, 3.0, -2.5), [0.05, 1.0, 1e3, 1e8]),
            ((1e4, 1e4, -3.0), [0.9, 0.99, 1.0, 1.1]),
            ((2.0, 3.0, 1e4), [9e3, 1e4, 1.1e4]),
            ((1e-6, 1e3, 0.01), [1.0, 1e3, 1e5, 1e8]),
        ],
        q=FEW,
        digits=50,
    ),
}
