"""Offer the optimisers of `numpyro.optim`: those of `jax.example_libraries.optimizers`, and of optax."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.example_libraries import optimizers
from jax.flatten_util import ravel_pytree
from jax.scipy.optimize import minimize

from .names.refusal import refusal as _refusal

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "ClippedAdam",
    "Minimize",
    "Momentum",
    "Optimizer",
    "RMSProp",
    "RMSPropMomentum",
    "optax_to_numpyro",
]

__getattr__ = _refusal("numpyro.optim")

State = tuple[Any, Any]
"""The number of steps so far, and the state of the rule."""


class Optimizer:
    """A rule for steps: `init`, `update`, `get_params`.

    **Arguments**: `rule`, a triple of functions `init(params)`, `update(i, gradient, state)` and `get_params(state)`.
    """

    def __init__(self, rule: tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]) -> None:
        self._init, self._update, self._get_params = rule

    def init(self, params: Any) -> State:
        """Return the state at these parameters."""
        return jnp.array(0), self._init(params)

    def update(self, g: Any, state: State, value: Any = None) -> State:
        """Return the state after a step by the gradient `g`."""
        del value
        i, inner = state
        return i + 1, self._update(i, g, inner)

    def get_params(self, state: State) -> Any:
        """Return the parameters of a state."""
        return self._get_params(state[1])

    def eval_and_update(
        self, fn: Callable[[Any], Any], state: State, forward_mode_differentiation: bool = False
    ) -> tuple[Any, State]:
        """Evaluate `fn`, from parameters to a loss and something beside it, and step down its gradient."""
        found, slope = _slope(fn, self.get_params(state), forward_mode_differentiation)
        return found, self.update(slope, state, value=found[0])

    def eval_and_stable_update(
        self, fn: Callable[[Any], Any], state: State, forward_mode_differentiation: bool = False
    ) -> tuple[Any, State]:
        """Do as `eval_and_update`, but stay, with a loss of NaN, where loss or gradient are not finite."""
        (loss, beside), slope = _slope(fn, self.get_params(state), forward_mode_differentiation)
        good = jnp.isfinite(loss) & jnp.all(jnp.isfinite(ravel_pytree(slope)[0]))
        moved = self.update(slope, state, value=loss)
        state = jax.tree.map(lambda new, old: jnp.where(good, new, old), moved, state)
        return (jnp.where(good, loss, jnp.nan), beside), state


class Adam(Optimizer):
    """Adam (Kingma & Ba, 2015). **Arguments**: `step_size`, `b1`, `b2`, `eps`."""

    def __init__(self, step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> None:
        super().__init__(optimizers.adam(step_size, b1, b2, eps))


class ClippedAdam(Adam):
    """Adam on gradients whose entries are clipped to `[-clip_norm, clip_norm]`."""

    def __init__(
        self,
        step_size: Any,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        *,
        clip_norm: float = 10.0,
    ) -> None:
        super().__init__(step_size, b1, b2, eps)
        self.clip_norm = clip_norm

    def update(self, g: Any, state: State, value: Any = None) -> State:
        """See `Optimizer.update`."""
        clipped = jax.tree.map(lambda each: jnp.clip(each, -self.clip_norm, self.clip_norm), g)
        return super().update(clipped, state, value)


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan & Singer, 2011). **Arguments**: `step_size`, `momentum`."""

    def __init__(self, step_size: Any, momentum: float = 0.9) -> None:
        super().__init__(optimizers.adagrad(step_size, momentum))


class Momentum(Optimizer):
    """Gradient descent with momentum. **Arguments**: `step_size`, `mass`."""

    def __init__(self, step_size: Any, mass: float) -> None:
        super().__init__(optimizers.momentum(step_size, mass))


class RMSProp(Optimizer):
    """RMSProp. **Arguments**: `step_size`, `gamma`, `eps`."""

    def __init__(self, step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> None:
        super().__init__(optimizers.rmsprop(step_size, gamma, eps))


class RMSPropMomentum(Optimizer):
    """RMSProp with momentum. **Arguments**: `step_size`, `gamma`, `eps`, `momentum`."""

    def __init__(self, step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9) -> None:
        super().__init__(optimizers.rmsprop_momentum(step_size, gamma, eps, momentum))


class SGD(Optimizer):
    """Gradient descent. **Arguments**: `step_size`, a number or a function of the number of steps."""

    def __init__(self, step_size: Any) -> None:
        super().__init__(optimizers.sgd(step_size))


class Minimize(Optimizer):
    """Climb to the minimum at the first step, by BFGS; further steps begin there.

    **Arguments**: those of `jax.scipy.optimize.minimize`.
    """

    def __init__(self, method: str = "BFGS", **options: Any) -> None:
        super().__init__((lambda params: params, lambda i, g, state: g, lambda state: state))
        self._method, self._options = method, options

    def eval_and_update(
        self, fn: Callable[[Any], Any], state: State, forward_mode_differentiation: bool = False
    ) -> tuple[Any, State]:
        """See `Optimizer.eval_and_update`."""
        del forward_mode_differentiation
        i, params = state
        flat, unravel = ravel_pytree(params)
        found = minimize(lambda x: fn(unravel(x))[0], flat, (), method=self._method, **self._options)
        at = unravel(found.x)
        return (found.fun, fn(at)[1]), (i + 1, at)


def optax_to_numpyro(transformation: Any) -> Optimizer:
    """Return an optimiser of optax as one of `SVI`."""
    import optax

    def init(params: Any) -> Any:
        return params, transformation.init(params)

    def update(i: Any, g: Any, state: Any) -> Any:
        del i
        params, inner = state
        change, inner = transformation.update(g, inner, params)
        return optax.apply_updates(params, change), inner

    return Optimizer((init, update, lambda state: state[0]))


def as_optimizer(given: Any) -> Optimizer:
    """Return an optimiser for one of `numpyro.optim`, of JAX's examples, or of optax."""
    if isinstance(given, Optimizer):
        return given
    if isinstance(given, optimizers.Optimizer):
        return Optimizer(tuple(given))  # pyright: ignore[reportArgumentType]
    return optax_to_numpyro(given)


def _slope(fn: Callable[[Any], Any], params: Any, is_forward: bool) -> tuple[Any, Any]:
    if not is_forward:
        return jax.value_and_grad(fn, has_aux=True)(params)

    def with_result(params: Any) -> Any:
        found = fn(params)
        return found[0], found

    slope, found = jax.jacfwd(with_result, has_aux=True)(params)
    return found, slope
