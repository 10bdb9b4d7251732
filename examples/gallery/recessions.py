"""Find the recessions in thirty years of growth: an autoregression around a mean that switches between two values.

The quarterly growth of the real gross national product of the United States varies around one mean in expansions and
another in recessions. The state is an unobserved Markov chain. A quarter's growth depends on its own state and on the
states of the four quarters before. So the forward algorithm keeps the joint probability of five states: an array with
one axis for each, whose oldest axis is summed out when the next quarter comes in. The probability of a recession in
each quarter is the derivative of the log likelihood by its emissions.

Data: 100 times the change of the logarithm, 1951 to 1984, of Hamilton (1989), A new approach to the economic analysis
of nonstationary time series and the business cycle, Econometrica 57(2), 357-384. Maximum likelihood: as EViews and
Stata find it on these data, and Hamilton's table I. Dates of recessions: National Bureau of Economic Research.

    python examples/gallery/recessions.py
    accord sample examples/gallery/recessions.py --data examples/gallery/recessions.json
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

import accord as ac
import accord.distributions as dist
from accord import infer

LAGS = 4
STATES = np.indices((2,) * (LAGS + 1)).reshape(LAGS + 1, -1)  # of a quarter and the four before it: 32 in all
PUBLISHED = {
    "growth": [-0.359, 1.164],
    "stay": [0.755, 0.904],
    "coefficients": [0.013, -0.058, -0.247, -0.213],
    "noise": 0.769,
    "minus log likelihood": 181.263,
}
# Quarters from the peak to the trough of each recession, in years.
RECESSIONS = [(1953.25, 1954.25), (1957.5, 1958.25), (1960.25, 1961.0), (1969.75, 1970.75)]
RECESSIONS += [(1973.75, 1975.0), (1980.0, 1980.5), (1981.5, 1982.75)]
QUARTERS = 1952.25 + np.arange(131) / 4  # the first four quarters are only history


def log_likelihood(log_emissions, log_moves, log_start):
    """Run the forward algorithm over the states of five quarters, with an axis of size 2 for each.

    `log_emissions`: shape (quarters, 2, 2, 2, 2, 2), the latest state first; `log_moves`: from row to column.
    """

    def go_on(log_p):
        return log_moves.T.reshape(2, 2, *(1,) * (log_p.ndim - 1)) + log_p[None]

    def step(log_p, log_emission):
        return go_on(logsumexp(log_p + log_emission, axis=-1)), None

    for _ in range(LAGS):
        log_start = go_on(log_start)
    return logsumexp(jax.lax.scan(step, log_start, log_emissions)[0])


@ac.model
def recessions(growth):
    """`growth`: percent by quarter, shape (135,). State 0 is a recession."""
    growth = jnp.asarray(growth)
    means = ac.sample("growth", dist.ordered(dist.Normal(jnp.array([0.0, 1.0]), 1).to_event(1)), dims="state")
    with ac.plate("state", 2, coords=["recession", "expansion"]):
        stay = ac.sample("stay", dist.Beta(8, 2))
    with ac.plate("lag", LAGS):
        coefficients = ac.sample("coefficients", dist.Normal(0, 0.5))
    noise = ac.sample("noise", dist.HalfNormal(2))

    # A quarter's surprise is a weighted sum of deviations, its own and those of the quarters before.
    weights = jnp.concatenate([jnp.ones(1), -coefficients])
    lagged = jnp.stack([growth[LAGS - k : len(growth) - k] for k in range(LAGS + 1)], axis=1)
    surprise = (lagged @ weights)[:, None] - weights @ means[STATES]
    log_emissions = dist.Normal(0, noise).log_prob(surprise).reshape(-1, *(2,) * (LAGS + 1))
    leave = 1 - stay
    log_moves = jnp.log(jnp.array([[stay[0], leave[0]], [leave[1], stay[1]]]))
    log_start = jnp.log(leave[::-1] / leave.sum())  # the stationary distribution
    ac.factor("likelihood", log_likelihood(log_emissions, log_moves, log_start))
    probabilities = jax.grad(log_likelihood)(log_emissions, log_moves, log_start)
    in_recession = probabilities.sum(axis=(2, 3, 4, 5))[:, 0]
    ac.deterministic("in_recession", in_recession, dims={"quarter": QUARTERS})


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def official():
    """Return which quarters were in a recession: after its peak, until its trough."""
    return np.any([(start < QUARTERS) & (end >= QUARTERS) for start, end in RECESSIONS], axis=0)


def main():
    """Fit, date the recessions, and compare with their official dates and with maximum likelihood."""
    draws = infer.sample(recessions(**data()), infer.NUTS(target_accept=0.9), seed=1)
    print(draws.summary())

    found = draws["in_recession"].mean(axis=(0, 1)) > 0.5
    print(f"{np.sum(found & official())} of {official().sum()} official quarters of recession are found,")
    print(f"and {np.sum(found & ~official())} others; in all {np.mean(found == official()):.0%} agree")
    print(f"a recession lasts {np.median(1 / (1 - draws['stay'][..., 0])):.1f} quarters")

    # Check. There are other modes: draws lie around them too, where states differ less, as the notice says.
    mode = infer.find_mode(recessions(**data()), "mle")
    for name, published in PUBLISHED.items():
        value = -mode.log_density if name == "minus log likelihood" else mode.values[name]
        print(f"{name}: {np.round(value, 3)}, published {published}")
    return draws


def plot(draws):
    """Draw the growth, the probability of a recession, and the official recessions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(QUARTERS, data()["growth"][LAGS:], color="#8a8a8a")
    above.set_ylabel("growth (%)")
    below.plot(QUARTERS, draws["in_recession"].mean(axis=(0, 1)), color="#3f88c5")
    below.set(ylim=(0, 1), xlabel="year", ylabel="probability of recession")
    for start, end in RECESSIONS:
        for axes in (above, below):
            axes.axvspan(start, end, color="#e4793a", alpha=0.25, linewidth=0)
    return figure


if __name__ == "__main__":
    main()
