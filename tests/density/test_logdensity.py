"""Check log densities against hand-written NumPy, and what can be done with them."""

import math
import pickle
import threading

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import DataError, ModelError
from accord.density import LogDensity

Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@pytest.fixture(autouse=True)
def _strict_float64():
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


@ac.model
def eight_schools(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", sigma.shape[0]):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


def eight_schools_by_hand(q, y=Y, sigma=SIGMA):
    mu, log_tau, z = q[0], q[1], q[2:]
    tau = np.exp(log_tau)
    return {
        "mu": stats.norm(0, 5).logpdf(mu),
        "tau": stats.halfcauchy(0, 5).logpdf(tau) + log_tau,
        "z": stats.norm(0, 1).logpdf(z).sum(),
        "y": stats.norm(mu + tau * z, sigma).logpdf(y).sum(),
    }


@ac.model
def conjugate(x):
    """K1 of the known answers."""
    s = ac.sample("s", dist.InverseGamma(2.0, 3.0))
    m = ac.sample("m", dist.Normal(0.0, jnp.sqrt(s)))
    with ac.plate("n", x.shape[0]):
        ac.sample("x", dist.Normal(m, jnp.sqrt(s)), obs=x)


@ac.model
def chain():
    """K12 of the known answers."""
    m = ac.sample("m", dist.Normal(0.0, 1.0))
    ac.sample("x", dist.Normal(m, 1.0))


def numeric_gradient(function, q, step=1e-6):
    return np.array([(function(q + e) - function(q - e)) / (2 * step) for e in step * np.eye(len(q))])


POSITION = np.linspace(-1.2, 1.3, 10)


def test_the_log_density_and_its_terms_equal_those_by_hand():
    density = eight_schools(SIGMA, y=Y).log_density()
    expected = eight_schools_by_hand(POSITION)
    terms = density.site_terms(POSITION)
    assert list(terms) == list(expected)
    for name, value in terms.items():
        assert value.shape == () and value == pytest.approx(expected[name], rel=1e-13)
    assert density(POSITION) == pytest.approx(sum(expected.values()), rel=1e-14)


def test_the_gradient_equals_a_finite_difference():
    density = eight_schools(SIGMA, y=Y).log_density()
    value, gradient = jax.jit(density.value_and_grad)(POSITION)
    assert value == pytest.approx(float(density(POSITION)), rel=1e-14)
    by_hand = numeric_gradient(lambda q: sum(eight_schools_by_hand(q).values()), POSITION)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-7)


# (s, m): log prior, log likelihood, log joint
KNOWN = [((1.0, 1.0), -2.221714, -2.462877, -4.684591), ((2.0, 1.0), -2.897729, -2.843524, -5.741253)]


@pytest.mark.parametrize(("at", "prior", "likelihood", "joint"), KNOWN)
def test_known_log_densities_are_met_apart_from_the_jacobian(at, prior, likelihood, joint):
    density = conjugate(np.array([1.5, 2.0])).log_density()
    terms = density.site_terms(density.unconstrain({"s": at[0], "m": at[1]}))
    log_jacobian = math.log(at[0])
    assert terms["s"] + terms["m"] - log_jacobian == pytest.approx(prior, abs=1e-6)
    assert terms["x"] == pytest.approx(likelihood, abs=1e-6)
    assert sum(terms.values()) - log_jacobian == pytest.approx(joint, abs=1e-6)


def test_a_condition_keeps_the_log_density_of_its_site_and_an_intervention_does_not():
    one = np.ones(1)
    assert chain().condition({"x": 1.0}).log_density()(one) == -2.3378770664093453
    assert chain().do({"x": 1.0}).log_density()(one) == pytest.approx(-1.4189385332046727, rel=1e-15)
    assert chain().condition({"m": 1.0}).log_density()(one) == -2.3378770664093453
    assert chain().do({"m": 1.0}).log_density()(one) == pytest.approx(-0.9189385332046728, rel=1e-15)


def test_a_substituted_site_counts_but_is_not_latent():
    density = handlers.substitute(chain(), {"m": 1.0}).log_density()
    assert density.dim == 1 and density(np.ones(1)) == -2.3378770664093453


