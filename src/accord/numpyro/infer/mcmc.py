"""Run chains of a NumPyro program, by NumPyro's `MCMC`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ... import infer
from ...core.errors import ModelError, OptionError
from ...core.notice import Notice
from ...core.precision import Precision
from ...density import LogDensity
from ...mcmc.draws import Draws
from ...model import Model
from ...report.notices import tell
from ..bridge import as_model
from ..diagnostics import print_summary
from ..handlers import seed
from ..messages import Met
from .densities import constrain_fn
from .initialization import as_start
from .kernels import MCMCKernel
from .outline import outline_of
from .seeds import seed_of
from .told import notices_of

_FIELDS: dict[str, Callable[[Draws], np.ndarray]] = {
    "diverging": lambda draws: draws.stats["diverging"],
    "accept_prob": lambda draws: draws.stats["acceptance_rate"],
    "num_steps": lambda draws: draws.stats["n_steps"],
    "energy": lambda draws: draws.stats["energy"],
    "potential_energy": lambda draws: -draws.stats["lp"],
    "adapt_state.step_size": lambda draws: draws.stats["step_size"],
    "tree_depth": lambda draws: draws.stats["tree_depth"],
}
"""Fields of a chain's state, and the statistics of accord that they are."""


class MCMCState(NamedTuple):
    """Where chains ended: `MCMC` goes on from there. **Fields**: `z`, last values by name; `draws`, of accord."""

    z: dict[str, Any]
    rng_key: Any
    draws: Draws


