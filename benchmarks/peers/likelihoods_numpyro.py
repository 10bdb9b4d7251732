"""Time NumPyro's log densities beside the textbook formulas: a worker of `likelihoods.py`, in the peers' environment.

    python peers/likelihoods_numpyro.py NAMES SIZES

Prints a line of JSON for each case and size: seconds of both, and the value.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jax
import numpyro.distributions as dist

from likelihood_loops import compiled_loop, data_of, fastest, of_library, written


def main() -> None:
    """Measure what the command line asks for."""
    names, sizes = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    for size in sizes:
        for name in names:
            data = data_of(name, size)
            ways = {"written": written(name), "library": of_library(name, dist)}
            loops = {
                f"{way}, {'alone' if moves else 'run'}": compiled_loop(evaluate, data, moves_data=moves)
                for way, evaluate in ways.items()
                for moves in (False, True)
            }
            values = {key: float(loop(1)) for key, loop in loops.items()}
            print(json.dumps({"name": name, "size": size, "seconds": fastest(loops), "values": values}))
            sys.stdout.flush()


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
