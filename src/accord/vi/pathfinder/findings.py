"""Judge paths: what a user should know before using their draws."""

from collections.abc import Sequence

from ...core.notice import Notice
from ..tail import tail
from .pooled import Pool
from .stored import Ended


def findings(ended: Sequence[Ended], pool: Pool, num_draws: int) -> list[Notice]:
    """Return the notices of a search: `num_draws`, of each path."""
    found = []
    if any(len(each.log_density) < num_draws for each in ended):
        number = sum(len(each.log_density) >= num_draws for each in ended)
        found.append(
            Notice(
                "warning",
                "interrupted",
                f"The run was stopped when {number} of {len(ended)} paths had their draws.",
                "Go on with infer.resume if it has a folder, or begin again.",
            )
        )
    if pool.paths:
        found += tail(
            pool.pareto_k,
            pool.effective / max(len(pool.log_weights), 1),
            f"the normals of {len(pool.paths)} path{'s' * (len(pool.paths) > 1)}",
            "they have",
            f"Weighted, {len(pool.log_weights)} draws are worth {pool.effective:.0f}.",
            "Use them to begin at only, by infer.sample(model, init=paths); a non-centred form, or another scale of an "
            "unknown, may make the posterior more like a normal.",
        )
    return found
