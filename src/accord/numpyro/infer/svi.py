"""Fit the parameters of a guide, and of a model, by steps of yours: NumPyro's `SVI`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...core.errors import ModelError, OptionError
from ...distributions import biject_to, constraints
from ...report.notices import tell
from ..distributions.transforms import Transform
from ..handlers import replay, seed, substitute, trace
from ..messages import Message, Met
from ..optim import as_optimizer
from .elbo import ELBO
from .parameters import constrained, unconstrained_value
from .progress import in_blocks
from .told import unused_names


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
        with Met() as met:
            guide = trace(substitute(seed(self.guide, of_guide), data=given)).get_trace(*args, **kwargs)
        begin = {name: site["value"] for name, site in guide.items() if site["type"] == "param"} | given
        replayed = replay(seed(self.model, of_model), trace=guide)
        with met:
            model = trace(substitute(replayed, data=begin)).get_trace(*args, **kwargs)
        tell(tuple(unused_names(met)))
        params: dict[str, Any] = {}
        maps: dict[str, Transform] = {}
        mutable: dict[str, Any] = {}
        for site in (*model.values(), *guide.values()):
            name = str(site.get("name"))
            if site["type"] == "param":
                maps[name] = Transform(biject_to(site["kwargs"].get("constraint", constraints.real)))
                params[name] = unconstrained_value(maps[name], site["value"])
            elif site["type"] == "mutable":
                mutable[name] = site["value"]
        if not self.loss.takes_discrete:
            _refuse_discrete({**model, **guide}, type(self.loss).__name__)
        fixed = {name: site["value"] for name, site in {**guide, **model}.items() if site["type"] == "param"}
        self.loss.begin(fixed, self.model, self.guide, args, kwargs)
        params = jax.tree.map(jnp.asarray, params)
        self.constrain_fn = lambda values: constrained(maps, values)
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

        state, losses = in_blocks(one, state, num_steps, "SVI", "loss", is_shown=progress_bar)
        return SVIRunResult(self.get_params(state), state, losses)

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


def _refuse_discrete(sites: Mapping[str, Message], bound: str) -> None:
    for name, site in sites.items():
        if site["type"] == "sample" and not site["is_observed"] and site["fn"].is_discrete:
            raise ModelError(
                f"SVI: site {name!r} is discrete, and {bound} has no gradient there. Leave it out of the guide, and "
                "use `TraceEnum_ELBO()`, which sums it out; or draw it in the guide, and use `TraceGraph_ELBO()`."
            )