def test_constrain_gives_latent_and_deterministic_sites_in_order_and_unconstrain_goes_back():
    density = eight_schools(SIGMA, y=Y).log_density()
    values = density.constrain(POSITION)
    assert list(values) == ["mu", "tau", "z", "theta"]
    np.testing.assert_allclose(values["theta"], POSITION[0] + np.exp(POSITION[1]) * POSITION[2:])
    del values["theta"]
    np.testing.assert_allclose(density.unconstrain(values), POSITION, rtol=1e-14)
    np.testing.assert_allclose(jax.jit(density.unconstrain)(values), POSITION, rtol=1e-14)


def test_a_support_may_depend_on_another_site():
    @ac.model
    def model():
        x = ac.sample("x", dist.Uniform(-5.0, 5.0))
        ac.sample("y", dist.ImproperUniform(dist.constraints.greater_than(x), (), ()))
        ac.factor("f", -x)

    density = model().log_density()
    values = density.constrain(np.array([0.5, -1.0]))
    assert values["y"] == pytest.approx(float(values["x"]) + math.exp(-1.0), rel=1e-14)
    np.testing.assert_allclose(density.unconstrain(values), [0.5, -1.0], rtol=1e-13)
    assert sum(density.site_terms(np.array([0.5, -1.0])).values()) == density(np.array([0.5, -1.0]))


def test_a_simplex_takes_one_number_less_than_it_has_parts():
    @ac.model
    def model():
        with ac.plate("group", 3):
            ac.sample("p", dist.Dirichlet(np.ones(4)))

    density = model().log_density()
    entry = density.layout["p"]
    assert (density.dim, entry.shape, entry.unconstrained_shape) == (9, (3, 4), (3, 3))
    assert entry.dims == ("group", "p_dim_1")


def test_the_layout_names_slices_shapes_and_dims():
    @ac.model
    def model(y):
        with ac.plate("row", 2, coords=["a", "b"], dim=-2), ac.plate("column", 3):
            x = ac.sample("x", dist.HalfNormal(1.0))
            ac.deterministic("by_row", x.sum(axis=-1, keepdims=True))
            ac.deterministic("pairs", jnp.stack([x, x], axis=-1))
            ac.deterministic("total", x.sum())
        beta = ac.sample("beta", dist.Normal(np.zeros(4), 1.0))
        ac.sample("y", dist.Normal(beta.sum() + x.sum() * y, 1.0).to_event(1), obs=y)

    layout = model(np.arange(5.0)).log_density().layout
    assert {entry.name: entry.dims for entry in layout.sites} == {
        "x": ("row", "column"),
        "by_row": ("by_row_dim_0", "by_row_dim_1"),
        "pairs": ("row", "column", "pairs_dim_2"),
        "total": (),
        "beta": ("beta_dim_0",),
        "y": ("y_dim_0",),
    }
    assert [(entry.start, entry.stop) for entry in layout.entries] == [(0, 6), (6, 10)]
    assert [entry.name for entry in layout.drawn] == ["x", "by_row", "pairs", "total", "beta"]
    assert {entry.dtype for entry in layout.drawn} == {"float64"}
    assert layout.coords["row"].tolist() == ["a", "b"] and layout.coords["column"].tolist() == [0, 1, 2]
    assert layout.coords["beta_dim_0"].tolist() == [0, 1, 2, 3]
    assert hash(layout) == hash(model(np.arange(5.0)).log_density().layout)
    with pytest.raises(KeyError):
        layout["nothing"]


def test_many_sites_are_cut_from_the_position_as_few_are():
    @ac.model
    def model(count):
        for i in range(count):
            ac.sample(f"x{i}", dist.Normal(float(i), 1.0))

    for count in (48, 49):
        density = model(count).log_density()
        assert density(np.arange(float(count))) == pytest.approx(-count * 0.5 * math.log(2 * math.pi))


@ac.model
def offsets(x, mask=None):
    loc = ac.sample("loc", dist.Normal(0.0, 10.0))
    scale = ac.sample("scale", dist.HalfNormal(1.0))
    with ac.plate("n", x.shape[0]), handlers.mask(mask=mask):
        ac.sample("x", dist.Normal(loc, scale), obs=x)


def test_masked_entries_have_no_influence_even_when_nan():
    x = np.array([1.0, np.nan, 2.0, np.inf])
    kept = np.isfinite(x)
    masked, dropped = offsets(x, kept).log_density(), offsets(x[kept], np.ones(2, bool)).log_density()
    q = np.array([0.3, -0.2])
    value, gradient = jax.jit(masked.value_and_grad)(q)
    expected, gradient_expected = jax.jit(dropped.value_and_grad)(q)
    assert value == pytest.approx(float(expected), rel=1e-14)
    np.testing.assert_allclose(gradient, gradient_expected, rtol=1e-14)
    assert {name: int(n) for name, n in masked.observed_nan_counts(q).items()} == {"x": 0}


