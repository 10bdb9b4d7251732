"""Measure how close two particles are, by the kernels of NumPyro's `contrib.einstein`."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import jax.scipy.linalg

from ....core.errors import ModelError, OptionError
from ....distributions import biject_to, constraints
from ...names.refusal import refusal as _refusal

__getattr__ = _refusal("numpyro.contrib.einstein")

Kernel = Callable[[jax.Array, jax.Array], jax.Array]
"""From two particles, shape `(dim,)`, to a number, a vector `(dim,)` or a matrix `(dim, dim)`, by the mode."""

Mode = Literal["norm", "vector", "matrix"]


class SteinKernel(abc.ABC):
    """Abstract base class of kernels. **Fields**: `mode`: one number for all coordinates, one for each, or a matrix."""

    mode: Mode = "norm"

    @abc.abstractmethod
    def compute(
        self, rng_key: Any, particles: Any, particle_info: Mapping[str, tuple[int, int]], loss_fn: Any
    ) -> Kernel:
        """Return the kernel for these particles, shape `(particle, dim)`.

        **Arguments**: `particle_info`, by parameter, where its numbers begin and end in a particle.
        """

    def init(self, rng_key: Any, particles_shape: tuple[int, ...]) -> None:  # noqa: B027 - most draw nothing
        """Draw what the kernel needs, for particles of this shape."""

    def applied(self, kernel: Kernel, x: Any, y: Any, v: Any) -> Any:
        """Multiply a vector `v` by the kernel."""
        found = kernel(x, y)
        return found @ v if self.mode == "matrix" else found * v

    def slope(self, kernel: Kernel, x: Any, y: Any) -> Any:
        """Return the divergence of the kernel by its first argument, coordinate by coordinate, shape `(dim,)`."""
        if self.mode == "norm":
            return jax.grad(kernel)(x, y)
        by_x = jax.jacfwd(kernel)(x, y)
        return jnp.diagonal(by_x) if self.mode == "vector" else jnp.einsum("abb->a", by_x)


class RBFKernel(SteinKernel):
    """The kernel `exp(-|x - y|^2 / h)`, `h` being the squared median distance times `bandwidth_factor(particles)`.

    **Arguments**: `mode`; `matrix_mode`, what the diagonal of a matrix has: the number for all coordinates
    (`"norm_diag"`) or one for each (`"vector_diag"`).

    **Source**: Liu & Wang (2016), "Stein variational gradient descent", NeurIPS.
    """

    def __init__(
        self,
        mode: Mode = "norm",
        matrix_mode: str = "norm_diag",
        bandwidth_factor: Callable[[Any], Any] = lambda n: 1 / jnp.log(n),
    ) -> None:
        self.mode = _one_of("RBFKernel", "mode", mode, ("norm", "vector", "matrix"))
        self.matrix_mode = _one_of("RBFKernel", "matrix_mode", matrix_mode, ("norm_diag", "vector_diag"))
        self.bandwidth_factor = bandwidth_factor

    def compute(self, rng_key: Any, particles: Any, particle_info: Any, loss_fn: Any) -> Kernel:
        """See `SteinKernel.compute`."""
        width = _bandwidth(particles, self.bandwidth_factor)
        is_one = self.mode == "norm" or (self.mode == "matrix" and self.matrix_mode == "norm_diag")

        def kernel(x: Any, y: Any) -> Any:
            apart = (x - y) ** 2
            found = jnp.exp(-(jnp.sum(apart) if is_one else apart) / width)
            return found if self.mode != "matrix" else found * jnp.identity(x.shape[0], found.dtype)

        return kernel


class IMQKernel(SteinKernel):
    """The inverse multiquadric kernel `(const^2 + |x - y|^2)^expon`, `expon` in (-1, 0).

    **Source**: Gorham & Mackey (2017), "Measuring sample quality with kernels", ICML, theorem 8.
    """

    def __init__(self, mode: Mode = "norm", const: float = 1.0, expon: float = -0.5) -> None:
        self.mode = _one_of("IMQKernel", "mode", mode, ("norm", "vector"))
        if not (const > 0 and -1 < expon < 0):
            raise OptionError(f"IMQKernel: const must be above 0 and expon in (-1, 0), got {const}, {expon}.")
        self.const, self.expon = const, expon

    def compute(self, rng_key: Any, particles: Any, particle_info: Any, loss_fn: Any) -> Kernel:
        """See `SteinKernel.compute`."""

        def kernel(x: Any, y: Any) -> Any:
            apart = (x - y) ** 2
            return (self.const**2 + (jnp.sum(apart) if self.mode == "norm" else apart)) ** self.expon

        return kernel


class LinearKernel(SteinKernel):
    """The kernel `x'y + 1`, which matches means and covariances.

    **Source**: Liu & Wang (2018), "Stein variational gradient descent as moment matching", NeurIPS, theorem 3.3.
    """

    def __init__(self, mode: Mode = "norm") -> None:
        self.mode = _one_of("LinearKernel", "mode", mode, ("norm",))

    def compute(self, rng_key: Any, particles: Any, particle_info: Any, loss_fn: Any) -> Kernel:
        """See `SteinKernel.compute`."""
        return lambda x, y: x @ y + 1


class RandomFeatureKernel(SteinKernel):
    """A sum over random features `sqrt(2) cos((w'x + b) / h)` of their products at `x` and `y`.

    **Arguments**: `bandwidth_subset`, how many particles, at random, settle `h`; None is all.

    **Source**: Liu & Wang (2018), "Stein variational gradient descent as moment matching", NeurIPS, eq. 5 and 6.
    """

    def __init__(
        self,
        mode: Mode = "norm",
        bandwidth_subset: int | None = None,
        bandwidth_factor: Callable[[Any], Any] = lambda n: 1 / jnp.log(n),
    ) -> None:
        self.mode = _one_of("RandomFeatureKernel", "mode", mode, ("norm",))
        if bandwidth_subset is not None and bandwidth_subset < 1:
            raise OptionError(
                f"RandomFeatureKernel: bandwidth_subset must be at least 1, got {bandwidth_subset!r}."
            )
        self.bandwidth_subset, self.bandwidth_factor = bandwidth_subset, bandwidth_factor
        self._features: tuple[Any, Any, Any] | None = None

    def init(self, rng_key: Any, particles_shape: tuple[int, ...]) -> None:
        """See `SteinKernel.init`."""
        of_subset, of_weights, of_biases = jax.random.split(rng_key, 3)
        weights = jax.random.normal(of_weights, particles_shape)
        biases = jax.random.uniform(of_biases, particles_shape[:1], maxval=2 * jnp.pi)
        count = self.bandwidth_subset
        some = None if count is None else jax.random.choice(of_subset, particles_shape[0], (count,))
        self._features = weights, biases, some

    def compute(self, rng_key: Any, particles: Any, particle_info: Any, loss_fn: Any) -> Kernel:
        """See `SteinKernel.compute`."""
        if self._features is None or self._features[0].shape != particles.shape:
            raise ModelError(
                f"RandomFeatureKernel: no features were drawn for particles of shape {particles.shape}. Use the kernel "
                "by `SteinVI`, or call `init(rng_key, particles.shape)`."
            )
        weights, biases, some = self._features
        width = _bandwidth(particles if some is None else particles[some], self.bandwidth_factor)

        def features(x: Any) -> Any:
            return jnp.sqrt(2.0) * jnp.cos((weights @ x + biases) / width)

        return lambda x, y: jnp.sum(features(x) * features(y))


class MixtureKernel(SteinKernel):
    """A weighted sum of kernels of one mode. **Arguments**: `ws`, weights; `kernel_fns`, as many kernels, two or more.

    **Source**: Ai et al. (2023), Cognitive Computation 15(2), 672-682, eq. 1.
    """

    def __init__(self, ws: Sequence[float], kernel_fns: Sequence[SteinKernel], mode: Mode = "norm") -> None:
        if len(ws) != len(kernel_fns) or len(ws) < 2 or any(each.mode != mode for each in kernel_fns):
            raise OptionError(
                f"MixtureKernel: give as many weights as kernels, two at least, all of mode {mode!r}; got {len(ws)} "
                f"weights, and kernels of modes {[each.mode for each in kernel_fns]}."
            )
        self.mode, self.ws, self.kernel_fns = mode, tuple(ws), tuple(kernel_fns)

    def init(self, rng_key: Any, particles_shape: tuple[int, ...]) -> None:
        """See `SteinKernel.init`."""
        for key, each in zip(jax.random.split(rng_key, len(self.ws)), self.kernel_fns, strict=True):
            each.init(key, particles_shape)

    def compute(self, rng_key: Any, particles: Any, particle_info: Any, loss_fn: Any) -> Kernel:
        """See `SteinKernel.compute`."""
        kernels = [each.compute(rng_key, particles, particle_info, loss_fn) for each in self.kernel_fns]

        def kernel(x: Any, y: Any) -> Any:
            first, *others = (w * each(x, y) for w, each in zip(self.ws, kernels, strict=True))
            return sum(others, first)

        return kernel


class GraphicalKernel(SteinKernel):
    """A kernel of its own for each parameter, on the diagonal of a matrix.

    **Arguments**: `local_kernel_fns`, kernels by name of the parameter; `default_kernel_fn`, for the others.

    **Source**: Wang, Zeng & Liu (2018), "Stein variational message passing", ICML, theorem 1.
    """

    def __init__(
        self,
        mode: Mode = "matrix",
        local_kernel_fns: Mapping[str, SteinKernel] | None = None,
        default_kernel_fn: SteinKernel | None = None,
    ) -> None:
        self.mode = _one_of("GraphicalKernel", "mode", mode, ("matrix",))
        self.local_kernel_fns = dict(local_kernel_fns or {})
        self.default_kernel_fn = RBFKernel() if default_kernel_fn is None else default_kernel_fn

    def compute(
        self, rng_key: Any, particles: Any, particle_info: Mapping[str, tuple[int, int]], loss_fn: Any
    ) -> Kernel:
        """See `SteinKernel.compute`."""
        parts: list[tuple[SteinKernel, Kernel, int, int]] = []
        for name, (start, end) in particle_info.items():
            own = self.local_kernel_fns.get(name, self.default_kernel_fn)
            made = own.compute(rng_key, particles[:, start:end], {name: (0, end - start)}, loss_fn)
            parts.append((own, made, start, end))

        def block(own: SteinKernel, kernel: Kernel, x: Any, y: Any) -> Any:
            found = kernel(x, y)
            return found if own.mode == "matrix" else found * jnp.identity(x.shape[0], found.dtype)

        return lambda x, y: jax.scipy.linalg.block_diag(
            *(block(own, kernel, x[start:end], y[start:end]) for own, kernel, start, end in parts)
        )


class ProbabilityProductKernel(SteinKernel):
    """The product of normal densities that two particles are the parameters of, integrated, up to its constant.

    **Arguments**: `guide`, an `AutoNormal`; `scale`, a factor of the exponent.

    **Source**: Jebara, Kondor & Howard (2004), J. Mach. Learn. Res. 5, 819-844, eq. 5.
    """

    def __init__(self, guide: Any, scale: float = 1.0, mode: Mode = "norm") -> None:
        from ...infer.autoguide import AutoNormal

        self.mode = _one_of("ProbabilityProductKernel", "mode", mode, ("norm",))
        if not isinstance(guide, AutoNormal):
            raise OptionError(f"ProbabilityProductKernel takes an AutoNormal, got {guide!r}.")
        self.guide, self.scale = guide, scale

    def compute(
        self, rng_key: Any, particles: Any, particle_info: Mapping[str, tuple[int, int]], loss_fn: Any
    ) -> Kernel:
        """See `SteinKernel.compute`."""

        def places(ending: str) -> Any:
            found = [jnp.arange(*at) for name, at in particle_info.items() if name.endswith(ending)]
            return jnp.concatenate(found)

        locs, scales = places(f"{self.guide.prefix}_loc"), places(f"{self.guide.prefix}_scale")
        onto = biject_to(constraints.softplus_positive)

        def kernel(x: Any, y: Any) -> Any:
            (m1, s1), (m2, s2) = ((z[locs], onto.forward(z[scales])) for z in (x, y))
            # The exponent of the product of two normal densities: their distance in sds of the sum.
            return jnp.exp(-0.5 * self.scale * jnp.sum((m1 - m2) ** 2 / (s1**2 + s2**2)))

        return kernel


def _bandwidth(particles: Any, factor: Callable[[Any], Any]) -> Any:
    """Return the squared median distance between particles, of which one is at no distance, times a factor."""
    if particles.shape[0] == 1:
        return 1.0
    apart = jnp.sum((particles[:, None] - particles[None]) ** 2, axis=-1)
    median = jnp.median(jnp.sqrt(apart))
    width = median**2 * factor(particles.shape[0]) + jnp.finfo(apart.dtype).eps
    return jax.lax.stop_gradient(width)


def _one_of(word: str, option: str, given: Any, allowed: tuple[str, ...]) -> Any:
    if given not in allowed:
        raise OptionError(f"{word}: {option} must be {' or '.join(map(repr, allowed))}, got {given!r}.")
    return given
