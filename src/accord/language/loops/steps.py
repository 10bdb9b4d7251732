"""Make a function of arrays of the steps of a loop, whose sites the handlers around it have been shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...core.errors import OptionError, SiteError
from ..choice import key_for_steps
from ..interpreter import Outside, inside
from ..messages.places import caller
from ..site import Site
from .blocks import scan_in_blocks
from .boundary import Answer, Source, Trace
from .loop import Loop, LoopResult
from .stacking import Found


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a loop, as a pure function of arrays: JAX may transform it, and Python call it step by step.

    **Fields**
    - `loop`: whose steps they are.
    - `inputs`: arrays with the steps along their first axes: `xs`, and what the handlers around give the sites.
    - `answers`: by site, what these handlers made of it.
    """

    loop: Loop
    inputs: Any
    answers: Mapping[str, Answer]
    _sources: Mapping[str, Source]
    _trace: Trace
    _found: Found

    @staticmethod
    def of(loop: Loop) -> "Steps":
        """Trace a step for its sites, and show them to the handlers around the loop.

        **Raises** `SiteError` for a value with another number of steps.
        """
        first = Trace(Outside.here(), lambda answer: _first(_by_step(answer, loop.length)), (loop.frame,))
        found = Found.of(lambda carry, x: _step(first, loop.step, carry, x)[2], loop.init, loop.xs)
        answers = dict(first.shown())
        sources = {name: _by_step(answer, loop.length) for name, answer in answers.items()}
        inputs = (loop.xs, eqx.filter(sources, eqx.is_array))
        return Steps(loop, inputs, answers, sources, first, found)

    def __call__(self, carry: Any, now: Any) -> tuple[Any, Any, dict[str, Site]]:
        """Run one step, for one entry of `inputs`; return the next carry, the output and the sites of this step.

        Sites are no pytrees: `arrays` takes out of them what a transformation is to return.
        """
        x, arrays = now
        sources = eqx.combine(arrays, eqx.filter(self._sources, eqx.is_array, inverse=True))
        carry = jax.tree.map(jax_array, carry)  # as in a loop of JAX, whatever runs this one
        again = self._trace.again({name: (self.answers[name], sources[name]) for name in self.answers})
        return _step(again, self.loop.step, carry, x)

    def arrays(self, sites: Mapping[str, Site]) -> list[jax.Array]:
        """List the arrays that a step has computed for its sites; all else in them is known before."""
        return self._found.own_leaves(sites)

    def result(self, carry: Any, outputs: Any, arrays: list[jax.Array]) -> LoopResult:
        """Put together the results of the loop.

        **Arguments**: `carry`, the last one; `outputs` and `arrays` of the steps, stacked in the order of `inputs`.
        """
        sites = self._found.stacked(arrays, self.loop.xs, self.loop.length)
        for name, source in self._sources.items():
            if source.value is not None:
                sites[name] = replace(sites[name], value=source.value)
        return LoopResult(carry, outputs, sites, self.answers)

    def scanned(self) -> LoopResult:
        """Run the loop by `jax.lax.scan`."""

        def body(carry: Any, now: Any) -> tuple[Any, Any]:
            carry, output, sites = self(carry, now)
            return carry, (output, self.arrays(sites))

        loop = self.loop
        carry, (outputs, arrays) = scan_in_blocks(
            body, loop.init, self.inputs, loop.length, reverse=loop.reverse, block=loop.block
        )
        return self.result(carry, outputs, arrays)


def scanned(loop: Loop) -> LoopResult:
    """Run a loop by `jax.lax.scan`."""
    return Steps.of(loop).scanned()


def _step(trace: Trace, step: Any, carry: Any, x: Any) -> tuple[Any, Any, dict[str, Site]]:
    """Run a step: return the next carry, the output and the sites."""
    with inside(trace.boundary) as recorder:
        result = step(carry, x)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise OptionError(
            f"ac.scan (at {caller()}): the step returns the next carry and an output; it returned "
            f"{type(result).__name__}. Write `return carry, None` where there is no output."
        )
    return result[0], result[1], recorder.sites


def _by_step(answer: Answer, length: int) -> Source:
    """Give what a site gets from outside a first axis of steps."""
    source, site = answer.source, answer.site
    if site.kind in ("key", "subsample") and source.value is not None:
        return Source(key_for_steps(source.value, length))
    if source.value is None:
        source = Source(
            choose=None if source.choose is None else source.choose.for_steps(length),
            wanted=None if source.wanted is None else jax_array(source.wanted),
        )
        shapes = [tuple(leaf.shape) for leaf in jax.tree.leaves(source) if eqx.is_array(leaf)]
    else:
        source = Source(jax_array(source.value))
        shapes = [tuple(source.value.shape)]
    for found in shapes:
        if found[:1] != (length,):
            raise SiteError(
                f"site {site.name!r} (at {site.where}) is in a scan of {length} steps, and is given a value of shape "
                f"{found}: its first axis must be the {length} steps. To go on after the last step with data, begin "
                "another scan of the same step at the carry that the first one returns, inside of "
                '`with handlers.scope(prefix="future"):`.'
            )
    return source


def _first(source: Source) -> Source:
    return jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, source)


def jax_array(x: Any) -> jax.Array:
    """Convert data to a JAX array. An array stays the same object, by which it is known again."""
    return x if isinstance(x, jax.Array) else jnp.asarray(x)
