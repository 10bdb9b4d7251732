"""Mark sites to be integrated out of the log density of a model, exactly or by an approximation that is asked for."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import equinox as eqx

from ...bijectors import Identity, Independent
from ...core.errors import DistributionError, OptionError
from ...core.options import checks_options, positive_count
from ...distributions import biject_to
from ...distributions.wrappers.family import family
from ..integrals import Integral
from ..site import Site
from ..treatment import Eliminated, Reparameterised, Treatment, Whole
from .handled import Target, put_on
from .infer_config import NOT_COLLAPSED
from .mark import AbstractMark
from .reparam import COLLAPSED_TOO
from .values import names_of


@checks_options
def collapse(
    target: Target, names: Collection[str] | Mapping[str, int | None], *, by: Integral | None = None
) -> Target:
    """Integrate out latent sites: exactly those that are normal given the rest, or discrete; others by approximation.

    The log density is then that of the other unknowns alone. The sites keep their place among the draws: each draw has
    values of them from their distribution given its other unknowns, which are a function of these (the same numbers for
    the same position). What depends on them, such as deterministic sites and predictions, is as before.

    Discrete sites of finite support are summed out anyway. Naming some says that no others are meant: a sampler must
    then move the others, or that is an error. Sites without a largest value, such as counts, are summed up to one of
    yours: `{"n": 100}`. Larger ones are left out: the notice `left_out` of a run
    says how much that is, and `bound_reached` if draws come to it.

    For normal sites the density has a closed form, from second derivatives. It is exact where they have normal priors,
    and where all else depends on them linearly, through the means of normal distributions alone: effects of groups,
    coefficients of a regression, states of a linear series. This is tested with the model's own data, in float64, when
    the log density is made: the log density along the sites must be quadratic, at random values of the others, from 0.1
    to 100 standard deviations.

    Where entries along a plate are independent given the rest, it costs about two gradients; else one more for each
    entry, and a Cholesky decomposition.

    Where they are not normal given the rest, as effects in a model of counts, `by` names an approximation, which is
    never made unasked: `handlers.Quadrature()` for effects of groups, one for each or two or three together, nearly
    exact, and `handlers.Laplace()` for others. All sites that are collapsed are then integrated out by the same one.
    The draws of these sites are from their distribution given the others, or from Laplace's normal one.

    **Arguments**: `names`, of latent sites on the real line or vectors of it, or of discrete ones; or a mapping from
    names to the largest value of a sum, >= 0, None for all values. `by`, None or one of these two.

    **Raises** `OptionError` for what are no names, and for another `by`; (when the model runs) `SiteError` for a name
    that is no latent sample site, for one that is bounded or reparameterised; (when its log density is made)
    `SiteError` where it is not exact, where too many entries depend on each other for a quadrature, or where rows are
    cut that are needed together, and `ModelError` where no other unknown is left.

    **Source**: the marginal likelihood of linear mixed models, as in Bates et al. (2015), Journal of Statistical
    Software 67(1), section 3.

    **Example**

    >>> collapsed = handlers.collapse(centred_schools(sigma, y), ["theta"])
    >>> print(collapsed.sites())
    site   kind       shape  dims    distribution
    mu     latent     ()             Normal
    tau    latent     ()             HalfCauchy
    theta  collapsed  (8,)   school  Normal
    y      observed   (8,)   school  Normal
    >>> collapsed.log_density().dim
    2
    """
    limits = dict(names) if isinstance(names, Mapping) else {}
    for name, limit in limits.items():
        if limit is not None:
            limits[name] = positive_count(
                f"handlers.collapse: the largest value of {name!r}", limit, minimum=0
            )
    found = names_of("handlers.collapse", names)
    if not found or not all(isinstance(name, str) for name in found):
        raise OptionError(
            f'handlers.collapse: names are those of latent sites, like ["theta"]; got {names!r}.'
        )
    if by is not None and not isinstance(by, Integral):
        raise OptionError(
            "handlers.collapse: by is None, for what is exact, `handlers.Quadrature()` or `handlers.Laplace()`; got "
            f"{by!r}."
        )
    given = tuple((name, limit) for name, limit in sorted(limits.items()) if limit is not None)
    return put_on(target, Collapse(found, given, by))


class Collapse(AbstractMark):
    """Mark the sites of these names; a log density integrates out those that are latent in the end.

    `limits`: names with the largest values of their sums. `by`: how, where that is no exact integral.
    """

    treatment: ClassVar[Treatment] = Eliminated()
    asked: ClassVar[str] = "handlers.collapse"
    limits: tuple[tuple[str, int], ...] = eqx.field(static=True, default=())
    by: Integral | None = eqx.field(static=True, default=None)

    def treatment_of(self, name: str) -> Treatment:
        """Return the treatment of a site, with the largest value of its sum."""
        return Eliminated(dict(self.limits).get(name), self.by)

    def reason_against(self, site: Site) -> str:
        """Say why a site cannot be integrated out, as far as the site itself tells."""
        if site.is_observed:
            return "is observed, so that there is nothing to integrate out. Name the latent sites that it depends on."
        if site.value is not None:
            return "has been given a value, so that there is nothing to integrate out. Leave it out of one of the two."
        if isinstance(site.treatment, Reparameterised):
            return COLLAPSED_TOO
        if site.bijector is not None:
            return NOT_COLLAPSED
        if isinstance(site.treatment, Whole):
            return "is sampled as whole numbers by the sampler. Leave it out of one of the two."
        if site.distribution is None:
            return ""
        if site.distribution.support.is_discrete:
            if self.by is None:
                return ""
            return f"is discrete, and is summed out exactly: {self.by} is of continuous sites. Name it without `by`."
        if site.name in dict(self.limits):
            return "is continuous, so that no sum has a largest value. Give its name alone, or None for the value."
        if not _is_real(site.distribution.support):
            given = "is normal given the rest" if self.by is None else f"by {self.by} has values everywhere"
            return (
                f"has a support that is not the whole real line ({family(site.distribution)}), and what is collapsed "
                f"{given}. Leave it out of `handlers.collapse`; where it is a probability or a rate, "
                "`dist.BetaBinomial`, `dist.GammaPoisson` and `dist.DirichletMultinomial` have it integrated out."
            )
        return ""


def _is_real(support: Any) -> bool:
    """Return whether a support is a real line, or vectors of it."""
    try:
        bijector = biject_to(support)
    except DistributionError:
        return False
    return isinstance(bijector.base if isinstance(bijector, Independent) else bijector, Identity)