class MCMC:
    """Chains of a sampler for the posterior of a program.

    **Arguments**: as of `numpyro.infer.MCMC`. `num_samples` draws per chain are made, of which every `thinning`-th is
    kept. `chain_method` is `"parallel"` (threads), `"sequential"` (one after the other) or `"vectorized"` (one program
    for all). `jit_model_args` has no effect: new data of the same shapes compile nothing.

    **Fields**: `draws`, the `Draws` of accord, with notices, `summary()`, `report()` and `to_arviz()`, None before a
    run; `notices`, where the program may mean something else than it seems to.
    """

    def __init__(
        self,
        sampler: MCMCKernel,
        *,
        num_warmup: int,
        num_samples: int,
        num_chains: int = 1,
        thinning: int = 1,
        postprocess_fn: Callable[..., Any] | None = None,
        chain_method: str = "parallel",
        progress_bar: bool = True,
        jit_model_args: bool = False,
    ) -> None:
        del jit_model_args
        if not isinstance(sampler, MCMCKernel):
            raise OptionError(f"MCMC takes a sampler such as `NUTS(model)`, got {sampler!r}.")
        if callable(chain_method) or chain_method not in ("parallel", "sequential", "vectorized"):
            raise OptionError(
                f'MCMC: chain_method must be "parallel", "sequential" or "vectorized", got {chain_method!r}. In accord '
                "`infer.sample(..., executor=infer.Devices())` shares chains out among devices."
            )
        self.sampler, self.num_warmup, self.num_samples = sampler, int(num_warmup), int(num_samples)
        self.num_chains, self.thinning, self.chain_method = int(num_chains), int(thinning), chain_method
        self.postprocess_fn, self.progress_bar = postprocess_fn, progress_bar
        self.draws: Draws | None = None
        self.notices: tuple[Notice, ...] = ()
        self.post_warmup_state: MCMCState | None = None
        self._first = 0
        self._fields: tuple[str, ...] = ()

    def run(
        self,
        rng_key: Any,
        *args: Any,
        extra_fields: Sequence[str] = (),
        init_params: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Run warm-up and chains with these arguments of the model.

        **Arguments**: `rng_key`, a JAX random key, of which all draws are a function; `extra_fields`, names for
        `get_extra_fields`; `init_params`, unconstrained values to begin from, by name, with a first axis of chains if
        there are several.

        After `warmup`, or where `post_warmup_state` is set, the chains go on with what warm-up has learnt.

        **Raises** as `accord.infer.sample`.
        """
        for name in extra_fields:
            if name not in (*_FIELDS, "z", "i", "mean_accept_prob"):
                raise OptionError(
                    f"MCMC.run: extra_fields has {name!r}. There are {', '.join(map(repr, _FIELDS))}; `mcmc.draws` has "
                    "`stats` and `tuning`."
                )
        self._fields = tuple(name for name in extra_fields if name in _FIELDS)
        state = self.post_warmup_state
        if state is not None:
            self._go_on(state, args, kwargs)
            return
        self.draws = self._sampled(rng_key, self.num_samples, init_params, args, kwargs)
        self._first = 0

    def warmup(
        self,
        rng_key: Any,
        *args: Any,
        extra_fields: Sequence[str] = (),
        collect_warmup: bool = False,
        init_params: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Run warm-up alone; `run` then goes on.

        **Raises** `OptionError` with `collect_warmup`: `mcmc.draws.warmup` has the positions.
        """
        del extra_fields
        if collect_warmup:
            raise OptionError(
                "MCMC.warmup: collect_warmup is not offered. `mcmc.draws.warmup` has the positions."
            )
        self.draws = self._sampled(rng_key, self.thinning, init_params, args, kwargs)
        self.post_warmup_state = self.last_state

    @property
    def last_state(self) -> MCMCState | None:
        """Where the chains ended; set `post_warmup_state` to it for `run` to go on from there."""
        if self.draws is None:
            return None
        return MCMCState(
            {n: jax.device_put(v[:, -1]) for n, v in self.draws.items()}, jax.random.key(0), self.draws
        )

    def get_samples(self, group_by_chain: bool = False) -> dict[str, jax.Array]:
        """Return draws by name, shape `(chain * draw, *site)`, or `(chain, draw, *site)` if they are grouped.

        Discrete unknowns that were summed out are left out, as NumPyro does; `mcmc.draws` has them.
        """
        draws = self._made()
        left_out = _summed_out(draws)
        found = {name: value[:, self._first :] for name, value in draws.items() if name not in left_out}
        if self.postprocess_fn is not None:
            found = jax.vmap(jax.vmap(self.postprocess_fn))(found)
        return {name: jax.device_put(_joined(value, group_by_chain)) for name, value in found.items()}

    def get_extra_fields(self, group_by_chain: bool = False) -> dict[str, jax.Array]:
        """Return the statistics that `run` was asked for, and `diverging`."""
        draws = self._made()
        names = dict.fromkeys(("diverging", *self._fields))
        return {
            name: jax.device_put(_joined(_FIELDS[name](draws)[:, self._first :], group_by_chain))
            for name in names
        }

    def print_summary(self, prob: float = 0.9, exclude_deterministic: bool = True) -> None:
        """Print means, sds, intervals, effective sample sizes and R-hat, and how many draws diverged."""
        draws, samples = self._made(), self.get_samples(group_by_chain=True)
        computed: set[str] = set()
        if exclude_deterministic and draws.density is not None:
            computed = {e.name for e in draws.density.layout.sites if e.kind == "deterministic"}
        print_summary({n: v for n, v in samples.items() if n not in computed}, prob=prob)
        count = int(draws.stats["diverging"][:, self._first :].sum())
        sys.stdout.write(f"Number of divergences: {count}\n")

    def transfer_states_to_host(self) -> None:
        """Do nothing: draws are on the host."""

    def _made(self) -> Draws:
        if self.draws is None:
            raise ModelError("MCMC: there are no draws yet. Call `mcmc.run(jax.random.key(0), ...)` first.")
        return self.draws

    def _go_on(self, state: MCMCState, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if not _is_same((args, dict(kwargs)), self._given):
            raise OptionError(
                "MCMC.run: the chains go on from `post_warmup_state`, whose posterior is that of the arguments given "
                "before, and these are others. Set `mcmc.post_warmup_state = None` to begin anew."
            )
        self._first = state.draws.num_draws
        self.draws = state.draws.extend(self.num_samples // self.thinning)

    def _sampled(
        self,
        rng_key: Any,
        count: int,
        init_params: Mapping[str, Any] | None,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Draws:
        self._given = (args, dict(kwargs))
        target, start, kernel = self._target(init_params, args, kwargs)
        executor = infer.Serial() if self.chain_method == "sequential" else None
        lanes = self.num_chains if self.chain_method == "vectorized" else None
        return infer.sample(
            target,
            kernel,
            draws=max(count // self.thinning, 1),
            warmup=self.num_warmup,
            chains=self.num_chains,
            thinning=self.thinning,
            seed=seed_of(rng_key),
            init=start,
            executor=executor,
            lanes=lanes,
            precision=_precision(),
            progress=self.progress_bar,
        )

    def _target(
        self, init_params: Mapping[str, Any] | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Model | LogDensity, Any, Any]:
        kernel = self.sampler
        if kernel.model is None:
            potential = kernel.potential_fn
            if init_params is None or potential is None:
                raise OptionError("MCMC.run: with `potential_fn`, give `init_params=`, which has the shapes.")
            one = jax.tree.map(
                lambda v: np.asarray(v)[0] if self.num_chains > 1 else np.asarray(v), init_params
            )
            density = LogDensity.from_function(lambda z: -potential(z), one)
            return density, None, kernel.sampler()
        model = as_model(kernel.model, *args, **kwargs)
        with Met() as met:
            sites = outline_of(kernel.model, args, kwargs)
        self.notices = notices_of(sites, met)
        tell(self.notices)
        latents = {n: s for n, s in sites.items() if s["type"] == "sample" and not s["is_observed"]}
        if init_params is None:
            start = as_start(kernel.init_strategy, latents)
        else:
            start = self._values(init_params, kernel.model, args, kwargs)
        return model, start, kernel.sampler_for(latents)

    def _values(
        self, init_params: Mapping[str, Any], model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Return the start of each chain from unconstrained values."""
        seeded = seed(model, jax.random.key(0))
        chains = [
            {n: np.asarray(v)[i] if self.num_chains > 1 else np.asarray(v) for n, v in init_params.items()}
            for i in range(self.num_chains)
        ]
        values = [constrain_fn(seeded, args, kwargs, z) for z in chains]
        return infer.from_values([{n: np.asarray(v) for n, v in each.items()} for each in values])


def _precision() -> Precision:
    from ..settings import asked_precision

    return asked_precision()


def _summed_out(draws: Draws) -> tuple[str, ...]:
    if draws.density is None:
        return ()
    unknowns = {entry.name for entry in draws.density.layout.unknowns}
    computed = {entry.name for entry in draws.density.layout.sites if entry.kind == "deterministic"}
    return tuple(name for name in draws if name not in unknowns and name not in computed)


def _joined(value: Any, is_grouped: bool) -> Any:
    return value if is_grouped else value.reshape((-1, *value.shape[2:]))


def _is_same(first: Any, second: Any) -> bool:
    ours, theirs = jax.tree.flatten(first), jax.tree.flatten(second)
    return ours[1] == theirs[1] and all(
        a is b or np.array_equal(np.asarray(a), np.asarray(b))
        for a, b in zip(ours[0], theirs[0], strict=True)
    )
