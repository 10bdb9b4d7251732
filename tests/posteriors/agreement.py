"""Compare draws with the reference figures of a posterior."""

from collections.abc import Mapping

import numpy as np
from arviz_stats.base import array_stats
from monte_carlo import mcse_mean, mcse_sd
from posteriors import REFERENCES, scalar


def disagreements(name: str, sites: Mapping[str, np.ndarray], most: float = 4) -> list[str]:
    """List the parameters whose mean or standard deviation is `most` joint standard errors off, or R-hat above 1.01.

    Of a parameter whose variance is infinite, logs are compared.
    """
    failures = []
    for parameter, reference in REFERENCES[name]["parameters"].items():
        values = scalar(sites, parameter)
        if "log" in reference:  # its variance is infinite, that of its log is not
            parameter, values, reference = f"log {parameter}", np.log(values), reference["log"]
        found = {"mean": (values.mean(), mcse_mean(values)), "sd": (values.std(ddof=1), mcse_sd(values))}
        for figure, (value, own_error) in found.items():
            error = np.hypot(own_error, reference[f"mcse_{figure}"])
            z = (value - reference[figure]) / error
            if not abs(z) < most:
                failures.append(
                    f"{figure} of {parameter}: {value:.5g} for {reference[figure]:.5g}, z = {z:.1f}"
                )
        r_hat = array_stats.rhat(values)
        if not r_hat < 1.01:
            failures.append(f"R-hat of {parameter}: {r_hat:.4f}")
    return failures
