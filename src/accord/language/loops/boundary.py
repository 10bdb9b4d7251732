"""Show the sites of a function that JAX traces, such as the step of a scan, to the handlers around it.

JAX runs such a function on abstract values, more than once, and nothing that is computed inside of it may be used
outside. So it is traced twice. The first time tells which sites there are. Then the handlers outside are shown each of
them, as the site that it is to the whole model: with an axis of steps, say. What they give it, such as data or an
unconstrained position, goes into the second trace as an argument, by the step.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import equinox as eqx

from ...core.errors import ModelError
from ..choice import AbstractChoice
from ..handler import AbstractHandler
from ..interpreter import Outside, Records, keep
from ..reparam.express import as_written
from ..site import Frame, Site
from ..treatment import Auxiliary


class Source(eqx.Module):
    """A value that the handlers outside give a site, or a way to choose one; neither where the site has its own.

    `wanted` is the value that a site shall have which is to be reparameterised inside.
    """

    value: Any = None
    choose: AbstractChoice | None = None
    wanted: Any = None


@dataclass(frozen=True)
class Answer:
    """The site that the handlers outside made of a site.

    **Fields**: `asked`, the site that they were shown, without mask and scale; `site`, what came back; `records`, where
    it is to be kept; `source`, what they gave it.
    """

    asked: Site
    site: Site
    records: Records = field(default_factory=list)

    @property
    def source(self) -> Source:
        """Return the value if they gave another, else how to choose one where there is none."""
        if self.site.value is None:
            wanted = None if self.site.wanted is self.asked.wanted else self.site.wanted
            return Source(choose=self.site.choose, wanted=wanted)
        return Source() if self.site.value is self.asked.value else Source(self.site.value)

    def keep(self, site: Site) -> Site:
        """Settle the site for the whole model, with the weights that the handlers outside give it, and keep it."""
        mask, scale, log_det = self.site.mask, self.site.scale, site.log_det
        if self.site.log_det is not self.asked.log_det:  # of the position that gave the value outside
            log_det = self.site.log_det
        if mask is None or site.mask is False:
            mask = site.mask
        elif site.mask is not None and mask is not False:
            mask = site.mask & mask
        if scale is None:
            scale = site.scale
        elif site.scale is not None:
            scale = site.scale * scale
        return keep(
            replace(
                site,
                name=self.site.name,
                plates=self.site.plates,
                steps=self.site.steps,
                dims=self.site.dims,
                mask=mask,
                scale=scale,
                log_det=log_det,
            ),
            self.records,
        )


@dataclass(frozen=True, eq=False)
class Trace:
    """One trace of a function with sites inside.

    **Fields**
    - `outside`: the handlers further out.
    - `steps`: the scan that this is the step of; none for a branch.
    - `asked`: the sites inside, as they are to be shown; the one mutable part, filled by the first trace.
    - `given`: by site, what the handlers made of it, and what it gets in this trace; None in the first trace.
    - `try_out`: what a site gets from a source in the first trace.
    """

    outside: Outside
    try_out: Callable[[Answer], Source]
    steps: tuple[Frame, ...] = ()
    asked: dict[str, Site] = field(default_factory=dict)
    given: Mapping[str, tuple[Answer, Source]] | None = None

    @property
    def boundary(self) -> "Boundary":
        """The handler to put around the function."""
        return Boundary(self)

    def again(self, given: Mapping[str, tuple[Answer, Source]]) -> "Trace":
        """Make another trace, in which the sites get these sources."""
        return replace(self, asked={}, given=given)

    def without(self, names: Collection[str]) -> "Trace":
        """Make a trace without those sites of the first one that are not among these."""
        return replace(self, asked={name: site for name, site in self.asked.items() if name not in names})

    def shown(self) -> Iterator[tuple[str, Answer]]:
        """Show the sites of the first trace to the handlers outside, in order."""
        for name, asked in self.asked.items():
            yield name, Answer(asked, *self.outside.show(asked))

    def answer_for(self, site: Site) -> tuple[Answer, Source]:
        """Ask the handlers outside about a site, and say what it gets in this trace.

        **Raises** `ModelError` for a site that the first trace had not.
        """
        steps = tuple(replace(frame, within=len(site.plates)) for frame in self.steps)
        # A map is made of arrays of this trace, and its Jacobian is taken inside.
        role = Auxiliary() if isinstance(site.role, Auxiliary) else site.role
        asked = replace(site, mask=None, scale=None, role=role, steps=(*steps, *site.steps))
        if self.given is None:
            self.asked[site.name] = asked
            answer = Answer(asked, self.outside.ask(asked))
            return answer, self.try_out(answer)
        if site.name not in self.given:
            raise ModelError(
                f"site {site.name!r} (at {site.where}) was not there when the function around it was first traced. "
                "The sites of a model must not change from one trace to the next."
            )
        return self.given[site.name]


class Boundary(AbstractHandler):
    """Give the sites inside what the handlers outside say; these do not see the site itself."""

    trace: Trace = eqx.field(static=True)
    speaks_for_others: ClassVar[bool] = True

    def process(self, site: Site) -> Site:
        """Give the site the names and plates that it has further out, and its value or a way to choose it."""
        site = as_written(site)
        answer, source = self.trace.answer_for(site)
        outer = answer.site
        is_kept = source.value is None and source.choose is None
        return replace(
            site,
            name=outer.name,
            distribution=site.distribution
            if outer.distribution is answer.asked.distribution
            else outer.distribution,
            value=site.value if is_kept and outer.value is not None else source.value,
            choose=source.choose,
            wanted=site.wanted if source.wanted is None else source.wanted,
            is_observed=outer.is_observed,
            is_intervened=outer.is_intervened,
            role=site.role if outer.role is answer.asked.role else outer.role,
            treatment=site.treatment if outer.treatment is answer.asked.treatment else outer.treatment,
            is_hidden=outer.is_hidden,
            is_weighted_outside=outer.is_weighted_outside
            or outer.mask is not None
            or outer.scale is not None,
            obs_mask=site.obs_mask if outer.obs_mask is not None else None,
            plates=outer.plates,
            dims=outer.dims,
            steps=outer.steps[len(outer.steps) - len(site.steps) :],
        )
