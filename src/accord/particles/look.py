"""Trace a model to see what its scan, and what comes after it, depend on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..core.errors import SiteError
from ..density.dependence.provenance import sources
from ..density.reduction import term
from ..density.simulate import DrawOrSay
from ..language import AbstractHandler, AbstractLoopHandler, Loop, LoopResult, Site, Steps
from ..language.choice import AbstractChoice, key_for_steps
from .around import sites_so_far
from .moves import is_inside_of_step

Run = Callable[..., Mapping[str, Site]]
"""Run a model inside of handlers, innermost first, with values of all other unknowns; return its sites."""

LOOP = "the scan"  # as a source of what comes after it


@dataclass
class Seen:
    """Record of a trace, to which its handlers add: the one mutable part of it.

    `results`: arrays, and what each is: `("init", number)`, `("step", "")`, `("before", name)` or `("after", name)`.
    """

    results: list[tuple[tuple[str, Any], Any]] = field(default_factory=list)
    states: dict[str, Site] = field(default_factory=dict)
    before: dict[str, Site] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    sites: dict[str, Site] = field(default_factory=dict)
    asked: dict[str, Site] = field(default_factory=dict)


def traced(
    run: Run, unknowns: Sequence[str], asked: str, args: Any, *, has_parents: bool
) -> "tuple[Seen, list[tuple[tuple[str, Any], set[str]]]]":
    """Trace a model; return what was seen, and what each of its results depends on.

    `has_parents`: an unknown depends on those that its distribution depends on.
    """
    seen = Seen()

    def look(origins: Mapping[str, Any], args: Any) -> list[Any]:
        ask = _Ask(tuple(unknowns), origins, seen, has_parents)
        seen.sites = dict(run(*args, (ask, _Look(asked, origins[LOOP], seen))))
        _add_after(seen)
        return [array for _, array in seen.results]

    shape = jax.ShapeDtypeStruct((), jnp.result_type(float))
    names = sorted((*unknowns, LOOP))  # the order in which JAX takes a dict apart
    closed = jax.make_jaxpr(look)(dict.fromkeys(names, shape), args)
    given = [{number} if number < len(names) else set() for number in range(len(closed.jaxpr.invars))]
    found = sources(closed.jaxpr, given)
    return seen, [
        (what, {names[number] for number in each})
        for (what, _), each in zip(seen.results, found, strict=True)
    ]


class _Ask(AbstractHandler):
    """Draw the unknowns, so that each can be told in what depends on it."""

    names: tuple[str, ...] = eqx.field(static=True)
    origins: Mapping[str, Any]
    seen: Seen = eqx.field(static=True)
    has_parents: bool = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Say how to draw the site."""
        if not site.is_latent or site.name not in self.names:
            return site
        self.seen.asked[site.name] = site
        key = jax.random.wrap_key_data(jnp.zeros(2, jnp.uint32), impl="threefry2x32")
        return replace(site, choose=_Told(key, self.origins[site.name], self.origins[LOOP], self.has_parents))


class _Told(AbstractChoice):
    """A draw that depends on the origin of its site, or in a scan on that of the scan."""

    key: Any
    origin: Any
    of_scan: Any
    has_parents: bool = eqx.field(static=True)

    def __call__(self, site: Site) -> Site:
        drawn = DrawOrSay(self.key, "Give it a value")(site)
        value = jnp.asarray(drawn.value)
        value = value if self.has_parents else jnp.zeros_like(value)
        return replace(drawn, value=value + self.origin.astype(value.dtype))

    def for_steps(self, length: int) -> "_Told":
        origin = jnp.broadcast_to(self.of_scan, (length,))
        return _Told(key_for_steps(self.key, length), origin, origin, self.has_parents)


class _Look(AbstractLoopHandler):
    """Note what a scan with unknown states depends on, and run it from a carry that depends on nothing else."""

    asked: str = eqx.field(static=True)
    origin: Any
    seen: Seen = eqx.field(static=True)

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        """See `AbstractLoopHandler.run`."""
        if is_inside_of_step():
            return default(loop)
        init = jax.tree.map(jnp.asarray, loop.init)
        cut = jax.tree.map(lambda leaf: _cut(leaf, self.origin), init)
        before = sites_so_far()
        steps = Steps.of(replace(loop, init=cut))
        states = {
            name: answer.site
            for name, answer in steps.answers.items()
            if isinstance(answer.source.choose, _Told)
        }
        if not states:
            return replace(steps, loop=loop).scanned()
        if self.seen.states:
            first, second = next(iter(self.seen.states.values())), next(iter(states.values()))
            raise SiteError(
                f"{self.asked}: sites {first.name!r} (at {first.where}) and {second.name!r} (at {second.where}) are "
                "states of two scans, and particles go through one. Put both into one step, or give one of them values."
            )
        self.seen.states.update({site.name: site for site in states.values()})
        self.seen.before.update(before)
        self.seen.inside = tuple(answer.site.name for answer in steps.answers.values())
        results = self.seen.results
        results += [(("init", number), leaf) for number, leaf in enumerate(jax.tree.leaves(init))]

        def step(carry: Any, now: Any) -> Any:
            carry, output, sites = steps(carry, now)
            return carry, output, steps.arrays(sites)

        one = jax.tree.map(lambda each: each[0], steps.inputs)
        closed = jax.make_jaxpr(step)(cut, one)
        arrays = [each for each in closed.consts if isinstance(each, jax.Array)]
        results += [(("step", ""), _number(each)) for each in (*arrays, *jax.tree.leaves(loop.xs))]
        for name, site in before.items():
            added = term(site)
            results += [] if added is None else [(("before", name), added)]
        return steps.scanned()


def _cut(leaf: Any, origin: Any) -> Any:
    """Return an array like a leaf of a carry, which depends on an origin alone."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf
    return jnp.zeros_like(leaf) + origin.astype(leaf.dtype)


def _number(array: Any) -> Any:
    """Return something to trace of an array, which may be one of keys."""
    return jax.random.key_data(array) if jnp.issubdtype(array.dtype, jax.dtypes.prng_key) else array


def _add_after(seen: Seen) -> None:
    for name, site in seen.sites.items():
        if name in seen.before or name in seen.inside or site.kind in ("key", "subsample"):
            continue
        arrays = [term(site), site.value if site.kind == "deterministic" else None]
        seen.results += [(("after", name), jnp.asarray(each)) for each in arrays if each is not None]
