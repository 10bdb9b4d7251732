"""Write the non-centred forms of a model, for the notices of a run with a possible funnel."""

from ..core.notice import Notice
from ..density import LogDensity
from ..report.evidence import Form, Forms
from .checks.dependence import model_program


def forms_by_scale(density: LogDensity) -> tuple[dict[str, Forms], tuple[Notice, ...]]:
    """Return, by latent site, the sites whose scale it sets, each with the config of its non-centred form.

    With it comes a notice where the model could not be looked at.
    """
    if density.layout.whole:
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
                f"the sites with an unknown scale could not be found: {type(error).__name__}: {error}",
                "Draws diverged, or chains are slow: try whether a non-centred form (`handlers.reparam`) helps.",
            ),
        )
    found: dict[str, Forms] = {}
    for site in sites:
        config = ", ".join(f'"{name}": reparam.{type(each).__name__}()' for name, each in site.config.items())
        for scale in site.scale_from:
            found[scale] = (*found.get(scale, ()), Form(site.site, config, site.is_in_steps))
    return found, ()
