"""Give textbook formulas of the directional families in mpmath, and where they are compared."""

import functools

from accuracy import Family
from mpmath import mp

import accord.distributions as dist


def von_mises_log_density(x, loc, k):
    return k * mp.cos(x - loc) - mp.log(2 * mp.pi * _bessel_i0(k))


def von_mises_cdf(x, loc, k):
    """From -pi to x: a Fourier series, or where the concentration is large the masses up to both angles."""
    if k > 500:
        return _from_centre(x - loc, k) - _from_centre(-mp.pi - loc, k)
    with mp.workdps(90 + int(k)):
        ratios = _ratios(k)
        result = (x + mp.pi) / (2 * mp.pi) + (
            _series(ratios, x - loc) - _series(ratios, -mp.pi - loc)
        ) / mp.pi
    return +result


@functools.cache
def _ratios(k):
    """I_j(k) / (j I_0(k)), j = 1, 2, ..., by Miller's backward recurrence."""
    count = 40 + int(2 * k)
    while count * mp.log10(k / 2) - mp.loggamma(count) / mp.log(10) > -100 - k:
        count += 10
    later, now, values = mp.mpf(0), mp.mpf(10) ** -500, []
    for j in range(count, 0, -1):
        values.append(now / j)
        later, now = now, later + 2 * j / k * now
    return tuple(value / now for value in reversed(values))


@functools.cache
def _series(ratios, angle):
    """The sum of ratio_j sin(j angle), the sines by rotation."""
    turn = mp.expj(angle)
    at, total = turn, mp.mpf(0)
    for ratio in ratios:
        total += ratio * at.imag
        at *= turn
    return total


def _from_centre(angle, k):
    """Minus the mass beyond an angle below 0, or the mass up to one above 0 less 1: exp(-2 k y^2) in y = sin(t / 2)."""
    if abs(angle) >= mp.pi:
        return mp.mpf(0)  # below exp(-500) of what it is compared with
    y = mp.sin(abs(angle) / 2)
    a = 2 * k * y**2
    term, upper = mp.mpf(1), mp.sqrt(mp.pi) * mp.erfc(mp.sqrt(a))
    total = mp.mpf(0)
    for j in range(2000):
        added = term * upper / (2 * k) ** (j + mp.mpf(1) / 2)
        total += added
        if abs(added) < abs(total) * mp.mpf(10) ** -88:
            break
        upper = (j + mp.mpf(1) / 2) * upper + a ** (j + mp.mpf(1) / 2) * mp.exp(-a)
        term *= (j + mp.mpf(1) / 2) / (j + 1)
    beyond = total / (2 * mp.pi * _bessel_i0(k) * mp.exp(-k))
    return beyond if angle < 0 else 1 - beyond


def von_mises_quantile(q, loc, k):
    # All arguments that round to the same numbers share one start, which is right to 80 digits for one of them.
    at = float(q), float(loc), float(k)
    x = STARTS.get(at) or mp.mpf(float(dist.VonMises(*at[1:]).icdf(at[0])))
    for _ in range(30):
        move = (von_mises_cdf(x, loc, k) - q) / mp.exp(von_mises_log_density(x, loc, k))
        x -= move
        if abs(move) < mp.mpf(10) ** -45:  # the next move would be below its square
            STARTS.setdefault(at, x)
            return x
    raise ValueError(f"no quantile found at q={mp.nstr(q)}, loc={mp.nstr(loc)}, k={mp.nstr(k)}")


@functools.cache
def _bessel_i0(k):
    return mp.besseli(0, k)


STARTS = {}
FAMILIES = {
    "VonMises": Family(
        make=lambda loc, concentration: dist.VonMises(loc, concentration),
        names=("loc", "concentration"),
        log_density=von_mises_log_density,
        cdf=von_mises_cdf,
        quantile=von_mises_quantile,
        q=(1e-8, 0.25, 0.5, 0.99, 1 - 2.0**-20),
        points=[
            ((0.0, 1e-6), [-3.14, -2.0, 0.0, 1.0, 3.1]),
            ((0.0, 0.5), [-3.14, -3.0, -1.5, -1e-3, 0.0, 0.7, 2.5, 3.14]),
            ((1.0, 0.5), [-3.1, -2.5, -2.0, 0.5, 1.0, 2.5]),
            ((-2.5, 4.0), [-3.14, -2.5, -1.0, 0.6, 1.0, 2.5, 3.1]),
            ((2.0, 4.0), [-3.1, -2.0, -1.14, -0.5, 1.0, 2.0, 3.0]),
            ((0.0, 30.0), [-3.1, -2.0, -1.0, -0.2, 0.1, 0.5, 2.0]),
            ((0.5, 100.0), [-3.0, -2.0, -0.5, 0.4, 0.5, 0.7, 1.5]),
            ((3.0, 100.0), [-3.1, -3.0, -2.0, 1.5, 2.9, 3.1]),
            ((0.0, 1e4), [-1.5, -0.3, -0.05, 1e-3, 0.02]),
            ((0.3, 1e6), [0.16, 0.29, 0.299, 0.3, 0.3005, 0.31]),
        ],
    ),
}
