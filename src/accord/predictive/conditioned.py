"""Tell of values given by `.condition` that predictions do not keep, though other sites are computed from them."""

from ..core.notice import Notice
from ..density.joint import Predictive
from ..language import Model
from ..language.handlers.values import Condition


def conditions_drawn(model: Model, target: Predictive) -> list[Notice]:
    """Return a notice where a site with a value by `.condition` is drawn and others depend on it.

    Such a site is an observation to its model, which is what is predicted. An outcome on which nothing depends is drawn
    as expected. Of a parameter, predictions may be taken for those at the value that was given.
    """
    given = {name for each in model.handlers if isinstance(each, Condition) for name in each.values}
    seen = [entry.name for entry in target.layout.observed if entry.name in given]
    if not seen:
        return []
    from ..density.dependence.graph import graph_of  # traces the model once more

    parents = {parent for parent, _ in graph_of(model).edges}
    names = tuple(name for name in seen if name in parents)
    if not names:
        return []
    listed, is_one = ", ".join(map(repr, names)), len(names) == 1
    return [
        Notice(
            "info",
            "condition_drawn",
            f"{listed} {'has its value' if is_one else 'have their values'} by `.condition`, so that "
            f"{'it is' if is_one else 'they are'} predicted like other observations, and other sites follow the "
            f"new {'value' if is_one else 'values'}.",
            "That is right if you predict a new data set; to predict at the value given, use `.do` in the place of "
            "`.condition`.",
            names,
        )
    ]
