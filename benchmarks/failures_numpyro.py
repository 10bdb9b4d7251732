"""Run the broken models of `tests/failures` in NumPyro, one a line: what it does with each, as JSON.

    ENV/bin/python benchmarks/failures_numpyro.py '{"names": [...], "x64": true, "draws": 500, ...}'

The models are the very same files: NumPyro has the same names, and stands here where they import accord. Needs an
environment that has NumPyro and need not have accord; `docs/make_failures.py` starts it.
"""

import functools
import json
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import numpyro
import numpyro.distributions
from numpyro import handlers
from numpyro.diagnostics import split_gelman_rubin
from numpyro.infer import MCMC, NUTS, init_to_uniform, init_to_value

MODELS = Path(__file__).resolve().parents[1] / "tests" / "failures"


def main() -> None:
    """Print a line for each case as soon as it has ended."""
    request = json.loads(sys.argv[1])
    if request["x64"]:
        numpyro.enable_x64()
    jax.config.update("jax_num_cpu_devices", 2)
    sys.modules |= {"accord": _stand_in(), "accord.distributions": numpyro.distributions}
    sys.path.insert(0, str(MODELS))
    import gallery  # its models import what stands in for accord

    print(json.dumps({"numpyro": numpyro.__version__}), flush=True)
    for name in request["names"]:
        print(json.dumps({name: _told(gallery.CASES[name], request)}), flush=True)


def _stand_in() -> types.ModuleType:
    module = types.ModuleType("accord")
    names: dict[str, Any] = dict(
        sample=numpyro.sample,
        plate=numpyro.plate,
        deterministic=numpyro.deterministic,
        factor=numpyro.factor,
        handlers=handlers,
        distributions=numpyro.distributions,
        model=_model,
    )
    module.__dict__.update(names)
    return module


def _model(function: Callable[..., Any]) -> Callable[..., Any]:
    """Calling a model binds its data."""
    return lambda *arguments, **named: functools.partial(function, *arguments, **named)


def _told(case: Any, request: dict[str, Any]) -> str:
    """What a user is told of a case: the error, or how the draws look."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            mcmc = _run(case, request)
        except Exception as error:
            return f"{type(error).__name__}: {_line_of(str(error))}"
    draws = {name: np.asarray(value) for name, value in mcmc.get_samples(group_by_chain=True).items()}
    diverging = np.asarray(mcmc.get_extra_fields(group_by_chain=True)["diverging"])
    return "; ".join([_warned(raised), *_seen(draws, diverging)])


def _run(case: Any, request: dict[str, Any]) -> MCMC:
    options = dict(case.options)
    options.pop("precision", None)
    start = options.pop("init", None)
    names = {"draws": "num_samples", "warmup": "num_warmup", "chains": "num_chains"}
    counts = {names[key]: options.pop(key, request[key]) for key in names}
    strategy = init_to_value(values=start) if start else init_to_uniform
    mcmc = MCMC(
        NUTS(case.model(**case.data), init_strategy=strategy),
        chain_method="sequential",
        progress_bar=True,  # without it, chains in sequence compile once for each
        **counts,
        **options,
    )
    mcmc.run(jax.random.PRNGKey(0), extra_fields=("diverging",))
    return mcmc


def _warned(raised: list[warnings.WarningMessage]) -> str:
    """What was warned of, but for what any run is told of its devices."""
    texts = dict.fromkeys(_shortened(str(each.message)) for each in raised)
    return f"draws, with the warning: {'; '.join(texts)}" if texts else "draws, no warning"


def _seen(draws: dict[str, np.ndarray], diverging: np.ndarray) -> list[str]:
    """What the draws would show to who looks."""
    if not draws:
        return ["of no site"]
    scalars = np.concatenate([each.reshape(*each.shape[:2], -1) for each in draws.values()], axis=2)
    found = []
    num_still = int((scalars == scalars[:, :1]).all(axis=(1, 2)).sum())
    if num_still:
        found.append(f"one draw repeated in {num_still} of {len(scalars)} chains")
    num_bad = int((~np.isfinite(scalars)).sum())
    if num_bad:
        found.append(f"{num_bad} of {scalars.size} values are not finite")
    found.append(f"{int(diverging.sum())} of {diverging.size} divergent")
    with np.errstate(all="ignore"):
        r_hat = split_gelman_rubin(scalars)
    found.append(f"R-hat up to {np.nanmax(r_hat):.3g}" if np.isfinite(r_hat).any() else "no R-hat is finite")
    return found


def _line_of(text: str) -> str:
    """The first line, or the last where that is what a traceback ends with."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _shortened(lines[-1 if "Traceback" in text else 0]) if lines else "no message"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:197]}..."


if __name__ == "__main__":
    main()
