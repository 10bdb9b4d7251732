"""Run accord at its defaults; the variant `cured` does then what notices say, and is judged by the last run."""

from typing import Any

import jax

from accord.infer import sample  # loads what a run needs, as NumPyro's imports do
from child import CHAINS, Outcome, Run, main
from cures import cured

FEW = 2  # draws of warm-up, and again of sampling, of a short run


def prepare(model: Any, seed: int, variant: str) -> Run:
    """See `child.main`."""

    def sampled(model: Any, **options: Any) -> Any:
        return sample(model, chains=CHAINS, seed=seed, progress=False, quiet=True, **options)

    def run(is_short: bool) -> Outcome:
        draws, words = sampled(model, **(dict(warmup=FEW, draws=FEW) if is_short else {})), ""
        if variant == "cured":
            draws, words = cured(model, draws, sampled)
        unknowns = [entry.name for entry in draws.density.layout.entries] if draws.density else list(draws)
        facts = {
            "phases": draws.timings,
            "gradients": {"warmup": draws.work["warmup"], "sampling": draws.work["sample"]},
            "divergences": int(draws.stats["diverging"].sum()),
            "notices": [
                {
                    "severity": notice.severity,
                    "code": notice.code,
                    "message": notice.message,
                    "remedy": notice.remedy,
                }
                for notice in draws.notices
            ],
            "interrupted": not draws.complete,
            "lost_chains": len(draws.lost_chains),
            "cure": words,
        }
        facts |= {
            name: draws.tuning[name].tolist() for name in ("metric", "num_warmup") if name in draws.tuning
        }
        compiling = draws.timings.get("trace", 0.0) + draws.timings.get("compile", 0.0)
        return Outcome({name: draws[name] for name in unknowns}, facts, compiling)

    return run


if __name__ == "__main__":
    jax.devices()
    main(prepare, is_retraced=False)
