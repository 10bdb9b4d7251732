"""Test entropies that are computed by a rule of fixed length against finer sums, at shapes far apart."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from laws import assert_close, compiled, each

import accord.distributions as dist


class Line(NamedTuple):
    """A family by its parameters, sets of these, and the entropies: sums over all values, or of ten thousand points."""

    make: Callable[..., Any]
    parameters: list[tuple[float, ...]]
    expected: list[float]


LINES = {
    "NegativeBinomial": Line(
        dist.NegativeBinomial,
        [(3.5, 0.6), (0.01, 0.9), (0.5, 0.9999), (1e-3, 0.99), (1e6, 1e-3), (1e-6, 0.5)],
        [
            2.5880138948674,
            0.15759880515865,
            9.3065741848223,
            0.046151779163042,
            4.8737331312265,
            1.1135369910878e-05,
        ],
    ),
    "BetaNegativeBinomial": Line(
        dist.BetaNegativeBinomial,
        [(2.5, 12.0, 4.0), (1e3, 1e3, 1e3), (1e-3, 6.0, 2.0)],
        [1.319084254728, 5.5657756208802, 0.003018775825165],
    ),
    "SkewNormal": Line(
        dist.SkewNormal,
        [(0.0, 1.0, 0.0), (5.0, 1.0, -4.0), (0.0, 1.0, 1e3), (0.0, 1.0, 1e6)],
        [1.4189385332047, 0.90019325378262, 0.72651199942766, 0.72579207329227],
    ),
    "ExponentiallyModifiedGaussian": Line(
        dist.ExponentiallyModifiedGaussian,
        [(0.0, 1.0, 1e-9), (0.0, 1.0, 0.1), (0.0, 1.0, 3.0), (0.0, 1.0, 1e6)],
        [21.723265837849, 3.3909161377739, 1.4712370832584, 1.4189385332047],
    ),
    "WrappedNormal": Line(
        dist.WrappedNormal,
        [(1.0, 0.36), (1.0, 0.6), (1.0, 2.0), (1.0, 4.0)],
        [0.39728728567269, 0.9081124136623, 1.8193957165308, 1.8378769538742],
    ),
    "NoncentralChi2": Line(
        dist.NoncentralChi2,
        [(3.0, 2.0), (0.5, 0.0), (600.0, 1500.0), (0.1, 50.0)],
        [2.5375984422975, -0.9394204447689, 5.8594847570749, 4.053055192136],
    ),
    "Rician": Line(
        dist.Rician,
        [(0.0, 1.0), (1.0, 1.0), (4.0, 1.0), (1e4, 1.0)],
        [0.94203424217061, 1.1235887215189, 1.4017302180189, 1.4189385307047],
    ),
    "PolyaGamma": Line(
        dist.PolyaGamma,
        [(1.0, 0.0), (0.01, 1.0), (12.0, 2.0), (1.0, 100.0), (1e6, 0.0)],
        [-0.51101749626997, -7.3913758398187, 0.71193156022259, -5.8502432494876, 6.7376665770129],
    ),
    "JohnsonSU": Line(
        lambda skewness, tailweight: dist.JohnsonSU(0.0, 1.0, skewness, tailweight),
        [(0.5, 1.5), (-3.0, 0.01), (2.0, 1e3), (40.0, 2.0), (11.0, 0.05)],
        [1.2435918897608, 305.40742885846, -5.488814245781, 20.032644171925, 223.72152362439],
    ),
    "LogitNormal": Line(
        dist.LogitNormal,
        [(0.0, 1.0), (0.3, 1e-3), (-3.0, 30.0), (200.0, 1.0), (-500.0, 100.0)],
        [-0.1931798334769, -6.8975274791612, -19.27945972742, -198.58106146514, -493.97590201806],
    ),
    "InverseGaussian": Line(
        dist.InverseGaussian,
        [(1.0, 1.0), (1.0, 1e-2), (1e3, 1e9)],
        [0.87694560787242, -1.4121924376976, 1.4189377832045],
    ),
}


@each(LINES)
def test_entropies_are_those_of_finer_sums(line: Line) -> None:
    parameters = np.array(line.parameters).T
    found = compiled(lambda *p: line.make(*p).entropy())(*parameters)
    assert_close(found, np.array(line.expected), rtol=1e-10, atol=1e-10)


def test_a_hurdle_is_most_likely_to_give_its_zero_or_the_best_of_the_rest() -> None:
    hurdles = {
        "gate": (dist.HurdlePoisson(np.array([0.01, 0.9]), 2.5), [2.0, 0.0]),
        "next to zero": (dist.HurdlePoisson(0.3, np.array([0.5, 9.0])), [1.0, 0.0]),
        "two maxima": (dist.HurdleDistribution(dist.BetaBinomial(0.5, 0.4, 9), gate=0.1), 9.0),
        "below zero": (dist.HurdleDistribution(dist.Skellam(1.0, 2.5), gate=0.01), -1.0),
        "density": (dist.HurdleGamma(0.1, 3.0, 4.0), 0.5),
    }
    found = compiled(lambda: {name: d.mode for name, (d, _) in hurdles.items()})()
    assert_close(found, {name: np.array(mode) for name, (_, mode) in hurdles.items()})
