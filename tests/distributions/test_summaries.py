"""Test means, variances, modes and entropies that are computed by quadrature or search, against sums of many digits."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from cases_wrappers import WEIGHTS
from laws import assert_close, compiled, each

import accord.distributions as dist
from accord import bijectors


class Line(NamedTuple):
    """A distribution and what is expected of it, of its batch shape; None where another line says it."""

    make: Callable[[], dist.AbstractDistribution]
    mean: Any = None
    variance: Any = None
    mode: Any = None
    entropy: Any = None


HARMONIC = 1 / np.arange(1.0, 11.0)

LINES = {
    "Gompertz": Line(
        lambda: dist.Gompertz(np.array([0.5, 1e-6, 1e6, 30.0]), np.array([1.0, 2.0, 1.0, 0.25])),
        [0.92291063248373047, 6.6191545656825018, 9.9999900000199999e-7, 0.1291589550359205],
        [0.32962782787733875, 0.41118299560742274, 9.9999600001699992e-13, 0.015696635797793506],
        [0.6931471805599453, 6.907755278982137, 0.0, 0.0],
        [0.77023654807621484, 0.88405424603932534, -12.815511557963274, -1.0471927593012449],
    ),
    "LogitNormal": Line(
        lambda: dist.LogitNormal(np.array([0.5, 0.0, -3.0, 8.0, -20.0]), np.array([1.8, 1e-3, 30.0, 2.0, 1.0])),
        [0.57989256487406054, 0.5, 0.46024443796996282, 0.9976889791372849, 3.3982677881037441e-9],
        [0.086095559440775434, 6.2499968750022138e-8, 0.23521159514836807, 1.1159260602680888e-4, 1.98431023843450e-17],
        None,
        [-0.050214003676405497, -6.8751113568973237, -19.27945972761842, -5.8926795189374865, -18.581061473591863],
    ),
    "RelaxedBernoulli": Line(
        lambda: dist.RelaxedBernoulliLogits(np.array([0.7, 2.5, 0.05, 50.0]), np.array([-0.5, 1.0, 0.3, -2.0])),
        [0.40401203027226339, 0.58902532961089671, 0.57429366791592704, 0.49000461821243109],
        [0.10942595622136386, 0.023953295577473158, 0.2322808763311944, 8.2105493035781069e-5],
        None,
        [-0.17325548498990577, -0.46044800078485536, -23.218635506951514, -3.2990461195592211],
    ),
    "Cauchy, truncated": Line(
        lambda: dist.TruncatedCauchy(0.5, 2.0, low=-1.0, high=3.0),
        0.82132386435198079, 1.0930526587930468, 0.5, 1.3555884507556992,
    ),
    "StudentT, truncated in a tail": Line(
        lambda: dist.StudentT(3.0, 0.0, 1.0).truncate(40.0),
        60.022490365571029, 1202.0998795606153, 40.0, 3.9247992743683981,
    ),
    "Gamma, truncated at a pole": Line(
        lambda: dist.Gamma(0.3, 1.0).truncate(high=0.5),
        0.097641825588359973, 0.016221359954820243, 0.0, -2.0287137860642339,
    ),
    "Logistic, truncated": Line(
        lambda: dist.Logistic(0.0, 1.0).truncate(np.array([40.0, 1.0]), np.array([np.inf, 1.0 + 2.0**-20])),
        [41.0, 1.0000004768371232], [1.0, 7.579122514774238e-14], [40.0, 1.0], [1.0, -13.862943611198914],
    ),
    "Laplace, truncated": Line(
        lambda: dist.Laplace(0.0, 1.0).truncate(np.array([40.0, -2.0]), np.array([40.0 + 2.0**-10, 1.0])),
        [40.000488201777142, -0.22030750703546081], [7.9472855910959719e-8, 0.49078709230979913],
        [40.0, 0.0], [-6.931471845335882, 0.97670535529880637],
    ),
    "Normal, folded": Line(
        lambda: dist.FoldedDistribution(dist.Normal(0.0, 2.0)),
        1.5957691216057308, 1.4535209105296745, 0.0, np.log(2.0) + 0.72579135264472743,
    ),
    "LogNormal by transformation": Line(
        lambda: dist.TransformedDistribution(dist.Normal(0.3, 0.5), bijectors.Exp()),
        np.exp(0.425), np.expm1(0.25) * np.exp(0.85), np.exp(0.05), 0.3 + 0.72579135264472743,
    ),
    "OrderStatistic": Line(
        lambda: dist.OrderStatistic(dist.Exponential(1.0), 10, np.array([1, 7, 10])),
        [0.1, HARMONIC[3:].sum(), HARMONIC.sum()],
        [0.01, (HARMONIC[3:] ** 2).sum(), (HARMONIC**2).sum()],
        [0.0, -np.log(0.4), np.log(10.0)],
    ),
    "mixture": Line(
        lambda: dist.MixtureSameFamily(
            dist.Categorical(WEIGHTS),
            dist.Normal(
                np.array([[-2.0, 0.0, 3.0], [-2.0, 0.0, 3.0], [-1e3, 0.0, 1e3]]),
                np.array([[0.7] * 3, [1.0, 1e-2, 1.0], [1.0, 1e-2, 1.0]]),
            ),
        ),
        mode=[-0.014028975835123, -8.8272051943e-8, 0.0],
        entropy=[1.9417822132959439, 0.1318927558244253, 0.1460064542752006],
    ),
    "Poisson, truncated": Line(
        lambda: dist.Poisson(np.array([3.0, 1e5])).truncate(np.array([1, 100_000])),
        [3.1571870894737679, 100252.10101384033], [2.66091803995523, 36445.078820678024],
        [2.0, 100_000.0], [1.8244146540161979, 6.4835141134109934],
    ),
    "NegativeBinomial, truncated": Line(
        lambda: dist.NegativeBinomialProbs(0.5, 0.999).truncate(1),
        515.8113883008419, 507397.78845627052, 1.0, 7.0999947649894329,
    ),
}  # fmt: skip


def summaries(d: dist.AbstractDistribution, line: Line) -> dict[str, jax.Array]:
    """All that is expected of a line."""
    names = [name for name in ("mean", "variance", "mode", "entropy") if getattr(line, name) is not None]
    return {name: d.entropy() if name == "entropy" else getattr(d, name) for name in names}


# Programs of five seconds and more; and intervals of a few units of rounding in single precision.
LONG = {
    "StudentT, truncated in a tail",
    "Gamma, truncated at a pole",
    "NegativeBinomial, truncated",
    "OrderStatistic",
}
NARROW = {"Logistic, truncated", "Laplace, truncated"}
CLOSE = {"float64": 1e-8, "float32": 1e-4}


def check(line: Line, precision: str) -> None:
    """Compare in units of the standard deviation, of the variance, and of nats."""
    with jax.enable_x64(precision == "float64"):
        d = line.make()
        found = compiled(lambda: summaries(d, line))()
        assert all(value.dtype == d.dtype == precision for value in found.values())
    deviation = 1.0 if line.variance is None else np.sqrt(line.variance)
    units = {
        "mean": deviation,
        "variance": deviation**2,
        "mode": deviation,
        "entropy": 1 + np.abs(0.0 if line.entropy is None else line.entropy),
    }
    for name, value in found.items():
        assert value.shape == d.batch_shape
        error = np.abs(np.asarray(value, float) - getattr(line, name)) / units[name]
        # No more can be seen of a mean than its last digits.
        rounding = 4 * np.finfo(precision).eps * np.abs(value) / units[name]
        assert (error <= CLOSE[precision] + rounding).all(), (name, value, error)


@each(LINES, slow=LONG)
def test_summaries_are_those_of_finer_sums(line: Line) -> None:
    check(line, "float64")


@pytest.mark.slow
@each({name: line for name, line in LINES.items() if name not in NARROW})
def test_summaries_are_right_in_single_precision(line: Line) -> None:
    check(line, "float32")


def test_means_follow_their_parameters_and_bounds() -> None:
    def mean_lifetime(c: jax.Array) -> jax.Array:
        return dist.Gompertz(c, 1.0).mean

    def mean_excess(scale: jax.Array, low: jax.Array) -> jax.Array:
        return dist.Logistic(0.0, scale).truncate(low).mean

    slopes = compiled(lambda *p: (jax.grad(mean_lifetime)(p[0]), *jax.grad(mean_excess, (0, 1))(*p[1:])))
    # That of exp(c) E1(c); and the tail is exponential.
    expected = LINES["Gompertz"].mean[0] - 1 / 0.5, 1.0, 1.0
    assert_close(slopes(0.5, 1.3, 40.0), tuple(map(np.asarray, expected)), rtol=1e-8)
