"""Translate the arguments of `pm.sample` into those of `infer.sample`, and refuse what has no meaning there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import OptionError, suggest
from ...core.options import positive_count
from ...executors import AbstractExecutor, Threads
from .library import pymc

WORD = "interop.pymc.Sampler"
POINTWISE = ("log_likelihood", "log_prior")
"""Groups that PyMC computes from draws on request, by observation or by variable."""

_MOST = 2**63
# Which options of PyMC's conversion are not taken, and what to do in their place.
_ELSEWHERE = {
    "dims": "Name the dims in the model: pm.Normal('b', dims='group').",
    "coords": "Give the labels to the model: pm.Model(coords={'group': [...]}).",
    "save_warmup": "Use discard_tuned_samples=False.",
    "include_transformed": "`interop.pymc.target(model).unconstrain` maps values to unconstrained ones.",
}


def seed_of(random_seed: Any) -> int:
    """Return the seed of a run: the integer itself, a new one for None, or one that PyMC's generator draws."""
    if random_seed is None:
        return int(np.random.default_rng().integers(_MOST))
    if isinstance(random_seed, int | np.integer) and not isinstance(random_seed, bool):
        return int(random_seed)
    try:
        generator = pymc().util.get_random_generator(random_seed)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{WORD}: random_seed must be an integer, a list of integers, a NumPy generator or None; got "
            f"{random_seed!r}."
        ) from error
    return int(generator.integers(_MOST))


def executor_of(cores: int | None) -> AbstractExecutor | None:
    """Return the threads for a number of cores; None where the run chooses."""
    return None if cores is None else Threads(positive_count(f"{WORD}: cores", cores))


def is_shown(progressbar: bool | str) -> bool:
    """Return whether progress is shown, for PyMC's boolean or name of a display."""
    if not isinstance(progressbar, bool | np.bool_ | str):
        raise OptionError(
            f"{WORD}: progressbar must be True, False or a name of PyMC's; got {progressbar!r}."
        )
    return bool(progressbar)


def check_compile_kwargs(compile_kwargs: Mapping[str, Any] | None) -> None:
    """Raise `OptionError` unless the model is to be compiled by JAX, or nothing is said of it."""
    given = dict(compile_kwargs or {})
    mode = given.pop("mode", None)
    name = mode if isinstance(mode, str | None) else type(getattr(mode, "linker", mode)).__name__
    if given or (name is not None and name.upper() not in ("JAX", "JAXLINKER")):
        raise OptionError(
            f"{WORD}: JAX compiles the model, so that compile_kwargs={dict(compile_kwargs or {})!r} cannot be "
            'followed. Leave compile_kwargs out, or give {"mode": "JAX"}.'
        )


def pointwise_of(idata_kwargs: Mapping[str, Any] | None) -> dict[str, list[str] | None]:
    """Return which groups PyMC computes from the draws, each with the names of variables, or None for all."""
    found: dict[str, list[str] | None] = {}
    for name, value in (idata_kwargs or {}).items():
        if name not in POINTWISE:
            remedy = _ELSEWHERE.get(name, f"It takes {' and '.join(POINTWISE)}.{suggest(name, POINTWISE)}")
            raise OptionError(f"{WORD}: idata_kwargs has {name!r}, which is not taken. {remedy}")
        if isinstance(value, bool):
            if value:
                found[name] = None
        elif isinstance(value, Sequence) and not isinstance(value, str):
            found[name] = [*value]
        else:
            raise OptionError(
                f"{WORD}: {name!r} of idata_kwargs must be True, False or a list of names; got {value!r}."
            )
    return found


def names_of(var_names: Sequence[str] | None, model: Any) -> list[str] | None:
    """Check the names of variables to keep, in the model's order; None is all."""
    if var_names is None:
        return None
    known = [each.name for each in model.unobserved_RVs]
    wanted = [var_names] if isinstance(var_names, str) else [*var_names]
    for name in wanted:
        if name not in known:
            raise OptionError(
                f"{WORD}: var_names has {name!r}, which is no free variable and no deterministic of the model."
                f"{suggest(str(name), known)} It has {', '.join(known)}."
            )
    return [name for name in known if name in wanted]


def starts_of(initvals: Any, model: Any, num_chains: int, seed: int) -> list[dict[str, np.ndarray]] | None:
    """Return values to start at, by chain and variable, as PyMC understands them; None where the run chooses.

    PyMC evaluates names of transformed variables (`tau_log__`), symbolic values, and `"prior"`, which is drawn from
    the run's seed.
    """
    if initvals is None:
        return None
    is_common = isinstance(initvals, Mapping)
    if not is_common and (not isinstance(initvals, Sequence) or isinstance(initvals, str)):
        raise OptionError(
            f"{WORD}: initvals must map variables to values, or be a list of such; got {initvals!r}."
        )
    by_chain = [initvals] * num_chains if is_common else [*initvals]
    if len(by_chain) != num_chains:
        raise OptionError(f"{WORD}: initvals has {len(by_chain)} entries, and there are {num_chains} chains.")
    return [
        _values(given, model, np.random.SeedSequence([seed, chain])) if given else {}
        for chain, given in enumerate(by_chain)
    ]


def _values(given: Mapping[Any, Any], model: Any, seed: np.random.SeedSequence) -> dict[str, np.ndarray]:
    known = {
        name: each.name for each in model.free_RVs for name in (each.name, model.rvs_to_values[each].name)
    }
    names = [name if isinstance(name, str) else getattr(name, "name", None) for name in given]
    for name in names:
        if name not in known:
            raise OptionError(
                f"{WORD}: initvals has {name!r}, which is no free variable of the model."
                f"{suggest(str(name), known)}"
            )
    point = pymc().initial_point.make_initial_point_fn(
        model=model, overrides=dict(given), return_transformed=False
    )(int(seed.generate_state(1)[0]))
    return {known[name]: np.asarray(point[known[name]]) for name in names}
