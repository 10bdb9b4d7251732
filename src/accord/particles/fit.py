"""Find the states of a model that particles are to hold, and refuse a model that does not fit."""

from collections.abc import Callable, Collection, Mapping, Sequence
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
from ..language.handler import Recorder
from ..language.interpreter import handlers_around
from ..language.treatment import Computed
from .moves import is_inside_of_step

Run = Callable[..., Mapping[str, Site]]
"""Run a model inside of handlers, innermost first, with values of all other unknowns; return its sites."""

_LOOP = "the scan"  # as a source of what comes after it


@dataclass(frozen=True)
class Fit:
    """How particles fit a model.

    **Fields**
    - `states`: names of the states in the scan; `initial`: of the unknowns before it that belong to the particle.
    - `varies`: of each leaf of the first carry, whether it differs between particles.
    - `conditions`: given unknowns whose log density is the same for all particles, which a filter does not count.
    - `later`: sites after the scan whose log density depends on it; `apart`, those whose does not.
    - `shown`: the unknowns and, of the scan, the deterministic sites, in the model's order.
    """

    states: tuple[str, ...]
    initial: tuple[str, ...]
    varies: tuple[bool, ...]
    conditions: tuple[str, ...]
    later: tuple[str, ...]
    apart: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All unknowns of a particle, in the model's order."""
        return (*self.initial, *self.states)


def fit_of(run: Run, unknowns: Sequence[str], asked: str, *args: Any) -> Fit:
    """Find the scan of a model whose states are not given.

    **Arguments**: `run(*args, handlers)`, where `args` are shapes; `unknowns`, names of all that are not given;
    `asked`, with which errors begin.

    **Raises** `SiteError` where there is no such scan, or several; for an unknown that is no state and does not lead to
    the first carry; and for what uses a state in a way that does not go on with the particle.
    """
    return _judged(asked, unknowns, *_traced(run, unknowns, asked, args, has_parents=True))


def particle_unknowns(run: Run, unknowns: Sequence[str], asked: str, *args: Any) -> tuple[str, ...]:
    """Return which unknowns a particle would hold if none were given, in the model's order.

    They are those in the scan, and those that the first carry is computed from and nothing else after it uses.
    Arguments and errors as of `fit_of`.
    """
    seen, found = _traced(run, unknowns, asked, args, has_parents=False)
    if not seen.states:
        raise _no_scan(asked, unknowns)
    leads = set().union(*(on for (kind, _), on in found if kind == "init"))
    elsewhere = set().union(*(on for (kind, _), on in found if kind in ("step", "after")))
    return tuple(name for name in seen.sites if name in seen.states or name in leads - elsewhere)


def _traced(
    run: Run, unknowns: Sequence[str], asked: str, args: Any, *, has_parents: bool
) -> "tuple[_Seen, list[tuple[tuple[str, Any], set[str]]]]":
    """Trace a model; return what was seen, and what each of its results depends on.

    `has_parents`: an unknown depends on those that its distribution depends on.
    """
    seen = _Seen()

    def look(origins: Mapping[str, Any], args: Any) -> list[Any]:
        ask = _Ask(tuple(unknowns), origins, seen, has_parents)
        seen.sites = dict(run(*args, (ask, _Look(asked, origins[_LOOP], seen))))
        _add_after(seen)
        return [array for _, array in seen.results]

    shape = jax.ShapeDtypeStruct((), jnp.result_type(float))
    names = sorted((*unknowns, _LOOP))  # the order in which JAX takes a dict apart
    closed = jax.make_jaxpr(look)(dict.fromkeys(names, shape), args)
    given = [{number} if number < len(names) else set() for number in range(len(closed.jaxpr.invars))]
    found = sources(closed.jaxpr, given)
    return seen, [
        (what, {names[number] for number in each})
        for (what, _), each in zip(seen.results, found, strict=True)
    ]


def weight_before(fit: Fit, dtype: Any) -> jax.Array:
    """Return what the sites so far add to the log weight of a particle, but its own states and what is given."""
    return weight_of(_sites_so_far().values(), (*fit.names, *fit.conditions), dtype)


def weight_of(sites: Any, left_out: Collection[str], dtype: Any) -> jax.Array:
    """Return what sites add to a log weight, shape `()`."""
    found = jnp.zeros((), dtype)
    for site in sites:
        added = term(site) if site.name not in left_out and site.kind in ("sample", "factor") else None
        found = found if added is None else found + added.astype(dtype)
    return found


