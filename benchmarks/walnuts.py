"""Compare NUTS with WALNUTS, whose steps halve where the energy error is large, on posteriors of several scales.

A prototype outside the compiled engine, one chain at a time in NumPy (about 0.1 ms a gradient): it counts gradients and
effective draws, which is enough to decide by. Both samplers have the same trees, metric (diagonal) and warm-up.

**Source**: Bou-Rabee, Carpenter, Kleppe & Liu (2025), "The within-orbit adaptive leapfrog No-U-Turn sampler",
arXiv:2506.18746.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from accord.report import ess_bulk, ess_tail, r_hat

Target = Callable[[np.ndarray], tuple[float, np.ndarray]]

DIVERGENCE, MAX_DEPTH, MAX_HALVINGS = 1000.0, 10, 8
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def funnel(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Neal's funnel in ten dimensions: the first is the log variance of the others, of standard deviation 3."""
    v, rest = x[0], x[1:]
    precision = np.exp(-v)
    squares = rest @ rest * precision
    gradient = np.concatenate([[-v / 9 + squares / 2 - len(rest) / 2], -rest * precision])
    return -v * v / 18 - squares / 2 - len(rest) * v / 2, gradient


def eight_schools(x: np.ndarray, *, is_centred: bool) -> tuple[float, np.ndarray]:
    """Eight schools; `x` holds log tau, mu, and the schools' effects or, not centred, their z-scores."""
    tau, mu, z = np.exp(x[0]), x[1], x[2:]
    cauchy = (tau / 5) ** 2
    prior = x[0] - np.log1p(cauchy) - mu * mu / 50
    theta = z if is_centred else mu + tau * z
    misfit = (EFFECTS - theta) / ERRORS**2
    likelihood = -0.5 * np.sum((EFFECTS - theta) * misfit)
    by_log_tau, by_mu = 1 - 2 * cauchy / (1 + cauchy), -mu / 25
    if is_centred:
        score = (z - mu) / tau**2
        own = -0.5 * (z - mu) @ score - len(z) * x[0]
        by_log_tau, by_mu = by_log_tau + (z - mu) @ score - len(z), by_mu + score.sum()
        return prior + likelihood + own, np.concatenate([[by_log_tau, by_mu], misfit - score])
    by_log_tau, by_mu = by_log_tau + tau * (misfit @ z), by_mu + misfit.sum()
    return prior + likelihood - 0.5 * z @ z, np.concatenate([[by_log_tau, by_mu], tau * misfit - z])


_RANDOM = np.random.default_rng(1)
_X = _RANDOM.normal(size=(60, 10))
_Y = _X @ np.array([3.0, -2, 1, 0, 0, 0, 0, 0, 0, 0]) + _RANDOM.normal(size=60)


def horseshoe(x: np.ndarray) -> tuple[float, np.ndarray]:
    """A regression with three coefficients of ten; `x` holds log tau, ten log lambda and ten z-scores."""
    scales, z = np.exp(x[0] + x[1:11]), x[11:]
    beta = z * scales
    misfit = _Y - _X @ beta
    by_beta = _X.T @ misfit
    logs = x[:11]
    log_density = -0.5 * misfit @ misfit - 0.5 * z @ z + np.sum(logs - np.log1p(np.exp(2 * logs)))
    by_logs = 1 - 2 / (1 + np.exp(-2 * logs))
    by_logs[1:] += by_beta * beta
    by_logs[0] += by_beta @ beta
    return log_density, np.concatenate([by_logs, by_beta * scales - z])


TARGETS: dict[str, tuple[Target, int]] = {
    "funnel": (funnel, 10),
    "eight schools, centred": (lambda x: eight_schools(x, is_centred=True), 10),
    "eight schools, not centred": (lambda x: eight_schools(x, is_centred=False), 10),
    "horseshoe": (horseshoe, 21),
}


