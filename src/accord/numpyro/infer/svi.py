"""Fit the parameters of a guide, and of a model, by steps of yours: NumPyro's `SVI`."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import ModelError, OptionError
from ...distributions import biject_to, constraints
from ..distributions.transforms import Transform
from ..handlers import replay, seed, substitute, trace
from ..optim import as_optimizer
from .densities import transform_fn
from .elbo import ELBO

_BLOCK = 20  # parts of a run, after each of which its progress is written


class SVIState(NamedTuple):
    """State of a fit: that of the optimiser, mutable values of the programs, and the next random key."""

    optim_state: Any
    mutable_state: Any
    rng_key: Any


class SVIRunResult(NamedTuple):
    """Result of `SVI.run`: parameters by name, the last state, and the loss of each step."""

    params: Any
    state: SVIState
    losses: Any


class SVI:
    """Stochastic variational inference, step by step.

    Fits of accord, `accord.infer.fit`, choose steps and their number themselves, and say how good the result is.

    **Arguments**
    - `model`, `guide`: programs with the same arguments.
    - `optim`: of `numpyro.optim`, of `jax.example_libraries.optimizers`, or of optax.
    - `loss`: a bound, such as `Trace_ELBO()`.
    - further keywords: arguments of the programs that stay the same.
    """

    def __init__(
        self, model: Callable[..., Any], guide: Callable[..., Any], optim: Any, loss: ELBO, **static: Any
    ) -> None:
        if not isinstance(loss, ELBO):
            raise OptionError(f"SVI: loss must be a bound, such as `Trace_ELBO()`, got {loss!r}.")
        self.model, self.guide, self.loss = model, guide, loss
        self.optim, self.static_kwargs = as_optimizer(optim), static
        self.constrain_fn: Callable[[Any], Any] | None = None

    def init(self, rng_key: Any, *args: Any, init_params: Any = None, **kwargs: Any) -> SVIState:
        """Return the state before the first step.

        **Arguments**: `init_params`, values of parameters to begin from, by name.

        **Raises** `ModelError` for discrete unknowns.
        """
        kwargs = {**kwargs, **self.static_kwargs}
        given = dict(init_params or {})
        rng_key, of_model, of_guide = jax.random.split(rng_key, 3)
        guide = trace(substitute(seed(self.guide, of_guide), data=given)).get_trace(*args, **kwargs)
        begin = {name: site["value"] for name, site in guide.items() if site["type"] == "param"} | given
        replayed = substitute(replay(seed(self.model, of_model), trace=guide), data=begin)
        model = trace(replayed).get_trace(*args, **kwargs)
        params: dict[str, Any] = {}
        maps: dict[str, Transform] = {}
        mutable: dict[str, Any] = {}
        for site in (*model.values(), *guide.values()):
            name = str(site.get("name"))
            if site["type"] == "param":
                maps[name] = Transform(biject_to(site["kwargs"].get("constraint", constraints.real)))
                params[name] = jax.tree.map(
                    lambda x, of=maps[name]: of.inv(x) if _is_array(x) else x, site["value"]
                )
            elif site["type"] == "mutable":
                mutable[name] = site["value"]
            elif site["type"] == "sample" and not site["is_observed"] and site["fn"].is_discrete:
                raise ModelError(
                    f"SVI: site {name!r} is discrete, and {type(self.loss).__name__} has no gradient there. Write "
                    "model and guide by `ac.model`, and call `accord.infer.fit(model, guide)`."
                )
        params = jax.tree.map(jnp.asarray, params)
        self.constrain_fn = lambda values: _constrained(maps, values)
        return SVIState(self.optim.init(params), mutable or None, rng_key)

    def get_params(self, svi_state: SVIState) -> dict[str, Any]:
        """Return the parameters of a state, by name."""
        self._check_begun()
        return self._constrained(self.optim.get_params(svi_state.optim_state))

    def update(
        self, svi_state: SVIState, *args: Any, forward_mode_differentiation: bool = False, **kwargs: Any
    ) -> tuple[SVIState, Any]:
        """Make a step; return the next state and the loss."""
        return self._step(self.optim.eval_and_update, svi_state, args, kwargs, forward_mode_differentiation)

    def stable_update(
        self, svi_state: SVIState, *args: Any, forward_mode_differentiation: bool = False, **kwargs: Any
    ) -> tuple[SVIState, Any]:
        """Make a step, unless loss or gradient are not finite."""
        return self._step(
            self.optim.eval_and_stable_update, svi_state, args, kwargs, forward_mode_differentiation
        )

    def evaluate(self, svi_state: SVIState, *args: Any, **kwargs: Any) -> Any:
        """Return the loss at a state."""
        _, key = jax.random.split(svi_state.rng_key)
        params = self.get_params(svi_state)
        return self.loss.loss(key, params, self.model, self.guide, *args, **kwargs, **self.static_kwargs)

    def run(
        self,
        rng_key: Any,
        num_steps: int,
        *args: Any,
        progress_bar: bool = True,
        stable_update: bool = False,
        forward_mode_differentiation: bool = False,
        init_state: SVIState | None = None,
        init_params: Any = None,
        **kwargs: Any,
    ) -> SVIRunResult:
        """Make `num_steps` steps.

        **Arguments**: `init_state`, to go on from; `stable_update`, whether steps that are not finite are left out;
        `progress_bar`, whether losses are written to stderr on the way.
        """
        if num_steps < 1:
            raise OptionError(f"SVI.run: num_steps must be at least 1, got {num_steps!r}.")
        step = self.stable_update if stable_update else self.update
        state = (
            self.init(rng_key, *args, init_params=init_params, **kwargs) if init_state is None else init_state
        )
        if init_state is not None and self.constrain_fn is None:
            self.init(rng_key, *args, init_params=init_params, **kwargs)

        def one(state: SVIState, _: Any) -> tuple[SVIState, Any]:
            return step(state, *args, forward_mode_differentiation=forward_mode_differentiation, **kwargs)

        size = max(num_steps // _BLOCK, 1) if progress_bar else num_steps
        block = jax.jit(lambda state: jax.lax.scan(one, state, None, length=size))
        losses: list[Any] = []
        for done in range(0, num_steps - size + 1, size):
            state, found = block(state)
            losses.append(found)
            if progress_bar:
                _tell(done + size, num_steps, found)
        if rest := num_steps % size:
            state, found = jax.jit(lambda state: jax.lax.scan(one, state, None, length=rest))(state)
            losses.append(found)
        return SVIRunResult(self.get_params(state), state, jnp.concatenate(losses))

    def _check_begun(self) -> Callable[[Any], Any]:
        if self.constrain_fn is None:
            raise ModelError("SVI: call `init` or `run` first, which finds the parameters.")
        return self.constrain_fn

    def _constrained(self, params: Any) -> dict[str, Any]:
        return self._check_begun()(params)

    def _step(
        self, evaluate: Callable[..., Any], state: SVIState, args: Any, kwargs: Any, is_forward: bool
    ) -> tuple[SVIState, Any]:
        key, own = jax.random.split(state.rng_key)
        mutable = state.mutable_state

        def loss(params: Any) -> Any:
            values = self._constrained(params)
            options = {**kwargs, **self.static_kwargs}
            if mutable is None:
                return self.loss.loss(own, values, self.model, self.guide, *args, **options), None
            values |= jax.lax.stop_gradient(mutable)
            found = self.loss.loss_with_mutable_state(own, values, self.model, self.guide, *args, **options)
            return found["loss"], found["mutable_state"]

        (value, mutable_next), optim_state = evaluate(
            loss, state.optim_state, forward_mode_differentiation=is_forward
        )
        return SVIState(optim_state, mutable_next, key), value


def _constrained(maps: dict[str, Transform], values: dict[str, Any]) -> dict[str, Any]:
    leaves = {name: value for name, value in values.items() if _is_array(value)}
    trees = {name: value for name, value in values.items() if name not in leaves}
    return {**transform_fn(maps, leaves), **trees}


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, int | float)


def _tell(done: int, count: int, losses: Any) -> None:
    """Write how far a fit is; to a terminal over the line before."""
    mean = float(np.nanmean(np.asarray(losses))) if np.isfinite(losses).any() else float("nan")
    end = "\r" if sys.stderr.isatty() and done < count else "\n"
    sys.stderr.write(f"SVI: {done}/{count}; mean loss of the last {len(losses)} {mean:.4f}{end}")
    sys.stderr.flush()
