"""Check the dependences of a model: find unused data, and sites that no data depends on."""

from collections.abc import Iterator

from ...core.notice import Notice
from ...density import LogDensity
from ...density.rows.conditions import listed
from .dependence import Dependence, matters_by_shape, model_program


def check_structure(density: LogDensity) -> Iterator[Notice]:
    """Trace the sites once, and look at what reaches what."""
    dependence = Dependence.of(density)
    if dependence is None:
        return
    yield from unused_data(density, dependence)
    yield from prior_only(density, dependence)
    for site, arguments in dependence.supports.items():
        if arguments:
            yield Notice(
                "info",
                "support_depends_on_data",
                f"The support of site {site!r} depends on {listed(arguments)}.",
                "Other data changes it, so that values drawn from this posterior may be outside of it.",
                (site,),
            )


def unused_data(density: LogDensity, dependence: Dependence) -> Iterator[Notice]:
    """Name the arguments whose values reach neither the log density nor a deterministic site."""
    base = model_program(density)
    # What a condition replaces is not used, and is not to be.
    is_replaced = any(name.startswith("condition/") for name in density.data)
    for name in density.data:
        if base is None or is_replaced or name in dependence.arguments:
            continue
        # Its length may be all that is wanted of it, as in `ac.plate("row", len(x))`.
        if matters_by_shape(base, density.data, name):
            continue
        yield Notice(
            "warning",
            "unused_data",
            f"Nothing in the model depends on argument {name!r}: neither the log density nor a deterministic site.",
            "If a site observes it, pass it by `obs=`; else leave it out.",
        )


def prior_only(density: LogDensity, dependence: Dependence) -> Iterator[Notice]:
    """Name the latent sites that neither an observation depends on, nor another site on which one depends."""
    latents = {entry.name for entry in density.layout.entries}
    informed: set[str] = set()
    priors = {entry.name for entry in density.layout.drawn}
    ahead = [name for name in dependence.terms if name not in priors]
    if not ahead:
        yield Notice(
            "info",
            "nothing_observed",
            "The model observes nothing, so that its posterior is its prior.",
            "To infer something, pass data to a site by `obs=`, or use `model.condition`.",
        )
        return
    while ahead:
        reached = {name for name in dependence.terms[ahead.pop()][0] if name not in informed}
        informed |= reached
        ahead += [name for name in reached if name in dependence.terms]
    uninformed = sorted(latents - informed)
    if uninformed:
        yield Notice(
            "info",
            "prior_only",
            f"No observation depends on {listed(uninformed)}: what is drawn there is the prior, given the other sites.",
            "If that is not intended, check that the likelihood uses these sites.",
            tuple(uninformed),
        )