@dataclass
class Sampler:
    """One chain. `error` is the largest change of energy within a step of WALNUTS; infinite, it is NUTS."""

    target: Target
    accept: float
    error: float
    random: np.random.Generator
    step: float = 0.1
    scale: np.ndarray = field(default_factory=lambda: np.ones(1))
    gradients: int = 0
    failures: int = 0
    acceptances: list[float] = field(default_factory=list)

    def evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Log density and whitened gradient, counted."""
        self.gradients += 1
        log_density, gradient = self.target(x)
        return log_density, self.scale * gradient

    def micro(self, point: tuple, step: float, count: int) -> tuple[tuple, float]:
        """`count` leapfrog steps, and the range of the energy on the way; given up beyond `error`."""
        x, p, force, energy = point
        low = high = energy
        for _ in range(count):
            p = p + 0.5 * step * force
            x = x + step * self.scale * p
            log_density, force = self.evaluate(x)
            p = p + 0.5 * step * force
            energy = 0.5 * (p @ p) - log_density
            energy = energy if energy == energy else np.inf  # NaN is no place to go
            low, high = min(low, energy), max(high, energy)
            if not high - low <= self.error:
                break
        return (x, p, force, energy), high - low

    def leaf(self, point: tuple, sign: int, start: float) -> tuple | None:
        """The next leaf of a trajectory that began at energy `start`; None where it ends."""
        if self.error == np.inf:
            new, _ = self.micro(point, sign * self.step, 1)
            self.acceptances.append(np.exp(min(0.0, start - new[3])))
            self.failures += not new[3] - start < DIVERGENCE
            return new if new[3] - start < DIVERGENCE else None
        for level in range(MAX_HALVINGS + 1):
            count = 2**level
            new, spread = self.micro(point, sign * self.step / count, count)
            if level == 0:
                self.acceptances.append(np.exp(-abs(new[3] - point[3])))
            if spread <= self.error:
                break
        else:
            self.failures += 1
            return None
        # A coarser step that would do backwards could not have come here: the two ways must choose alike.
        while count > 1:
            count //= 2
            if self.micro(new, -sign * self.step / count, count)[1] <= self.error:
                return None
        return new

    def subtree(self, point: tuple, depth: int, sign: int, start: float) -> tuple | None:
        """(first leaf, last leaf, proposal, log weight, summed momenta) in the order of growth; None if it ends."""
        if depth == 0:
            new = self.leaf(point, sign, start)
            return None if new is None else (new, new, new, start - new[3], new[1])
        one = self.subtree(point, depth - 1, sign, start)
        two = one and self.subtree(one[1], depth - 1, sign, start)
        if not one or not two:
            return None
        weight = np.logaddexp(one[3], two[3])
        proposal = two[2] if np.log(self.random.uniform()) < two[3] - weight else one[2]
        if turns(one, two):
            return None
        return one[0], two[1], proposal, weight, one[4] + two[4]

    def draw(self, x: np.ndarray) -> np.ndarray:
        """The next draw."""
        log_density, force = self.evaluate(x)
        self.gradients -= 1  # an engine keeps it
        p = self.random.normal(size=len(x))
        start = 0.5 * (p @ p) - log_density
        here = (x, p, force, start)
        tree = (here, here, here, 0.0, p)  # ends in the order of time
        self.acceptances = []
        for depth in range(MAX_DEPTH):
            sign = 1 if self.random.uniform() < 0.5 else -1
            new = self.subtree(tree[1] if sign == 1 else tree[0], depth, sign, start)
            if new is None:
                break
            proposal = new[2] if np.log(self.random.uniform()) < new[3] - tree[3] else tree[2]
            left, right = (tree, new) if sign == 1 else ((new[1], new[0], *new[2:]), tree)
            stops = turns(left, right)
            tree = left[0], right[1], proposal, np.logaddexp(tree[3], new[3]), left[4] + right[4]
            if stops:
                break
        return tree[2][0]


def turns(one: tuple, two: tuple) -> bool:
    """Whether two adjacent trees turn back, as a whole or where they meet."""
    first, end, begin, last = one[0][1], one[1][1], two[0][1], two[1][1]
    tests = ((first, last, one[4] + two[4]), (first, begin, one[4] + begin), (end, last, two[4] + end))
    return any(not (a @ total > 0 and b @ total > 0) for a, b, total in tests)


def run(
    target: Target, dim: int, accept: float, error: float, seed: int, draws: int
) -> tuple[np.ndarray, Sampler]:
    """One chain of `draws` after a warm-up of 500 with dual averaging, and its sampler."""
    sampler = Sampler(target, accept, error, np.random.default_rng([seed, 7]))
    x = sampler.random.uniform(-2, 2, dim)
    sampler.scale = np.ones(dim)
    kept, gaps, anchor, average, restart = [], 0.0, np.log(10 * sampler.step), 0.0, 0
    updates = {50, 100, 200, 300, 425}
    for number in range(500 + draws):
        x = sampler.draw(x)
        kept.append(x)
        if number == 500:
            sampler.failures = 0
        if number >= 500:
            continue
        count = number - restart + 1
        gaps += (accept - np.mean(sampler.acceptances) - gaps) / (count + 10)
        log_step = anchor - gaps * np.sqrt(count) / 0.05
        average += count**-0.75 * (log_step - average)
        sampler.step = float(np.exp(average if number == 499 else log_step))
        if number + 1 in updates:
            window = np.array(kept[(number + 1) // 2 :])
            scale = (window.var(0) / np.array([target(each)[1] for each in window]).var(0)) ** 0.25
            sampler.scale = np.where(np.isfinite(scale) & (scale > 0), scale, sampler.scale)
            restart, gaps, anchor = number + 1, 0.0, np.log(2) + average
    return np.array(kept[500:]), sampler


def main() -> None:
    """Run every target with every setting, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", nargs="*", default=list(TARGETS), choices=TARGETS)
    parser.add_argument("--runs", type=int, default=3, help="of four chains each")
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    print(
        "| target | sampler | gradients a draw | bulk ESS / 1000 | tail ESS / 1000 | R-hat | log scale | failures |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in options.targets:
        target, dim = TARGETS[name]
        settings = [(accept, np.inf) for accept in (0.8, 0.95)] + [(0.8, error) for error in (0.5, 1.0)]
        for accept, error in settings:
            figures = []
            for seed in range(options.runs):
                chains = [run(target, dim, accept, error, 4 * seed + i, options.draws) for i in range(4)]
                values = np.array([each[0] for each in chains])
                count = sum(each[1].gradients for each in chains)
                figures.append(
                    [
                        count / (4 * (options.draws + 500)),
                        1000 * ess_bulk(values).min() / count,
                        1000 * ess_tail(values).min() / count,
                        r_hat(values).max(),
                        values[..., 0].mean(),
                        values[..., 0].std(),
                        sum(each[1].failures for each in chains),
                    ]
                )
            cost, bulk, tail, worst, mean, sd, failures = np.mean(figures, axis=0)
            kind = f"NUTS {accept}" if error == np.inf else f"WALNUTS, error {error}"
            print(
                f"| {name} | {kind} | {cost:.0f} | {bulk:.2f} | {tail:.2f} | {worst:.3f} | "
                f"{mean:.2f} ± {sd:.2f} | {failures:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
