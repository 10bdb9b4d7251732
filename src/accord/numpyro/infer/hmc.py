"""Offer Hamiltonian Monte Carlo as functions of a state: NumPyro's `hmc`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree

from ... import infer
from ...adaptation.metric import Metric, rank_for
from ...adaptation.tuning import Tuning
from ...core.errors import ModelError, OptionError
from ...core.position import Position
from ...core.stats import Ending
from ...core.tree import node
from ...density import LogDensity
from ...kernels import AbstractKernel, Info, Point
from ...kernels.evaluated import advanced
from ...report.notices import tell
from ..names.refusal import refusal as _refusal
from .initialize import ParamInfo
from .kernels import HMC as HMC
from .kernels import NUTS as NUTS
from .seeds import seed_of
from .told import unused_options

__getattr__ = _refusal("numpyro.infer.hmc")


class HMCAdaptState(NamedTuple):
    """Tuning by warm-up. **Fields**: `step_size`; `inverse_mass_matrix`, shape `(dim,)`; `num_warmup` draws."""

    step_size: Any
    inverse_mass_matrix: Any
    num_warmup: Any


class HMCState(NamedTuple):
    """A chain between draws: how many there were; where it stands, in unconstrained space; how the last draw went."""

    i: Any
    z: Any
    z_grad: Any
    potential_energy: Any
    energy: Any
    num_steps: Any
    accept_prob: Any
    mean_accept_prob: Any
    diverging: Any
    adapt_state: HMCAdaptState
    rng_key: Any


class Functional(NamedTuple):
    """A sampler as two functions."""

    init_kernel: Callable[..., HMCState]
    sample_kernel: Callable[..., HMCState]


def hmc(
    potential_fn: Callable[..., Any] | None = None,
    potential_fn_gen: Callable[..., Any] | None = None,
    kinetic_fn: Any = None,
    algo: str = "NUTS",
) -> Functional:
    """Return functions that begin a chain, and that make one draw, which can be used under `jit` and in loops of JAX.

    `init_kernel` runs accord's warm-up from where it is told to begin, and keeps the step size and a diagonal metric
    that it has learnt. `sample_kernel` then makes a draw; while the chain counts draws of warm-up, it stays.

    **Arguments**: as of `numpyro.infer.hmc.hmc`: `potential_fn`, minus a log density of unconstrained values, or
    `potential_fn_gen`, from the model's arguments to one; `algo`, `"NUTS"` or `"HMC"`.

    **Raises** `OptionError` for `kinetic_fn`, which accord does not have.
    """
    if (potential_fn is None) == (potential_fn_gen is None):
        raise OptionError("hmc: give one of `potential_fn` and `potential_fn_gen`.")
    if kinetic_fn is not None:
        raise OptionError("hmc: kinetic_fn is not offered: momenta are normal. Leave it out.")
    if algo not in ("NUTS", "HMC"):
        raise OptionError(f'hmc: algo must be "NUTS" or "HMC", got {algo!r}.')
    made: dict[str, AbstractKernel] = {}

    def potential_of(args: Any, kwargs: Any) -> Callable[[Any], Any]:
        return potential_fn_gen(*args, **(kwargs or {})) if potential_fn_gen is not None else potential_fn  # pyright: ignore

    def init_kernel(
        init_params: Any,
        num_warmup: int,
        *,
        step_size: float = 1.0,
        inverse_mass_matrix: Any = None,
        adapt_step_size: bool = True,
        adapt_mass_matrix: bool = True,
        dense_mass: Any = False,
        target_accept_prob: float = 0.8,
        trajectory_length: float | None = None,
        num_steps: int | None = None,
        max_tree_depth: int = 10,
        find_heuristic_step_size: bool = False,
        forward_mode_differentiation: bool = False,
        regularize_mass_matrix: bool = True,
        model_args: tuple[Any, ...] = (),
        model_kwargs: Mapping[str, Any] | None = None,
        rng_key: Any = None,
    ) -> HMCState:
        tell(unused_options("hmc", num_steps=num_steps))
        del find_heuristic_step_size, forward_mode_differentiation, regularize_mass_matrix
        key = jax.random.key(0) if rng_key is None else rng_key
        z = init_params.z if isinstance(init_params, ParamInfo) else init_params
        if any(isinstance(leaf, Tracer) for leaf in (*jax.tree.leaves(z), key)):
            raise ModelError(
                "hmc: init_kernel runs warm-up, and cannot be called within jit, vmap or the like. Call it outside, or "
                "run several chains by `MCMC(NUTS(model), num_chains=...)`."
            )
        if dense_mass:
            raise OptionError(
                "hmc: init_kernel keeps a diagonal metric. Use `MCMC(NUTS(model, dense_mass=True), ...)` for a "
                "dense one."
            )
        if adapt_step_size != adapt_mass_matrix or (adapt_step_size and inverse_mass_matrix is not None):
            raise OptionError(
                "hmc: warm-up learns step size and metric together. Let it learn both, or fix both by "
                "`adapt_step_size=False, adapt_mass_matrix=False, step_size=..., inverse_mass_matrix=...`."
            )
        kernel = made["kernel"] = _kernel(algo, target_accept_prob, trajectory_length, max_tree_depth)
        potential = potential_of(model_args, model_kwargs)
        flat, unravel = ravel_pytree(z)
        scale = np.ones(flat.shape[0]) if inverse_mass_matrix is None else np.asarray(inverse_mass_matrix)
        if scale.shape != flat.shape:
            raise OptionError(f"hmc: inverse_mass_matrix must have shape {flat.shape}, got {scale.shape}.")
        step: Any = step_size
        if adapt_step_size and num_warmup:
            wide = jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
            draws = infer.sample(
                LogDensity.from_function(lambda x: -potential(unravel(x)), np.asarray(flat)),
                kernel,
                draws=1,
                warmup=num_warmup,
                chains=1,
                seed=seed_of(key),
                init=infer.from_values({"x": np.asarray(flat)}),
                precision="float64" if wide else "float32",
                progress=False,
                quiet=True,
            )
            flat = jnp.asarray(draws["x"][0, -1], flat.dtype)
            step, scale = draws.tuning["step_size"][0], draws.tuning["inverse_mass"][0]
        adapt = HMCAdaptState(
            jnp.asarray(step, flat.dtype), jnp.asarray(scale, flat.dtype), jnp.asarray(num_warmup)
        )
        energy, slope = jax.value_and_grad(potential)(unravel(flat))
        zero = jnp.zeros((), flat.dtype)
        no = jnp.asarray(False)
        return HMCState(
            jnp.asarray(0), unravel(flat), slope, energy, energy, jnp.asarray(0), zero, zero, no, adapt, key
        )

    def sample_kernel(
        hmc_state: HMCState, model_args: tuple[Any, ...] = (), model_kwargs: Mapping[str, Any] | None = None
    ) -> HMCState:
        if "kernel" not in made:
            raise ModelError("hmc: call `init_kernel` first, which returns the state to begin from.")
        potential, kernel = potential_of(model_args, model_kwargs), made["kernel"]
        moved = jax.lax.cond(
            hmc_state.i < hmc_state.adapt_state.num_warmup,
            lambda state: state,
            lambda state: _moved(kernel, potential, state),
            hmc_state,
        )
        return moved._replace(i=hmc_state.i + 1)

    return Functional(init_kernel, sample_kernel)


def _kernel(algo: str, target: float, length: float | None, depth: int) -> AbstractKernel:
    if algo == "NUTS":
        return infer.NUTS(target_accept=target, metric="diagonal", max_tree_depth=depth)
    length = math.pi / 2 if length is None else float(length)
    return infer.HMC(target_accept=target, metric="diagonal", trajectory_length=length)


@node
class _Going:
    """A draw that is being made."""

    state: Any
    info: Info


def _moved(kernel: AbstractKernel, potential: Callable[[Any], Any], state: HMCState) -> HMCState:
    """Make one draw."""
    flat, unravel = ravel_pytree(state.z)
    key, own = jax.random.split(state.rng_key)
    words = jax.random.bits(own, (2,), jnp.uint32)
    learnt = state.adapt_state
    dim = flat.shape[0]
    none = Metric.diagonal(np.ones(dim, flat.dtype), rank_for(dim, "diagonal"))
    metric = replace(none, scale=jnp.sqrt(learnt.inverse_mass_matrix), is_diagonal=jnp.asarray(True))
    tuning = Tuning(learnt.step_size, metric, jnp.asarray(False), jnp.asarray(False))

    def target(position: Position) -> tuple[Any, Any]:
        return jax.value_and_grad(lambda x: -potential(unravel(x)))(position.free)

    point = Point(Position(flat, None), -state.potential_energy, -ravel_pytree(state.z_grad)[0])
    blank = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), point)
    begun = replace(jax.tree.map(jnp.asarray, kernel.init(blank)), point=point)

    def step(going: _Going) -> _Going:
        after, info, _ = advanced(kernel, words, target, going.state, tuning)
        return _Going(after, info)

    done = jax.lax.while_loop(lambda going: ~going.info.is_complete, step, step(_Going(begun, None)))  # pyright: ignore
    stats = {each.name: value for each, value in zip(kernel.stats, done.info.stats, strict=True)}
    at = done.state.point
    rate = stats["acceptance_rate"]
    count = (state.i - learnt.num_warmup + 1).astype(rate.dtype)
    return state._replace(
        z=unravel(at.position.free),
        z_grad=unravel(-at.gradient),
        potential_energy=-at.log_density,
        energy=stats["energy"],
        num_steps=stats["n_steps"].astype(state.num_steps.dtype),
        accept_prob=rate,
        mean_accept_prob=state.mean_accept_prob + (rate - state.mean_accept_prob) / count,
        diverging=done.info.ending == Ending.DIVERGENCE,
        rng_key=key,
    )