def test_a_mask_over_events_hides_whole_events():
    @ac.model
    def model(x, mask):
        loc = ac.sample("loc", dist.Normal(np.zeros(2), 1.0).to_event(1))
        with ac.plate("n", x.shape[0]), handlers.mask(mask=mask):
            ac.sample("x", dist.Normal(loc, 1.0).to_event(1), obs=x)

    x = np.array([[1.0, 2.0], [np.nan, 1.0]])
    density = model(x, np.array([True, False])).log_density()
    value, gradient = jax.jit(density.value_and_grad)(np.zeros(2))
    assert value == pytest.approx(stats.norm.logpdf([0, 0, 1, 2]).sum()) and np.all(np.isfinite(gradient))


def test_a_mask_that_is_true_or_false_throughout_leaves_all_or_nothing():
    x = np.array([1.0, 2.0])
    q = np.array([0.3, -0.2])
    terms = offsets(x, True).log_density().site_terms(q)
    assert terms["x"] == pytest.approx(stats.norm(0.3, math.exp(-0.2)).logpdf(x).sum())
    assert "x" not in offsets(x, False).log_density().site_terms(q)


def test_a_masked_latent_site_keeps_its_jacobian_alone():
    @ac.model
    def model():
        with handlers.mask(mask=False):
            ac.sample("s", dist.HalfNormal(1.0))
        ac.factor("f", 0.0)

    assert model().log_density().site_terms(np.array([0.7]))["s"] == 0.7


def test_a_scale_multiplies_the_log_density_and_not_the_jacobian():
    q = np.array([1.0])

    @ac.model
    def model():
        with handlers.scale(scale=3.0):
            ac.sample("s", dist.HalfNormal(1.0))

    expected = 3 * stats.halfnorm.logpdf(math.e) + 1.0
    assert model().log_density()(q) == pytest.approx(expected, rel=1e-14)
    assert handlers.scale(model(), scale=np.array(2.0)).log_density()(q) == pytest.approx(
        6 * (expected - 1) / 3 + 1
    )


def test_a_mask_on_a_whole_model_is_data():
    @ac.model
    def model(y):
        loc = ac.sample("loc", dist.Normal(0.0, 1.0))
        ac.sample("y", dist.Normal(jnp.broadcast_to(loc, (3,)), 1.0), obs=y)

    density = handlers.mask(model(np.zeros(3)), mask=np.array(True)).log_density()
    assert set(density.data) == {"y", "mask/mask"}


def test_a_factor_adds_and_is_summed_outside_of_plates():
    @ac.model
    def model():
        x = ac.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))
        ac.factor("pull", -((x - jnp.arange(3.0)) ** 2))
        with ac.plate("n", 2):
            ac.factor("one each", jnp.stack([x, x]))

    assert model().log_density()(np.array([1.0])) == -2.0 + 2.0


def test_jit_grad_and_vmap_agree():
    density = eight_schools(SIGMA, y=Y).log_density()
    q = np.stack([POSITION, -POSITION])
    values = jax.jit(jax.vmap(density))(q)
    value, gradient = jax.jit(density.value_and_grad)(-POSITION)
    assert values[1] == pytest.approx(float(value), rel=1e-14)
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(density)))(q)[1], gradient, rtol=1e-13)
    assert jax.eval_shape(jax.hessian(density), POSITION).shape == (10, 10)


def test_the_dtype_of_the_position_decides():
    density = eight_schools(SIGMA, y=Y).log_density()
    assert jax.eval_shape(density, POSITION.astype(np.float32)).dtype == np.float32
    with jax.enable_x64(False):
        value, gradient = jax.jit(density.value_and_grad)(jnp.asarray(POSITION, jnp.float32))
        assert (value.dtype, gradient.dtype) == (np.float32, np.float32)
        assert value == pytest.approx(sum(eight_schools_by_hand(POSITION).values()), rel=1e-5)
    single = LogDensity.from_model(eight_schools(SIGMA, y=Y), "float32")
    assert {array.dtype for array in single.data.values()} == {np.dtype("float32")}
    assert single.layout["mu"].dtype == "float32"


