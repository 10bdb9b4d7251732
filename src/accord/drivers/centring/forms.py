"""Write the non-centred forms of a model, for the notices of a run that a funnel may have troubled."""

from ...core.notice import Notice
from ...density import LogDensity
from ...report.evidence import Forms
from ..checks.dependence import model_program
from ..draws import Draws


def forms_by_scale(density: LogDensity, draws: Draws) -> tuple[dict[str, Forms], tuple[Notice, ...]]:
    """By latent site the sites of whose law it sets the scale, with the config that makes each non-centred.

    Nothing where no trajectory went wrong, so that a sound run pays nothing for it. With it comes a notice where the
    model could not be looked at.
    """
    if not draws.counts["divergence"]["sample"].any():
        return {}, ()
    program = model_program(density)
    if program is None:
        return {}, ()
    from .hierarchy import hierarchical_sites

    try:
        sites = hierarchical_sites(program, density.data)
    except Exception as error:  # what is to help with a remedy must not cost the draws
        return {}, (
            Notice(
                "info",
                "forms_unknown",
                f"which sites have a scale that is unknown could not be found out: {type(error).__name__}: {error}",
                "Draws diverged: see for yourself whether a non-centred form (`handlers.reparam`) would help.",
            ),
        )
    found: dict[str, Forms] = {}
    for site in sites:
        form = ", ".join(f'"{name}": reparam.{type(each).__name__}()' for name, each in site.config.items())
        for scale in site.scale_from:
            found[scale] = (*found.get(scale, ()), (site.site, form))
    return found, ()
