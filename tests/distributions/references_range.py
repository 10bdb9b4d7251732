"""Give textbook formulas, in mpmath, of the range of normal variables over an estimated scale."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from accuracy import Family
from mpmath import mp
from references_noncentral_ratio import real_inverse

import accord.distributions as dist

# What does not depend on what is differentiated has fewer digits: it is the same at both ends of a difference.
DIGITS = 45
LEAST = 1e-26


class Parts(NamedTuple):
    """What is averaged over the scale: w times the density of the range, and its probabilities below and above w."""

    height: Any
    below: Any
    above: Any


@functools.cache
def upper(i: int, n: int) -> Any:
    """The probability above a point of the rule."""
    return mp.ncdf(-(i + mp.mpf(1) / 3) * spacing(n))


def spacing(n: int) -> Any:
    """Even steps which make the sums over the least of n variables exact to 25 digits."""
    return mp.mpf(11) / 20 / mp.sqrt(n)


@functools.cache
def range_parts(n: int, j: int, k: int) -> Parts:
    """Sums over the least of the variables, at w = exp(j / 2^k)."""
    with mp.workdps(DIGITS):
        w, h = mp.exp(mp.ldexp(mp.mpf(j), -k)), spacing(n)
        if w ** (n - 1) < mp.mpf(10) ** -40:
            density = mp.mpf(n) ** 0.5 * (n - 1) * (2 * mp.pi) ** (mp.mpf(1 - n) / 2) * w ** (n - 2)
            return Parts(w * density, w * density / (n - 1), mp.mpf(1))
        start, sums = int(-w / 2 / h), [mp.mpf(0)] * 3
        for sign in (1, -1):
            i = start if sign > 0 else start - 1
            while True:
                z = (i + mp.mpf(1) / 3) * h
                first, last = upper(i, n), mp.ncdf(-z - w)
                between = first - last
                terms = (
                    (n - 1) * w * between ** (n - 2) * mp.npdf(z) * mp.npdf(z + w),
                    between ** (n - 1) * mp.npdf(z),
                    (first ** (n - 1) - between ** (n - 1)) * mp.npdf(z),
                )
                sums = [total + term for total, term in zip(sums, terms, strict=True)]
                i += sign
                is_past = abs(z + w / 2) > w / 2 + 1
                if is_past and all(t <= total * LEAST for t, total in zip(terms, sums, strict=True)):
                    break
        return Parts(*(n * h * total for total in sums))


def over_scale(n: int, part: int, q: Any, df: Any) -> Any:
    """The mean of a part at q s, s a chi variable over the root of its degrees of freedom, by even steps in log(q s).

    The points stay where they are when `q` and `df` move by as little as they do in a difference.
    """
    k, first, last = points(n, part, mp.nstr(q, 10), mp.nstr(df, 10))
    total, log_q = mp.mpf(0), mp.log(q)
    for j in range(first, last + 1):
        log_s = mp.ldexp(mp.mpf(j), -k) - log_q
        total += range_parts(n, j, k)[part] * mp.exp(df * (log_s - mp.expm1(2 * log_s) / 2))
    half = df / 2
    return mp.ldexp(total, 1 - k) * mp.exp(half * mp.log(half) - half - mp.loggamma(half))


@functools.cache
def points(n: int, part: int, q: str, df: str) -> tuple[int, int, int]:
    """Steps of 2^-k, and the first and the last that count: on both sides of the peak the terms fall."""
    with mp.workdps(DIGITS):
        log_q, freedom = mp.log(mp.mpf(q)), mp.mpf(df)
        k = max(5, int(mp.ceil(mp.log(1.7 * mp.sqrt(2 * freedom), 2))))

        @functools.cache
        def height(j: int) -> Any:
            log_s = mp.ldexp(mp.mpf(j), -k) - log_q
            chance = range_parts(n, j, k)[part]
            return (
                mp.log(chance) + freedom * (log_s - mp.expm1(2 * log_s) / 2) if chance > 0 else mp.mpf("-inf")
            )

        # Where so little is above, the peak is not.
        peak = int(mp.ldexp(min(log_q, mp.log(300)), k))
        for stride in (32, 4, 1):
            for side in (stride, -stride):
                while height(peak + side) > height(peak):
                    peak += side
        ends = []
        for side in (-1, 1):
            j = peak
            while height(j) > height(peak) + mp.log(LEAST):
                j += side
            ends.append(j)
        return k, ends[0], ends[1]


def family(n: int, at: list[tuple[tuple[float, ...], list[float]]]) -> Family:
    """The distribution for this many groups."""

    def make(df: Any) -> dist.StudentizedRange:
        return dist.StudentizedRange(df, n)

    def log_density(x: Any, df: Any) -> Any:
        return mp.log(over_scale(n, 0, x, df) / x)

    def cdf(x: Any, df: Any) -> Any:
        return over_scale(n, 1, x, df) if x < 1 + mp.log(n) else 1 - over_scale(n, 2, x, df)

    inverse: Callable[..., Any] = real_inverse(make, cdf, log_density)
    return Family(make, ("df",), log_density, cdf, inverse, at, (1e-8, 0.01, 0.5, 0.95), digits=110)


FAMILIES = {
    "StudentizedRange2": family(
        2,
        [
            ((0.25,), [1e-3, 2.0, 1e8]),
            ((1.0,), [1e-6, 1.0, 1e4]),
            ((6.5,), [0.25, 3.0, 60.0]),
            ((1e6,), [0.5, 2.0, 20.0]),
        ],
    ),
    # With three, E[s^2] = 1 leaves nothing of derivatives by df near 0.
    "StudentizedRange4": family(
        4,
        [
            ((1.0,), [1e-6, 1.0, 1e4]),
            ((12.0,), [0.02, 3.0, 60.0]),
            ((300.0,), [0.5, 4.0, 20.0]),
            ((1e6,), [0.125, 2.0, 5.0, 20.0, 200.0]),
        ],
    ),
    "StudentizedRange20": family(
        20,
        [
            ((1.0,), [0.02, 3.0, 1e4]),
            ((12.0,), [0.25, 4.0, 60.0]),
            ((1e6,), [0.5, 3.5, 8.0, 20.0]),
        ],
    ),
    "StudentizedRange100": family(
        100,
        [
            ((3.0,), [1.0, 5.0, 1e3]),
            ((40.0,), [2.0, 5.0, 40.0]),
            ((1e6,), [3.0, 5.0, 9.0]),
        ],
    ),
}
