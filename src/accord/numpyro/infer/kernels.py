"""Name the samplers of NumPyro, each of which says by what sampler of accord it is carried out."""

from collections.abc import Callable, Mapping
from typing import Any

from ... import infer
from ...core.errors import OptionError
from ...report.notices import tell
from ..messages import Message
from ..names.refusal import refusal as _refusal
from .initialization import init_to_uniform
from .told import unused_options

__getattr__ = _refusal("numpyro.infer")

_FIXED = (
    "fixes what accord's warm-up learns. Leave it out, or write a sampler of your own: `accord.kernels` has what one "
    "needs."
)


class MCMCKernel:
    """Base class of samplers: `model`, or `potential_fn`, and how chains begin.

    **Arguments**: `model`, a program; `potential_fn`, minus a log density of unconstrained numbers in place of it;
    `init_strategy`, of `infer.initialization`.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        init_strategy: Callable[..., Any] = init_to_uniform,
    ) -> None:
        word = type(self).__name__
        if (model is None) == (potential_fn is None):
            raise OptionError(f"{word}: give one of `model` and `potential_fn`.")
        self.model, self.potential_fn, self.init_strategy = model, potential_fn, init_strategy

    def sampler(self) -> Any:
        """Return the sampler of accord."""
        raise NotImplementedError

    def sampler_for(self, latents: Mapping[str, Message]) -> Any:
        """Return the sampler of accord for a program with these unknowns, by name."""
        del latents
        return self.sampler()


class NUTS(MCMCKernel):
    """The No-U-Turn sampler, as `accord.infer.NUTS`.

    **Arguments**: as of `numpyro.infer.NUTS`. `dense_mass=True` asks for a dense metric; a list of blocks leaves the
    form to the run. `step_size` and the options `find_heuristic_step_size`, `regularize_mass_matrix`,
    `forward_mode_differentiation` have no effect, since warm-up learns step size and metric.

    **Raises** `OptionError` for options that fix what warm-up learns.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        kinetic_fn: Callable[..., Any] | None = None,
        step_size: float = 1.0,
        inverse_mass_matrix: Any = None,
        adapt_step_size: bool = True,
        adapt_mass_matrix: bool = True,
        dense_mass: Any = False,
        target_accept_prob: float = 0.8,
        trajectory_length: float | None = None,
        max_tree_depth: int | tuple[int, int] = 10,
        init_strategy: Callable[..., Any] = init_to_uniform,
        find_heuristic_step_size: bool = False,
        forward_mode_differentiation: bool = False,
        regularize_mass_matrix: bool = True,
    ) -> None:
        super().__init__(model, potential_fn, init_strategy)
        del step_size, trajectory_length, find_heuristic_step_size
        del forward_mode_differentiation, regularize_mass_matrix
        _refuse_fixed(
            "NUTS",
            kinetic_fn=kinetic_fn is not None,
            inverse_mass_matrix=inverse_mass_matrix is not None,
            adapt_step_size=not adapt_step_size,
            adapt_mass_matrix=not adapt_mass_matrix,
        )
        self.metric = "dense" if dense_mass is True else "auto"
        self.target_accept = float(target_accept_prob)
        self.max_tree_depth = max(max_tree_depth) if isinstance(max_tree_depth, tuple) else max_tree_depth

    def sampler(self) -> infer.NUTS:
        """See `MCMCKernel.sampler`."""
        # What nobody has asked for is left to accord, which raises it where there is need.
        accept = None if self.target_accept == 0.8 else self.target_accept
        return infer.NUTS(target_accept=accept, metric=self.metric, max_tree_depth=self.max_tree_depth)  # pyright: ignore


