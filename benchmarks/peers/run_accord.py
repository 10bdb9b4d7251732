"""Run accord at its defaults, with the models of the examples."""

import importlib.util
from pathlib import Path

import scipy.special  # noqa: F401 - accord imports it late, in its first run; imports are not timed

from accord import infer
from accord.language.model import ModelFunction
from worker import CHAINS, Options, Result, measure, start_jax

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def prepare(options: Options):
    """See `worker.measure`."""
    start_jax()
    spec = importlib.util.spec_from_file_location(options.model, EXAMPLES / options.model / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = next(value for value in vars(module).values() if isinstance(value, ModelFunction))

    def run() -> Result:
        draws = infer.sample(
            model(**options.data), chains=CHAINS, seed=options.seed, progress=False, quiet=True
        )
        gradients = {"warmup": draws.work["warmup"], "sampling": draws.work["sample"]}
        seconds = dict(draws.timings)
        seconds["compile"] += seconds.pop("trace")
        return Result(dict(draws.sites), gradients, seconds)

    return run


if __name__ == "__main__":
    measure(prepare)
