"""Run a model: show each of its sites to a stack of handlers, innermost first.

A site is a value. Every handler on the stack may return a changed copy: a plate adds a dimension, `condition` sets the
value, a log density says how to choose a value that is not given. Then the site is settled: its shape is checked and
its value chosen. That is the whole language.

The stack is an immutable tuple in a context variable, so threads and tasks never see each other's handlers.
"""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jax.extend.core import get_opaque_trace_state

from ..core.errors import ModelError, SiteError
from .handler import AbstractHandler, AbstractLoopHandler, AbstractOpening, Recorder
from .loops.loop import Loop, LoopResult
from .messages.places import note_model, note_site, note_unused
from .reparam.express import express, weighted_by_volume
from .shapes import settle
from .site import Site
from .treatment import Computed, Reparameterised


@dataclass(frozen=True)
class _Entry:
    """A handler on the stack, with the thread and the JAX transformation in which it was entered."""

    handler: AbstractHandler
    thread: int
    transformation: Any


_STACK: ContextVar[tuple[_Entry, ...]] = ContextVar("accord_handlers", default=())


def visit(site: Site) -> Site:
    """Pass a site down the stack, settle it, and return it with its value.

    **Raises** `ModelError` outside of any model; `SiteError` for a site that does not fit (see `settle`), has a name
    already taken, or is visited from another thread or under a JAX transformation of the user's own.
    """
    stack = _STACK.get()
    if not stack:
        raise ModelError(
            f"site {site.name!r} was visited outside of any model (at {site.where}). Put the statement in a function "
            "decorated with `@ac.model` and pass its call to `infer.sample`. A thread that a model starts does not "
            "belong to the model."
        )
    origin = site
    site, recorded = _shown(site, stack, threading.get_ident(), get_opaque_trace_state())
    return _settled(site, recorded, "its value was chosen and its shape checked", origin)


@dataclass(frozen=True)
class Outside:
    """The handlers around a statement that shows them sites from inside of a function which JAX traces for it."""

    stack: tuple[_Entry, ...]
    thread: int
    transformation: Any

    @staticmethod
    def here() -> "Outside":
        """Return the handlers of the running model."""
        return Outside(_STACK.get(), threading.get_ident(), get_opaque_trace_state())

    def ask(self, site: Site) -> Site:
        """Return what they make of a site, without keeping it."""
        stack = tuple(entry for entry in self.stack if not isinstance(entry.handler, Recorder))
        return self._checked(site, _shown(site, stack, self.thread, self.transformation)[0])

    def show(self, site: Site) -> tuple[Site, "Records"]:
        """Return what they make of a site, and where it is to be kept once it is settled."""
        shown, records = _shown(site, self.stack, self.thread, self.transformation)
        return self._checked(site, shown), records

    def _checked(self, site: Site, shown: Site) -> Site:
        """Refuse what they cannot make of a site."""
        is_from_outside = not isinstance(site.treatment, Reparameterised)
        if is_from_outside and isinstance(shown.treatment, Reparameterised) and shown.is_latent:
            raise SiteError(
                f"site {site.name!r} (at {site.where}) is inside of a scan or a branch, and is to be reparameterised "
                "from outside, where the distributions of its steps are not known. Put `handlers.reparam` around "
                "the step or branch: `ac.scan(handlers.reparam(step, {...}), init, xs)`."
            )
        return shown


Records = list[tuple[dict[str, Site], str]]
"""The sites of recorders, and the name that a site has among them."""


def keep(site: Site, records: Records) -> Site:
    """Settle a site that stands for several, and keep it."""
    return _settled(site, records, "the shapes of all its steps were checked")


def run_loop(loop: Loop, default: Callable[[Loop], LoopResult]) -> tuple[Any, Any]:
    """Run a loop by the innermost handler that runs loops, else by `default`; return the last carry and the outputs.

    **Raises** `ModelError` where a handler returns other sites than those that it has shown to the handlers around.
    """
    way = default
    for handler in handlers_around():
        if isinstance(handler, AbstractLoopHandler):
            way = functools.partial(handler.run, default=way)
    result = way(loop)
    if {*result.sites} != {*result.answers}:
        raise ModelError(
            f"a handler that runs loops returned the sites {', '.join(map(repr, result.sites)) or 'none'}, and the "
            f"steps have {', '.join(map(repr, result.answers)) or 'none'}. It may change sites of the result, and "
            "leave none out: `mask=False` takes the distribution of an observed site out of the log density. A latent "
            "site stays an unknown; hide it in the step, by `handlers.block` around a `handlers.seed`."
        )
    for name, site in result.sites.items():
        result.answers[name].keep(site)
    return result.carry, result.outputs


@contextlib.contextmanager
def inside(*handlers: AbstractHandler) -> Iterator[Recorder]:
    """Run statements inside of these handlers, outermost first, with a record of their own."""
    around = _recorders()
    recorder = Recorder({}, around[-1].bound if around else [])
    token = _STACK.set((*_STACK.get(), *map(_entry, (*handlers, recorder))))
    try:
        yield recorder
    finally:
        _STACK.reset(token)