@dataclass
class _Seen:
    """What a trace has seen: the one mutable part of it.

    `results`: arrays, and what each is: `("init", number)`, `("step", "")`, `("before", name)` or `("after", name)`.
    """

    results: list[tuple[tuple[str, Any], Any]] = field(default_factory=list)
    states: dict[str, Site] = field(default_factory=dict)
    before: dict[str, Site] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    sites: dict[str, Site] = field(default_factory=dict)
    asked: dict[str, Site] = field(default_factory=dict)


class _Ask(AbstractHandler):
    """Draw the unknowns, so that each can be told in what depends on it."""

    names: tuple[str, ...] = eqx.field(static=True)
    origins: Mapping[str, Any]
    seen: _Seen = eqx.field(static=True)
    has_parents: bool = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Say how to draw the site."""
        if not site.is_latent or site.name not in self.names:
            return site
        self.seen.asked[site.name] = site
        key = jax.random.wrap_key_data(jnp.zeros(2, jnp.uint32), impl="threefry2x32")
        return replace(
            site, choose=_Told(key, self.origins[site.name], self.origins[_LOOP], self.has_parents)
        )


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
    seen: _Seen = eqx.field(static=True)

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        """See `AbstractLoopHandler.run`."""
        if is_inside_of_step():
            return default(loop)
        init = jax.tree.map(jnp.asarray, loop.init)
        cut = jax.tree.map(lambda leaf: _cut(leaf, self.origin), init)
        before = _sites_so_far()
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


def _sites_so_far() -> dict[str, Site]:
    """Return the sites that the whole model has visited."""
    recorders = [each for each in handlers_around() if isinstance(each, Recorder)]
    return {name: site for name, site in recorders[0].sites.items() if not site.is_hidden}


def _add_after(seen: _Seen) -> None:
    for name, site in seen.sites.items():
        if name in seen.before or name in seen.inside or site.kind in ("key", "subsample"):
            continue
        arrays = [term(site), site.value if site.kind == "deterministic" else None]
        seen.results += [(("after", name), jnp.asarray(each)) for each in arrays if each is not None]


def _judged(
    asked: str, unknowns: Sequence[str], seen: _Seen, found: Sequence[tuple[tuple[str, Any], set[str]]]
) -> Fit:
    if not seen.states:
        raise _no_scan(asked, unknowns)
    leads = [on - {_LOOP} for (kind, _), on in found if kind == "init"]
    initial = set().union(*leads)
    for name in unknowns:
        if name in seen.states or name in initial:
            continue
        site = seen.asked.get(name)
        raise SiteError(
            f"{asked}: site {name!r}{f' (at {site.where})' if site else ''} is unknown, and neither a state in the "
            f"scan nor where the scan begins. Give it a value."
        )
    for (kind, _), on in found:
        for name in sorted(on & initial) if kind == "step" else ():
            raise SiteError(
                f"{asked}: the steps of the scan use the value of {name!r} (at {seen.asked[name].where}), which "
                f"belongs to the particle, and not by the carry. Put {name!r} into the carry, or give it a value."
            )
    for (kind, what), on in found:
        for name in sorted(on & initial) if kind == "after" else ():
            raise SiteError(
                f"{asked}: site {what!r} (at {seen.sites[what].where}), which comes after the scan, uses the value of "
                f"{name!r}, which belongs to the particle. Put it before the scan, {name!r} into the carry, or give "
                f"{name!r} a value."
            )
    counted = {what for (kind, what), on in found if on & initial or (kind == "after" and _LOOP in on)}
    given = [
        name
        for name, site in seen.sites.items()
        if site.kind == "sample" and not site.is_observed and name not in (*seen.states, *initial)
    ]
    conditions = tuple(name for name in given if name not in counted and name not in seen.inside)
    after = {what: _LOOP in on for (kind, what), on in found if kind == "after"}
    after = {name: depends for name, depends in after.items() if seen.sites[name].kind != "deterministic"}
    return Fit(
        states=tuple(seen.states),
        initial=tuple(name for name in seen.sites if name in initial),
        varies=tuple(bool(each) for each in leads),
        conditions=conditions,
        later=tuple(name for name, depends in after.items() if depends),
        apart=tuple(name for name, depends in after.items() if not depends and name not in conditions),
        shown=tuple(
            name
            for name, site in seen.sites.items()
            if name in initial or name in seen.states or (name in seen.inside and _is_computed(site))
        ),
    )


def _is_computed(site: Site) -> bool:
    return site.kind == "deterministic" or isinstance(site.treatment, Computed)


def _no_scan(asked: str, unknowns: Sequence[str]) -> SiteError:
    names = ", ".join(map(repr, unknowns)) or "none"
    return SiteError(
        f"{asked}: the model has no `ac.scan` with states that are unknown. Unknowns without values are {names}. Write "
        "the series as `ac.scan(step, init, xs)`, with `ac.sample` of the state in the step."
    )
