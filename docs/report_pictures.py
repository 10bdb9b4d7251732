"""Draw the pictures of the page on reports: `python docs/report_pictures.py`."""

from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TO = Path(__file__).parent / "pictures" / "report"
SIGMA = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
Y = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])


@ac.model
def schools(sigma, y):
    """Eight schools, in the form that has a funnel."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


def main() -> None:
    """Draw them from one run."""
    TO.mkdir(parents=True, exist_ok=True)
    draws = infer.sample(schools(SIGMA, Y), draws=300, seed=1, quiet=True)
    for kind in ("trace", "rank_ecdf"):
        draws.plot(kind, ["mu", "tau"]).save(TO / f"{kind}.svg")


if __name__ == "__main__":
    main()
