"""Take the PyMC model of a Bambi model, and say where its intercept is not Bambi's."""

from typing import Any

from ...core.notice import Notice


def is_bambi(model: Any) -> bool:
    """Return whether this is a `bambi.Model`."""
    return type(model).__module__.partition(".")[0] == "bambi" and hasattr(model, "backend")


def built(model: Any) -> Any:
    """Return the PyMC model of a Bambi model, which is built if it was not."""
    if not model.built:
        model.build()
    return model.backend.model


def told_of(model: Any) -> tuple[Notice, ...]:
    """Return the notice on intercepts of centred predictors.

    Bambi up to 0.17 centres predictors in the PyMC model, and moves the intercepts after its own sampling. Its
    `predict` and `interpret` need the moved ones. Later ones do it within the PyMC model.
    """
    parts = getattr(model.backend, "distributional_components", {}).values() if is_bambi(model) else ()
    names = [
        getattr(term, "alias", None) or term.name
        for part in parts
        if getattr(part, "design_matrix_without_intercept", None) is not None
        for term in [part.component.intercept_term]
    ]
    if not names:
        return ()
    found = Notice(
        "warning",
        "centred_intercept",
        f"{', '.join(map(repr, names))} of these draws is at the means of the predictors, since Bambi centres them. "
        "Bambi's own fit, and its predict, have it at zero.",
        "Build the model with bambi.Model(..., center_predictors=False).",
        tuple(names),
    )
    return (found,)
