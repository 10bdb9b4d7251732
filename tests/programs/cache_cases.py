"""Sample in a process of its own, and print as JSON what it drew and what became of JAX's persistent cache.

python cache_cases.py [FOLDER]: then a second time, after the user has chosen this folder.
"""

import json
import os
import sys
from typing import Any

import jax
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.programs.cache import SWITCH


@ac.model
def model(y):
    m = ac.sample("m", dist.Normal(0, 3))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.StudentT(4, m, 2), obs=y)


def sample() -> list[float]:
    options = dict(draws=20, warmup=20, chains=1, seed=5, progress=False, quiet=True)
    return infer.sample(model(np.arange(4.0)), **options)["m"].ravel().tolist()


def settings() -> list[Any]:
    """Those of JAX that a run may choose: the folder, and the least seconds of compilation that are worth a file."""
    names = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
    return [getattr(jax.config, name) for name in names]


def main() -> None:
    """Print everything."""
    events: list[str] = []
    jax.monitoring.register_event_listener(lambda name, **_: events.append(name))
    before = settings()
    found = {"draws": sample(), "before": before, "after": settings()}
    found["num_read"] = events.count("/jax/compilation_cache/cache_hits")
    found["num_asked"] = events.count("/jax/compilation_cache/compile_requests_use_cache")
    if len(sys.argv) > 1:
        jax.config.update("jax_compilation_cache_dir", sys.argv[1])
        os.environ[SWITCH] = f"{sys.argv[1]} of accord"
        found |= {"chosen": settings(), "again": sample(), "at the end": settings()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
