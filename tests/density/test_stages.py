"""Compose the stages of a program: sites integrated out, rows in chunks, rows shared out, against the plain program."""

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each
from row_models import SIGMA, Y, apart, density, effects, flat, pairs, shared_coefficient, shared_out, summed

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import SiteError
from accord.density import blame
from accord.density.eliminate.collapsed import CollapsedProgram
from accord.density.rows.chunked import ChunkedProgram
from accord.density.rows.sharded_program import ShardedProgram

MODELS = {
    "a site of each row": (effects, ["theta"]),
    "two sites of each row, with a mask": (pairs, ["level", "slope"]),
    "a site without a density": (flat, ["theta"]),
    "a site apart from the rows": (apart, ["theta", "prior"]),
    "no site": (effects, []),
}


def found(target):
    def look(at):
        return target.value_and_grad(at), sum(target.program.summed_terms(at, target.data).values())

    at = 0.4 * np.random.default_rng(1).normal(size=(2, target.dim))
    (values, slopes), totals = compiled(lambda at: jax.lax.map(look, at))(at)
    assert_close(totals, values, rtol=1e-12)
    return values, slopes


@each(MODELS, slow={"a site of each row"})
def test_cut_rows_leave_the_log_density_as_it_is(case):
    model, names = case
    plain = density(model, names)
    expected = found(plain)
    for other in (density(model, names, chunk=2), shared_out(plain)):
        for left, right in zip(found(other), expected, strict=True):
            assert_close(left, right, rtol=1e-9, atol=1e-9)


def test_second_derivatives_are_those_of_the_plain_program():
    plain, chunked = (density(apart, ["theta", "prior"], chunk) for chunk in (None, 2))
    both = compiled(lambda at: (jax.hessian(plain)(at), jax.hessian(chunked)(at)))
    assert_close(*both(np.array([0.3])), rtol=1e-9)


def test_rows_in_chunks_may_be_shared_out():
    chunked = density(apart, ["theta", "prior"], chunk=2)
    for left, right in zip(found(shared_out(chunked)), found(chunked), strict=True):
        np.testing.assert_array_equal(left, right)


def test_terms_and_draws_of_what_is_integrated_out_do_not_depend_on_the_chunk():
    plain, chunked = (density(apart, ["theta", "prior"], chunk) for chunk in (None, 2))
    both = compiled(
        lambda at: [
            {**each.constrain(at), "terms": list(each.site_terms(at).values())} for each in (chunked, plain)
        ]
    )
    values, expected = both(np.array([0.3]))
    assert set(values) == set(expected)
    for name in values:
        assert_close(np.asarray(values[name]), np.asarray(expected[name]), rtol=1e-12, atol=1e-12)


def test_each_stage_is_found_in_what_was_made_of_it():
    program = shared_out(density(effects, ["theta"], chunk=2)).program
    kinds = (ShardedProgram, ChunkedProgram, CollapsedProgram)
    assert isinstance(program, ShardedProgram) and all(program.stage(kind) is not None for kind in kinds)
    assert program.whole.layout.dim == program.layout.dim + 37
    assert [density(effects, []).program.stage(kind) for kind in kinds] == [None] * 3


def test_other_data_pass_through_all_stages():
    chunked = density(apart, ["theta", "prior"], chunk=2)
    shorter = cloudpickle.loads(cloudpickle.dumps(chunked)).with_data({"y": Y[:21], "sigma": SIGMA[:21]})
    assert shorter.program.stage(ChunkedProgram) is not None
    assert_close(
        compiled(shorter.__call__)(np.ones(1)),
        compiled(density(apart, ["theta", "prior"], rows=21).__call__)(np.ones(1)),
        rtol=1e-12,
    )


def test_data_that_grows_beyond_its_chunk_is_cut():
    short = density(effects, [], chunk=30, rows=20)
    assert short.program.stage(ChunkedProgram) is None
    assert short.with_data({"y": Y, "sigma": SIGMA}).program.stage(ChunkedProgram) is not None


REFUSED = {
    "a coefficient of all rows, in chunks": (
        lambda: density(shared_coefficient, ["slope"], chunk=2),
        r"'slope' cannot be integrated out where the plate 'row' has chunk=2: site 'y' depends on .* all rows",
    ),
    "a coefficient of all rows, shared out": (
        lambda: shared_out(density(shared_coefficient, ["slope"])),
        r"'slope' cannot be integrated out where shard= shares the rows of 'sigma', 'y' out.*Keep the rows together",
    ),
    "rows that depend on each other": (
        lambda: density(summed, ["theta"], chunk=2),
        r"'theta' cannot be integrated out row by row, where the plate 'row' has chunk=2.*leave the sites out",
    ),
}


@each(REFUSED)
def test_what_needs_all_rows_at_once_is_refused(case):
    call, words = case
    with pytest.raises(SiteError, match=words):
        call()


def test_what_is_not_finite_is_blamed_on_its_site_through_all_stages():
    @ac.model
    def model(y):
        scale = ac.sample("scale", dist.Normal(0, 1))
        with ac.plate("row", y.shape[0], chunk=1):
            theta = ac.sample("theta", dist.Normal(0, jnp.sqrt(scale)))
            ac.sample("y", dist.Normal(theta, 1.0), obs=y)

    chunked = handlers.collapse(model(np.zeros(20)), ["theta"]).log_density()
    assert blame(shared_out(chunked), np.array([-1.0])).sites[0] == "theta"


def test_a_run_over_devices_integrates_out_row_by_row():
    run = dict(draws=20, warmup=20, chains=1, progress=False, quiet=True)
    model = handlers.collapse(apart(Y, SIGMA), ["theta", "prior"])
    plain = infer.sample(model, **run)
    shared = infer.sample(model, executor=infer.Devices(shard="row"), **run)
    np.testing.assert_allclose(shared["mu"][0, :3], plain["mu"][0, :3], rtol=1e-6)
    assert shared["theta"].shape == (1, 20, 37)
