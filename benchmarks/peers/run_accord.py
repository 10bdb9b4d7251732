"""Run accord at its defaults, with the models of the examples."""

import sys
from pathlib import Path

from accord.infer import sample  # loads what a run needs, as the peers' imports do
from worker import CHAINS, Options, Result, measure, start_jax

sys.path.append(str(Path(__file__).resolve().parents[1]))
from problems import function_of

FIRST_DRAW = "first_draw"  # the variant that stops after one draw; its warm-up is the default one


def prepare(options: Options):
    """See `worker.measure`."""
    start_jax()
    model = function_of(options.model)
    counts = {} if options.draws is None else {"warmup": options.draws, "draws": options.draws}
    if options.variant == FIRST_DRAW:
        counts["draws"] = 1

    def run() -> Result:
        draws = sample(
            model(**options.data), chains=CHAINS, seed=options.seed, progress=False, quiet=True, **counts
        )
        gradients = {"warmup": draws.work["warmup"], "sampling": draws.work["sample"]}
        seconds = dict(draws.timings)
        seconds["compile"] += seconds.pop("trace")
        return Result(dict(draws.sites), gradients, seconds)

    return run


if __name__ == "__main__":
    measure(prepare)
