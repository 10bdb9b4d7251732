"""Hold populations to the same bits, however they are run, kept, interrupted and resumed."""

import ctrl_c
import numpy as np
import pytest
from laws import each
from smc_models import EFFECTS, SIGMA, Y, eight_schools, found, normal, same

from accord import infer
from accord.core.errors import OptionError, StorageError
from accord.core.precision import scope
from accord.density import LogDensity
from accord.mcmc.placed import placed
from accord.resampling import AbstractResampling
from accord.smc.moves import compiled_moves
from accord.smc.plan import Plan
from accord.smc.population import ParticleStretch
from accord.smc.tuning import metric_of

SMALL = dict(particles=200, moves=10)


def test_a_population_does_not_depend_on_others_nor_on_where_it_runs():
    model = normal(Y)
    three = found(model, populations=3, executor=infer.Serial(), **SMALL)
    same(three, found(model, populations=3, executor=infer.Threads(), **SMALL))
    one = found(model, populations=1, **SMALL)
    np.testing.assert_array_equal(one.particles["m"][0], three.particles["m"][0])
    assert not np.array_equal(three.particles["m"][0], three.particles["m"][1])
    other = found(model, populations=1, seed=1, **SMALL)
    assert not np.array_equal(one.particles["m"], other.particles["m"])


@pytest.mark.slow
def test_processes_draw_the_same():
    model = eight_schools(SIGMA, EFFECTS)
    same(found(model, **SMALL), found(model, executor=infer.Processes(2), **SMALL))


@each(
    {
        "nothing is left": (0, 0),
        "stages are left": (1, 3),
        "one has come to its end": (2, ...),
        "only draws are missing": (-1, -1),
    },
    slow=["nothing is left", "only draws are missing"],
)
def test_populations_go_on_where_they_were(kept, tmp_path):
    model = normal(Y)
    whole = found(model, populations=2, store=infer.RunFolder(tmp_path / "run"), **SMALL)
    for number, count in enumerate(kept):
        segments = sorted((tmp_path / f"run/chain-{number:04d}").glob("segment-*"))
        assert len(segments) > 4
        for segment in [] if count is ... else segments[count:]:
            segment.unlink()
    (tmp_path / "run/record-notices.json").unlink()
    part = infer.load(tmp_path / "run")
    assert not part.complete and part.log_weights.shape == (sum(count is ... for count in kept), 200)
    assert [notice.code for notice in part.notices] == ["interrupted"]
    resumed = infer.resume(tmp_path / "run", model, quiet=True)
    assert resumed.complete
    same(whole, resumed)
    again = infer.load(tmp_path / "run")
    same(whole, again)
    assert again.notices == whole.notices


def test_ctrl_c_returns_the_populations_that_have_draws():
    with ctrl_c.pressed_once(lambda stretch: True, kind=ParticleStretch) as pressed:
        draws = found(normal(Y), executor=infer.Serial(), **SMALL)
    assert pressed and not draws.complete
    assert 0 < len(draws.log_weights) < 4
    assert "incomplete" in repr(draws)
    assert "interrupted" in [notice.code for notice in draws.notices]


class Best(AbstractResampling):
    """Take the same number of copies of the best particles."""

    def ancestors(self, weights, count, generator):
        return np.sort(np.argsort(-weights)[:count])


def test_what_a_folder_does_not_hold_is_asked_for(tmp_path):
    found(normal(Y), store=infer.RunFolder(tmp_path / "run"), **SMALL)
    with pytest.raises(StorageError, match="started differently"):
        infer.resume(tmp_path / "run", normal(Y + 1), quiet=True)
    with pytest.raises(OptionError, match=r"until: the run is one of infer\.smc"):
        infer.resume(tmp_path / "run", normal(Y), until=infer.ESS(100), quiet=True)
    with pytest.raises(StorageError, match="sampler"):
        infer.resume(tmp_path / "run", normal(Y), sampler=infer.MALA(), quiet=True)
    found(normal(Y), resampling=Best(), store=infer.RunFolder(tmp_path / "own"), **SMALL)
    assert infer.load(tmp_path / "own").complete
    with pytest.raises(StorageError, match="resampling 'Best', which is not accord's"):
        infer.resume(tmp_path / "own", normal(Y), quiet=True)


@each({"NUTS": infer.NUTS(), "a random walk": infer.RandomWalk()})
def test_chains_side_by_side_move_as_one_after_the_other(kernel):
    with scope("float64"):
        density = LogDensity.from_model(eight_schools(SIGMA, EFFECTS), "float64")
        kernel = placed(kernel, density)
        plan = Plan(kernel, 48, 1, 4, 0.5, infer.Systematic(), 0, "float64", density.dim)
        starts = np.random.default_rng(0).normal(size=(12, density.dim))
        words = np.random.default_rng(1).integers(0, 2**32, (12, 2), dtype=np.uint32)
        metric = metric_of(starts, np.ones(12), "diagonal", None, np.dtype(float))
        one, other = (
            compiled_moves(density, plan, way)(starts, words, 0.3, 0.4, metric, 3, False)
            for way in (False, True)
        )
    assert one.positions.shape == (12, 3, density.dim)
    np.testing.assert_allclose(one.positions, other.positions, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.log_likelihood, other.log_likelihood, rtol=1e-8)
    np.testing.assert_allclose(one.acceptance, other.acceptance, rtol=1e-8)