def test_discovery_takes_its_precision_from_the_run_and_not_from_the_user():
    with jax.enable_x64(False):
        density = eight_schools(SIGMA, y=Y).log_density()
    assert density.layout["theta"].dtype == "float64"


def programs(density):
    """The text of each program, the data being arguments."""

    def text(method):
        program = jax.make_jaxpr(lambda data, q: method(density.with_data(data), q))
        return str(program(density.data, np.zeros(density.dim)))

    return [
        text(method) for method in (LogDensity.value_and_grad, LogDensity.constrain, LogDensity.site_terms)
    ]


def test_tracing_gives_the_same_program_every_time_and_for_other_data():
    first = programs(eight_schools(SIGMA, y=Y).log_density())
    assert first == programs(eight_schools(SIGMA, y=Y).log_density())
    assert first == programs(eight_schools(SIGMA + 1, y=Y - 1).log_density())
    assert programs(conjugate(Y).log_density()) == programs(conjugate(Y + 1).log_density())


def test_the_program_has_no_operation_that_the_model_does_not_need():
    density = eight_schools(SIGMA, y=Y).log_density()
    jaxpr = str(jax.make_jaxpr(lambda data, q: density.with_data(data)(q))(density.data, POSITION))
    for operation in ("gather", "dynamic_slice", "broadcast_in_dim", "transpose"):
        assert operation not in jaxpr
    assert jaxpr.count("reduce_sum") == 2


def test_new_data_of_the_same_shape_is_traced_once():
    traces = []

    @ac.model
    def model(y):
        traces.append(y)
        loc = ac.sample("loc", dist.Normal(0.0, 1.0))
        with ac.plate("n", y.shape[0]):
            ac.sample("y", dist.Normal(loc, 1.0), obs=y)

    density = model(np.zeros(3)).log_density()
    evaluate = eqx.filter_jit(lambda d, q: d(q))
    for y in (np.zeros(3), np.ones(3)):
        assert evaluate(density.with_data({"y": y}), np.zeros(1)) == pytest.approx(
            stats.norm.logpdf([0.0, *y]).sum()
        )
    assert len(traces) == 2  # once to find the sites, once for the program


def test_other_shapes_of_data_make_another_layout():
    density = conjugate(np.array([1.5, 2.0])).log_density()
    longer = density.with_data({"x": [1.0, 2.0, 3.0]})
    assert longer.layout["x"].shape == (3,)
    assert longer(np.zeros(2)) == conjugate(np.array([1.0, 2.0, 3.0])).log_density()(np.zeros(2))


def test_conditioned_values_are_data():
    density = chain().condition({"x": 1.0}).log_density()
    assert set(density.data) == {"condition/x"}
    assert density.with_data({"condition/x": 2.0})(np.ones(1)) == chain().condition({"x": 2.0}).log_density()(
        np.ones(1)
    )


def test_a_density_evaluated_inside_a_model_is_not_part_of_it():
    inner = chain().condition({"x": 1.0}).log_density()

    @ac.model
    def outer():
        x = ac.sample("m", dist.ImproperUniform(dist.constraints.real, (), ()))
        ac.factor("f", inner(x[None]))

    assert outer().log_density()(np.ones(1)) == -2.3378770664093453


def test_a_density_can_be_built_inside_a_trace():
    assert jax.jit(lambda x: conjugate(x).log_density()(jnp.zeros(2)))(np.array([1.5, 2.0])) == pytest.approx(
        float(conjugate(np.array([1.5, 2.0])).log_density()(np.zeros(2)))
    )


def test_a_density_survives_pickle():
    density = eight_schools(SIGMA, y=Y).log_density()
    again = pickle.loads(pickle.dumps(density))
    assert again(POSITION) == density(POSITION) and again.layout == density.layout