def run(
    function: Callable[..., Any],
    handlers: Sequence[AbstractHandler],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Any, dict[str, Site]]:
    """Call `function` inside of `handlers` (innermost first); return its value and all its sites, settled.

    The sites have the names that the last of the handlers gives them. What the function raises passes through, with a
    note that says where.

    **Raises** `ModelError` where the function gave data to a model and did not run it.
    """
    recorder = own = Recorder({}, [])
    inside: list[AbstractHandler] = [own]
    checks: list[tuple[AbstractHandler, dict[str, Site]]] = []
    for handler in handlers:
        inside.append(handler)
        checks.append((handler, recorder.sites))
        if handler.renames:
            recorder = Recorder({}, [])
            inside.append(recorder)
    token = _STACK.set((*_STACK.get(), *map(_entry, reversed(inside))))
    is_checked = not any(handler.waives_checks for handler in handlers_around())
    try:
        _open(len(inside))
        value = function(*args, **kwargs)
    except Exception as error:
        note_model(error, function, own.sites)
        for model, where in own.bound:
            note_unused(error, model.name, where)
        raise
    finally:
        _STACK.reset(token)
    for model, where in own.bound:
        raise ModelError(
            f"the model {model.name!r} was called inside a running model (at {where}), which gives it its data and "
            f"does not run it. Write `ac.submodel({model.name}(...), prefix={model.name!r})` for its sites to join "
            "the model around it, and for its value."
        )
    for handler, sites in checks if is_checked else ():
        handler.check(sites)
    return value, recorder.sites


def run_alone(
    function: Callable[..., Any],
    handlers: Sequence[AbstractHandler],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Any, dict[str, Site]]:
    """Run as `run` does, apart from a model that may be running around: its sites are not that model's sites."""
    token = _STACK.set(())
    try:
        return run(function, handlers, args, kwargs)
    finally:
        _STACK.reset(token)


def enter(handler: AbstractHandler) -> None:
    """Put a handler on the stack of the running model; for `with` statements."""
    _STACK.set((*_STACK.get(), _entry(handler)))


def leave() -> None:
    """Take the innermost handler off the stack."""
    _STACK.set(_STACK.get()[:-1])


def remember_bound(model: Any, where: str) -> None:
    """Note that the running model, if there is one, gave data to another, which it is to run."""
    recorders = _recorders()
    if recorders:
        recorders[-1].bound.append((model, where))


def forget_bound(model: Any) -> None:
    """Note that such a model is run, whatever line gave it its data."""
    for recorder in _recorders():
        found = [i for i, (other, _) in enumerate(recorder.bound) if other is model]
        if found:
            del recorder.bound[found[0]]
            return


def is_running() -> bool:
    """Return whether some model is running here."""
    return bool(_STACK.get())


def handlers_around() -> tuple[AbstractHandler, ...]:
    """List the handlers of the running model, outermost first."""
    return tuple(entry.handler for entry in _STACK.get())


def sites_so_far() -> tuple[Site, ...]:
    """Return the sites that the innermost function that is run as a model has visited."""
    recorders = _recorders()
    return tuple(recorders[-1].sites.values()) if recorders else ()


def _shown(site: Site, stack: tuple[_Entry, ...], thread: int, transformation: Any) -> tuple[Site, Records]:
    """Return what handlers make of a site, innermost first, and where it is to be kept."""
    records: Records = []
    for entry in reversed(stack):
        _check_same_run(site, entry, thread, transformation)
        site = entry.handler.process(site)
        if isinstance(entry.handler, Recorder):
            records.append((entry.handler.sites, site.name))
        if site.is_hidden or entry.handler.speaks_for_others:
            break
    return site, records


def _settled(site: Site, records: Records, doing: str, origin: Site | None = None) -> Site:
    """Settle a site and keep it; `origin` is what its statement made, where it may be sampled by way of another."""
    if isinstance(site.treatment, Computed) and (site.is_observed or site.is_intervened):
        raise SiteError(
            f"site {site.name!r} (at {site.where}) is sampled together with all others, so that it cannot be given a "
            "value any more. Give it before `handlers.reparam`."
        )
    try:
        is_unknown = site.is_latent and not (site.is_observed or site.is_hidden)
        if is_unknown and isinstance(site.treatment, Reparameterised):
            site = express(site, site.treatment, origin or site, visit)
        site = weighted_by_volume(settle(site))
    except Exception as error:
        note_site(error, site, doing)
        raise
    for sites, name in records:
        sites[name] = site
    return site


def _open(count: int) -> None:
    """Let the innermost handlers that have a site of their own visit it, the outermost first."""
    for place in range(-count, 0):
        handler = _STACK.get()[place].handler
        if isinstance(handler, AbstractOpening):
            instead = _entry(handler.opened(visit(handler.opening())))
            stack = _STACK.get()
            _STACK.set((*stack[:place], instead, *stack[len(stack) + place + 1 :]))


def _recorders() -> list[Recorder]:
    return [entry.handler for entry in _STACK.get() if isinstance(entry.handler, Recorder)]


def _entry(handler: AbstractHandler) -> _Entry:
    return _Entry(handler, threading.get_ident(), get_opaque_trace_state())


def _check_same_run(site: Site, entry: _Entry, thread: int, transformation: Any) -> None:
    """Refuse a site that the run cannot follow: its value would be lost, or shared where it must be separate."""
    if entry.thread != thread:
        raise SiteError(
            f"site {site.name!r} (at {site.where}) was visited by a thread that is not the one running the model. "
            "Sites must be visited by the model itself, in order: compute in threads, sample in the model."
        )
    if entry.transformation != transformation:
        raise SiteError(
            f"site {site.name!r} (at {site.where}) was visited inside a JAX transformation that the model applied "
            "itself (jit, vmap, grad, scan, cond or the like), so the model around it would not see its value. Sample "
            "outside of the transformation: `with ac.plate(...)` in place of vmap, `ac.scan` and `ac.cond` in place of "
            "those of `jax.lax`."
        )
