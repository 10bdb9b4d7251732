"""Judge approximate integrals over unknowns that are collapsed."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from ..weights import pareto_k

DOUBTFUL, BAD = 0.7, 1.0
"""Pareto k of the weights of draws: above the first they are not to be trusted, above the second not at all."""

LOOSE = 0.01  # nats, of which a log density may depend on the number of nodes


def laplace_poor(run: Evidence) -> Iterator[Notice]:
    """Compare the draws of a posterior by Laplace's approximation with the posterior."""
    if "integral.log_weight" not in run.stats or not run.approximated:
        return
    log_weights = np.asarray(run.stats["integral.log_weight"]).ravel()
    log_weights = log_weights[np.isfinite(log_weights)]
    if not log_weights.size:
        return
    k, which = pareto_k(log_weights), ", ".join(map(repr, run.approximated))
    shown = "infinite" if np.isinf(k) else f"{k:.2f}"
    start = f"{which} {_are(run)} integrated out by Laplace's approximation, so that the posterior is approximate."
    if k < DOUBTFUL:
        yield Notice(
            "info",
            "laplace_poor",
            f"{start} Pareto k of the weights by which its draws would be those of the posterior is {shown}, below "
            f"{DOUBTFUL}.",
            "",
            run.approximated,
        )
        return
    yield Notice(
        "error" if k >= BAD else "warning",
        "laplace_poor",
        f"{start} Pareto k of the weights by which its draws would be those of the posterior is {shown}, above "
        f"{DOUBTFUL}: in places the posterior has far more mass.",
        "For effects of groups, up to three for each, ask for `by=handlers.Quadrature()`; else sample the sites with "
        "the others.",
        run.approximated,
    )


def few_nodes(run: Evidence) -> Iterator[Notice]:
    """Say by how much log densities of draws change with the number of nodes of a quadrature."""
    if "integral.error" not in run.stats or not run.approximated:
        return
    every = np.asarray(run.stats["integral.error"]).ravel()
    if not every.size:
        return
    errors = every[np.isfinite(every)]
    num_unknown = every.size - errors.size
    # What is the same for all draws changes no posterior.
    apart = float(np.max(np.abs(errors - np.median(errors)))) if errors.size else 0.0
    found = f"log densities of draws change by up to {apart:.1g}, beside what is the same for all."
    unknown = f"the change of the log density is not finite for {num_unknown} of {every.size} draws."
    words = [found] * bool(errors.size) + [unknown] * bool(num_unknown)
    is_loose = apart > LOOSE or num_unknown > 0
    which = ", ".join(map(repr, run.approximated))
    yield Notice(
        "warning" if is_loose else "info",
        "few_nodes",
        f"{which} {_are(run)} integrated out by quadrature: with half of the nodes, {' Also, '.join(words)}",
        "Take twice as many nodes, `by=handlers.Quadrature(nodes=...)`, until that is less: up to 100, or 50 and 13 "
        "along each of two and three sites together; if that does not help, sample the sites with the others."
        if is_loose
        else "",
        run.approximated,
    )


def _are(run: Evidence) -> str:
    return "is" if len(run.approximated) == 1 else "are"
