"""Fit a mixture of guides by Stein's method: NumPyro's `SteinVI`."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from ....core.errors import ModelError, OptionError
from ....distributions import biject_to, constraints
from ...distributions.transforms import Transform
from ...handlers import scale, seed, trace
from ...infer.parameters import constrained, log_jacobian, unconstrained_value
from ...infer.progress import in_blocks
from ...names.refusal import refusal as _refusal
from ...optim import as_optimizer
from .stein_kernels import SteinKernel
from .stein_loss import SteinLoss

__getattr__ = _refusal("numpyro.contrib.einstein")

_OF_ONE_GUIDE = ("AutoIAFNormal", "AutoBNAFNormal", "AutoDAIS")


class SteinVIState(NamedTuple):
    """State of a fit: that of the optimiser, the next random key, and the weights of attraction and repulsion."""

    optim_state: Any
    rng_key: Any
    loss_temperature: Any
    repulsion_temperature: Any


class SteinVIRunResult(NamedTuple):
    """Result of a run: parameters by name, with a first axis of particles; the last state; norms of the forces."""

    params: Any
    state: Any
    losses: Any


class SteinVI:
    """A mixture of guides with equal weights, whose parameters, the particles, attract and repel each other.

    **Arguments**
    - `model`, `guide`: programs with the same arguments; `optim`, of `numpyro.optim` or of optax.
    - `kernel_fn`: how close particles are, such as `RBFKernel()`.
    - `num_stein_particles`: guides in the mixture; `num_elbo_particles`, draws of each at a step.
    - `loss_temperature`, `repulsion_temperature`: weights of the model and of the repulsion.
    - `non_mixture_guide_params_fn`: of a name, whether all guides share that parameter of theirs.
    - further keywords: arguments of the programs that stay the same.

    The density of the mixture is that at the parameters of each guide. NumPyro 0.22 maps these onto their constraints
    a second time there, so that its scales are others.

    **Source**: Ronning et al. (2024), "ELBOing Stein", arXiv:2410.22948.
    """

    is_of_points = False
    """Whether each guide is a point, with no density of its own: then the particles are the approximation."""

    def __init__(
        self,
        model: Callable[..., Any],
        guide: Callable[..., Any],
        optim: Any,
        kernel_fn: SteinKernel,
        num_stein_particles: int = 10,
        num_elbo_particles: int = 10,
        loss_temperature: float = 1.0,
        repulsion_temperature: float = 1.0,
        non_mixture_guide_params_fn: Callable[[str], bool] = lambda name: False,
        **static_kwargs: Any,
    ) -> None:
        if not isinstance(kernel_fn, SteinKernel):
            raise OptionError(
                f"{type(self).__name__}: kernel_fn must be a kernel, such as `RBFKernel()`, got {kernel_fn!r}."
            )
        if type(guide).__name__ in _OF_ONE_GUIDE:
            raise OptionError(
                f"{type(self).__name__}: {type(guide).__name__} cannot be a part of a mixture. Use `AutoNormal`."
            )
        self.model, self.guide, self._prototype = model, guide, copy.deepcopy(guide)
        self.optim, self.kernel_fn, self.static_kwargs = as_optimizer(optim), kernel_fn, static_kwargs
        self.stein_loss = SteinLoss(num_elbo_particles, num_stein_particles)
        self.num_stein_particles = num_stein_particles
        self.loss_temperature, self.repulsion_temperature = loss_temperature, repulsion_temperature
        self.non_mixture_params_fn = non_mixture_guide_params_fn
        self.guide_sites: set[str] | None = None
        self._maps: dict[str, Transform] = {}

    def init(self, rng_key: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the state before the first step: each particle begins where its guide does, by a key of its own.

        **Raises** `ModelError` for discrete unknowns, and for a guide without parameters.
        """
        kwargs = {**kwargs, **self.static_kwargs}
        rng_key, of_kernel, of_model, of_guide, of_particles = jax.random.split(rng_key, 5)
        model = trace(seed(self.model, of_model)).get_trace(*args, **kwargs)
        starts = jax.vmap(lambda key: self._start(key, args, kwargs))(
            jax.random.split(of_particles, self.num_stein_particles)
        )
        guide = trace(seed(self.guide, of_guide)).get_trace(*args, **kwargs)
        for site in model.values():
            if site["type"] == "sample" and not site["is_observed"] and site["fn"].is_discrete:
                raise ModelError(
                    f"{type(self).__name__}: site {site['name']!r} is discrete, where there is no slope to follow. Sum "
                    "it out by hand, or use `SVI` with `TraceEnum_ELBO`."
                )
        params: dict[str, Any] = {}
        for site in (*model.values(), *guide.values()):
            if site["type"] != "param":
                continue
            name = site["name"]
            if "particle_transform" in site["kwargs"]:
                raise ModelError(
                    f"param {name!r}: particle_transform is not offered. Declare the parameter before the transform, "
                    "and apply it in the guide."
                )
            value = starts.get(name, site["value"])
            if name in starts and self.non_mixture_params_fn(name):
                value = jax.tree.map(lambda x: x[0], value)
            self._maps[name] = Transform(biject_to(site["kwargs"].get("constraint", constraints.real)))
            params[name] = unconstrained_value(self._maps[name], value)
        self.guide_sites = {name for name, site in guide.items() if site["type"] == "param"}
        particles = self._particles(params)
        if not particles:
            raise ModelError(
                f"{type(self).__name__}: the guide has no parameters, so that there is nothing to fit."
            )
        flat = jax.vmap(lambda each: ravel_pytree(each)[0])(particles)
        self.kernel_fn.init(of_kernel, flat.shape)
        return SteinVIState(
            self.optim.init(params), rng_key, self.loss_temperature, self.repulsion_temperature
        )

    def get_params(self, state: Any) -> dict[str, Any]:
        """Return the parameters of a state by name; those of the mixture with a first axis of particles."""
        if self.guide_sites is None:
            raise ModelError(
                f"{type(self).__name__}: call `init` or `run` first, which finds the parameters."
            )
        return constrained(self._maps, self.optim.get_params(state.optim_state))

    def update(self, state: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Make a step; return the next state and the norm of the force."""
        rng_key, _, own = jax.random.split(state.rng_key, 3)
        force, slopes = self._forces(own, state, args, kwargs)
        optim_state = self.optim.update(slopes, state.optim_state, value=force)
        return state._replace(optim_state=optim_state, rng_key=rng_key), force

    def evaluate(self, state: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the norm of the force at a state."""
        _, _, own = jax.random.split(state.rng_key, 3)
        return self._forces(own, state, args, kwargs)[0]

    def run(
        self,
        rng_key: Any,
        num_steps: int,
        *args: Any,
        progress_bar: bool = True,
        init_state: Any = None,
        **kwargs: Any,
    ) -> SteinVIRunResult:
        """Make `num_steps` steps, from `init_state` if it is given."""
        if num_steps < 1:
            raise OptionError(f"{type(self).__name__}.run: num_steps must be at least 1, got {num_steps!r}.")
        state = self._begun(rng_key, num_steps, args, kwargs) if init_state is None else init_state
        if init_state is not None and self.guide_sites is None:
            self._begun(rng_key, num_steps, args, kwargs)

        def step(state: Any, _: Any) -> tuple[Any, Any]:
            return self.update(state, *args, **kwargs)

        state = jax.tree.map(jnp.asarray, state)
        state, forces = in_blocks(step, state, num_steps, "SteinVI", "force", is_shown=progress_bar)
        return SteinVIRunResult(self.get_params(state), state, forces)

    def _begun(self, rng_key: Any, num_steps: int, args: Any, kwargs: Any) -> Any:
        del num_steps
        return self.init(rng_key, *args, **kwargs)

    def _start(self, key: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        """Return where the parameters of the guide begin, by a key."""
        sites = trace(seed(copy.deepcopy(self._prototype), key)).get_trace(*args, **kwargs)
        return {name: site["value"] for name, site in sites.items() if site["type"] == "param"}

    def _particles(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that each guide has of its own."""
        own = self.guide_sites or set()
        return {
            name: params[name]
            for name in sorted(params)
            if name in own and not self.non_mixture_params_fn(name)
        }

    def _forces(self, rng_key: Any, state: Any, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Return the norm of the force on the particles, and slopes of all parameters for the optimiser."""
        params, kwargs = self.optim.get_params(state.optim_state), {**kwargs, **self.static_kwargs}
        own = self._particles(params)
        shared = {name: value for name, value in params.items() if name not in own}
        flat = jax.vmap(lambda each: ravel_pytree(each)[0])(own)
        unravel = ravel_pytree(jax.tree.map(lambda x: x[0], own))[1]
        model = scale(self.model, scale=state.loss_temperature)
        of_kernel, of_loss = jax.random.split(rng_key)

        def bound(key: Any, particle: Any, shared: Any, others: Any) -> Any:
            values = constrained(self._maps, {**shared, **unravel(particle)})
            if self.is_of_points:
                extra = state.loss_temperature * log_jacobian(self._maps, unravel(particle))
                return extra + self.stein_loss.particle_loss(
                    key, model, self.guide, values, None, args, kwargs
                )
            every = jax.vmap(lambda each: constrained(self._maps, {**shared, **unravel(each)}))(others)
            return self.stein_loss.particle_loss(key, model, self.guide, values, every, args, kwargs)

        keys = jax.random.split(of_loss, self.num_stein_particles)
        slope = jax.grad(bound, argnums=(1, 2))
        # How the mixture depends on the parameters of the others has mean zero: the score of a density.
        pull, by_shared = jax.vmap(lambda key, x: slope(key, x, shared, flat))(keys, flat)
        loss = lambda key, particle, index: bound(key, particle, shared, flat)  # noqa: E731
        kernel = self.kernel_fn.compute(of_kernel, flat, self._places(own), loss)

        def force(y: Any) -> Any:
            attraction = jax.vmap(lambda x, g: self.kernel_fn.applied(kernel, x, y, g))(flat, pull)
            repulsion = jax.vmap(lambda x: self.kernel_fn.slope(kernel, x, y))(flat)
            return attraction.sum(0) + state.repulsion_temperature * repulsion.mean(0)

        forces = jax.vmap(force)(flat)
        slopes = jax.vmap(unravel)(-forces)
        slopes |= {name: jax.tree.map(lambda x: -x.mean(0), each) for name, each in by_shared.items()}
        return jnp.linalg.norm(forces), slopes

    @staticmethod
    def _places(own: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
        """Return where the numbers of each parameter lie in a particle."""
        found: dict[str, tuple[int, int]] = {}
        start = 0
        for name, value in own.items():
            size = sum(leaf[0].size for leaf in jax.tree.leaves(value))
            found[name] = start, start + size
            start += size
        return found
