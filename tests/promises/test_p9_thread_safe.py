"""Hold promise P9: threads of one process may build, trace and run different models at once."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from models import regression, schools

from accord import infer

RUN = dict(draws=30, warmup=30, chains=2, progress=False, quiet=True)


def test_many_threads_run_different_models_at_once():
    builders = [schools, regression] * 4
    alone = {builder: infer.sample(builder(), **RUN) for builder in (schools, regression)}
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda builder: infer.sample(builder(), **RUN), builders))
    for builder, draws in zip(builders, together, strict=True):
        np.testing.assert_equal(dict(draws), dict(alone[builder]))


def test_a_program_wanted_by_many_threads_is_compiled_once():
    from accord.programs.cache import ProgramCache

    cache, built = ProgramCache(2), []

    def build():
        built.append(1)
        return "program"

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cache.get("key", build)[0], range(64)))
    assert set(found) == {"program"}
    assert len(built) == 1


def test_a_failed_build_is_tried_again():
    from accord.programs.cache import ProgramCache

    cache = ProgramCache(2)

    def fail():
        raise ValueError("no")

    for _ in range(2):
        with contextlib.suppress(ValueError):
            cache.get("key", fail)
    assert cache.get("key", lambda: 1) == (1, False)


def test_the_cache_is_bounded():
    from accord.programs.cache import ProgramCache

    cache = ProgramCache(2)
    for key in range(5):
        cache.get(key, lambda key=key: key)
    assert cache.get(4, lambda: "new") == (4, True)
    assert cache.get(0, lambda: "new") == ("new", False)