def test_eight_threads_trace_different_models_at_once():
    def build(k):
        @ac.model
        def model(y):
            for i in range(k + 1):
                ac.sample(f"x{k}_{i}", dist.Normal(float(k), 1.0))
            with ac.plate(f"plate{k}", y.shape[0]):
                ac.sample("y", dist.Normal(float(k), 1.0), obs=y)

        return model

    failures = []

    def work(k):
        try:
            for _ in range(25):
                density = build(k)(np.full(k + 2, float(k))).log_density()
                names = [entry.name for entry in density.layout.sites]
                assert names == [f"x{k}_{i}" for i in range(k + 1)] + ["y"]
                with jax.enable_x64(True):
                    jaxpr = jax.make_jaxpr(density)(np.full(k + 1, float(k)))
                assert jaxpr.in_avals[0].shape == (k + 1,)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_any_function_of_a_tree_of_arrays_is_a_density():
    example = {"a": np.zeros(2), "b": [0.0, np.zeros((2, 2))]}
    density = LogDensity.from_function(
        lambda t: -jnp.sum(t["a"] ** 2) - t["b"][0] + jnp.sum(t["b"][1]), example
    )
    assert [(e.name, e.start, e.stop) for e in density.layout.entries] == [
        ("a", 0, 2),
        ("b/0", 2, 3),
        ("b/1", 3, 7),
    ]
    q = np.arange(7.0)
    assert density(q) == -1.0 - 2.0 + 18.0
    np.testing.assert_array_equal(density.value_and_grad(q)[1], [0.0, -2.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    values = density.constrain(q)
    assert values["b/1"].shape == (2, 2) and density.layout["b/1"].dims == ("b/1_dim_0", "b/1_dim_1")
    np.testing.assert_array_equal(density.unconstrain(values), q)
    assert density.site_terms(q) == {"log_density": density(q)} and density.observed_nan_counts(q) == {}


def test_a_function_of_one_array_calls_it_x():
    density = LogDensity.from_function(lambda x: -0.5 * jnp.sum(x * x), np.zeros(3))
    assert list(density.constrain(np.ones(3))) == ["x"] and density(np.ones(3)) == -1.5


def wrong(call):
    return lambda: call(eight_schools(SIGMA, y=Y).log_density())


ERRORS = {
    "position of another length": (wrong(lambda d: d(np.zeros(9))), DataError, r"shape \(10,\), got \(9,\)"),
    "value missing": (wrong(lambda d: d.unconstrain({"mu": 0.0})), DataError, "'tau' is missing"),
    "value unknown": (wrong(lambda d: d.unconstrain({"taus": 0.0})), DataError, "'taus'. Did you mean 'tau'"),
    "value of another shape": (
        wrong(lambda d: d.unconstrain({"mu": np.zeros(2), "tau": 1.0, "z": Y})),
        DataError,
        r"'mu' has shape \(\), got \(2,\)",
    ),
    "value outside": (
        wrong(lambda d: d.unconstrain({"mu": 0.0, "tau": -1.0, "z": Y})),
        DataError,
        "'tau' is not inside of its support: -1.0",
    ),
    "data unknown": (
        wrong(lambda d: d.with_data({"sigm": SIGMA})),
        DataError,
        "'sigm'. Did you mean 'sigma'",
    ),
    "example of words": (lambda: LogDensity.from_function(lambda t: 0.0, {"a": "b"}), DataError, "leaf 'a'"),
    "empty example": (lambda: LogDensity.from_function(lambda t: 0.0, {}), DataError, "no array"),
    "function of many numbers": (
        lambda: LogDensity.from_function(lambda x: x, np.zeros(3)),
        DataError,
        "one number",
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), ERRORS.values(), ids=ERRORS.keys())
def test_a_wrong_use_says_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_model_whose_sites_change_between_evaluations_is_an_error():
    calls = []

    @ac.model
    def model():
        calls.append(None)
        ac.sample(f"x{len(calls)}", dist.Normal(0.0, 1.0))

    with pytest.raises(ModelError, match=r"'x2'.*must not change"):
        model().log_density()(np.zeros(1))


def test_a_model_of_which_a_mask_leaves_nothing_has_a_log_density_of_zero():
    @ac.model
    def hidden():
        with handlers.mask(mask=False):
            ac.sample("x", dist.Normal(0.0, 1.0))

    assert float(hidden().log_density()(np.ones(1))) == 0.0


def test_a_scale_and_a_mask_weigh_the_entries_of_a_factor():
    @ac.model
    def weighed():
        x = ac.sample("x", dist.Normal(0.0, 1.0))
        weights, mask = np.array([2.0, 3.0, 5.0]), np.array([True, False, True])
        with ac.plate("row", 3), handlers.scale(scale=weights), handlers.mask(mask=mask):
            ac.factor("f", x * np.array([1.0, 10.0, 100.0]))

    terms = weighed().log_density().site_terms(np.array([0.5]))
    assert float(terms["f"]) == 0.5 * (2.0 * 1.0 + 5.0 * 100.0)