class HMC(MCMCKernel):
    """Hamiltonian Monte Carlo, as `accord.infer.HMC`, whose trajectories are jittered.

    **Arguments**: as of `numpyro.infer.HMC`. `trajectory_length` is in units of the metric that warm-up learns, in
    which the posterior has sd 1; None is pi / 2. NumPyro's 2 pi leads around such a normal and back to where it began.

    **Raises** `OptionError` for options that fix what warm-up learns.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        kinetic_fn: Callable[..., Any] | None = None,
        step_size: float = 1.0,
        inverse_mass_matrix: Any = None,
        adapt_step_size: bool = True,
        adapt_mass_matrix: bool = True,
        dense_mass: Any = False,
        target_accept_prob: float = 0.8,
        num_steps: int | None = None,
        trajectory_length: float | None = None,
        init_strategy: Callable[..., Any] = init_to_uniform,
        find_heuristic_step_size: bool = False,
        forward_mode_differentiation: bool = False,
        regularize_mass_matrix: bool = True,
    ) -> None:
        super().__init__(model, potential_fn, init_strategy)
        tell(unused_options("HMC", num_steps=num_steps))
        del (
            step_size,
            find_heuristic_step_size,
            forward_mode_differentiation,
            regularize_mass_matrix,
        )
        _refuse_fixed(
            "HMC",
            kinetic_fn=kinetic_fn is not None,
            inverse_mass_matrix=inverse_mass_matrix is not None,
            adapt_step_size=not adapt_step_size,
            adapt_mass_matrix=not adapt_mass_matrix,
        )
        self.options: dict[str, Any] = {"target_accept": float(target_accept_prob)}
        if dense_mass is True:
            self.options["metric"] = "dense"
        if trajectory_length is not None:
            self.options["trajectory_length"] = float(trajectory_length)

    def sampler(self) -> infer.HMC:
        """See `MCMCKernel.sampler`."""
        return infer.HMC(**self.options)


class BarkerMH(MCMCKernel):
    """Barker's proposal, as `accord.infer.Barker`.

    **Arguments**: as of `numpyro.infer.BarkerMH`; `step_size` has no effect.

    **Raises** `OptionError` for options that fix what warm-up learns.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        step_size: float = 1.0,
        adapt_step_size: bool = True,
        adapt_mass_matrix: bool = True,
        dense_mass: bool = False,
        target_accept_prob: float = 0.4,
        init_strategy: Callable[..., Any] = init_to_uniform,
    ) -> None:
        super().__init__(model, potential_fn, init_strategy)
        del step_size
        _refuse_fixed(
            "BarkerMH", adapt_step_size=not adapt_step_size, adapt_mass_matrix=not adapt_mass_matrix
        )
        self.metric, self.target_accept = "dense" if dense_mass else "auto", target_accept_prob

    def sampler(self) -> infer.Barker:
        """See `MCMCKernel.sampler`."""
        return infer.Barker(target_accept=self.target_accept, metric=self.metric)  # pyright: ignore


class AIES(MCMCKernel):
    """An ensemble of walkers by stretches and differences, as `accord.infer.Ensemble`.

    **Arguments**: `model`, `potential_fn`, `init_strategy`; `moves`, a mapping from moves made by `AIES.DEMove()` and
    `AIES.StretchMove()` to their probabilities.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        randomize_split: bool = False,
        moves: Mapping[str, float] | None = None,
        init_strategy: Callable[..., Any] = init_to_uniform,
    ) -> None:
        super().__init__(model, potential_fn, init_strategy)
        del randomize_split
        self.moves = {"differential": 1.0} if moves is None else dict(moves)

    @staticmethod
    def DEMove(sigma: float = 1.0e-5, g0: float | None = None) -> str:  # noqa: N802 - NumPyro's name
        """Moves by the difference of two walkers."""
        del sigma, g0
        return "differential"

    @staticmethod
    def StretchMove(a: float = 2.0) -> str:  # noqa: N802 - NumPyro's name
        """Moves along the line to another walker."""
        del a
        return "stretch"

    def sampler(self) -> infer.Ensemble:
        """See `MCMCKernel.sampler`."""
        return infer.Ensemble(self.moves)  # pyright: ignore


class ESS(MCMCKernel):
    """An ensemble of walkers by slices along differences, as `accord.infer.Ensemble("slice")`."""

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        init_strategy: Callable[..., Any] = init_to_uniform,
        **options: Any,
    ) -> None:
        super().__init__(model, potential_fn, init_strategy)
        tell(unused_options("ESS", **options))  # how NumPyro widens slices, which accord learns

    def sampler(self) -> infer.Ensemble:
        """See `MCMCKernel.sampler`."""
        return infer.Ensemble("slice")


class SA(MCMCKernel):
    """A sampler without gradients, as `accord.infer.RandomWalk`, whose covariance warm-up learns from acceptances.

    NumPyro's sample adaptive MCMC proposes from a set of past points. The posterior is the same, and like it this needs
    many draws of warm-up.

    **Arguments**: as of `numpyro.infer.SA`; `adapt_state_size` has no effect; `dense_mass=False` asks for a scale for
    each coordinate.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        potential_fn: Callable[..., Any] | None = None,
        adapt_state_size: int | None = None,
        dense_mass: bool = True,
        init_strategy: Callable[..., Any] = init_to_uniform,
    ) -> None:
        super().__init__(model, potential_fn, init_strategy)
        tell(unused_options("SA", adapt_state_size=adapt_state_size))
        self.metric = "robust" if dense_mass else "diagonal"

    def sampler(self) -> infer.RandomWalk:
        """See `MCMCKernel.sampler`."""
        return infer.RandomWalk(metric=self.metric)  # pyright: ignore


def _refuse_fixed(word: str, **given: bool) -> None:
    for name, is_given in given.items():
        if is_given:
            raise OptionError(f"{word}: {name} {_FIXED}")
