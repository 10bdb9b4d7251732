"""Check reparameterised sites among other rules, in predictions and starts, and the messages of what cannot be."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers, infer
from accord.core.errors import DataError, OptionError, SiteError
from accord.density.reduction import term
from accord.reparam import (
    AbstractReparam,
    Circular,
    Explicit,
    Haar,
    LocScale,
    Neutra,
    Parts,
    ProjectedNormal,
    Structured,
    Transform,
)

SIGMA = np.array([15.0, 10.0, 16.0])
Y = np.array([28.0, 8.0, -3.0])
THETA = np.array([3.0, -1.0, 0.5])


@ac.model
def schools(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma), coords=["A", "B", "C"]):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)
    return theta


def changed(y=Y, **config):
    return handlers.reparam(schools(SIGMA, y), config or {"theta": LocScale()})


def trace(model):
    return handlers.trace(handlers.seed(model, 0)).get_trace()


def test_a_site_keeps_its_name_its_dims_and_its_place():
    layout = changed().log_density().layout
    assert [entry.name for entry in layout.entries] == ["mu", "tau", "theta_base"]
    assert [entry.name for entry in layout.drawn] == ["mu", "tau", "theta", "theta_base"]
    assert layout["theta"].dims == layout["theta_base"].dims == ("school",)
    assert list(layout.coords["school"]) == ["A", "B", "C"]


def test_names_of_axes_go_to_what_has_the_same_axes():
    @ac.model
    def model():
        loc = ac.sample("loc", dist.Normal(0, 1))
        law = dist.MultivariateNormal(loc * jnp.ones(2), jnp.eye(2))
        ac.sample("x", law, dims={"axis": ["a", "b"]})
        ac.sample("z", dist.Normal(loc, 1).expand((2,)).to_event(1), dims="axis")

    layout = handlers.reparam(model(), {"x": Structured(), "z": Haar()}).log_density().layout
    assert layout["x_base"].dims == layout["x"].dims == ("axis",)
    assert layout["z"].dims == ("axis",) and layout["z_base"].dims == ("z_base_dim_0",)


def test_the_event_of_a_site_is_no_plate_of_its_size():
    @ac.model
    def model():
        loc = ac.sample("loc", dist.Normal(0, 1))
        with ac.plate("row", 2):
            ac.sample("x", dist.MultivariateNormal(loc * jnp.ones(2), jnp.eye(2)), dims="axis")

    layout = handlers.reparam(model(), {"x": Structured()}).log_density().layout
    assert layout["x"].dims == layout["x_base"].dims == ("row", "axis")


def test_centred_by_one_is_the_model_as_it_is_written():
    assert changed(theta=LocScale(1.0)).log_density().layout == schools(SIGMA, Y).log_density().layout


def test_a_function_says_how_by_site_and_is_not_asked_about_auxiliaries():
    asked = []

    def choose(site):
        asked.append(site.name)
        return LocScale() if site.name == "theta" else None

    assert "theta_base" in trace(handlers.reparam(schools(SIGMA, Y), choose))
    assert asked == ["mu", "tau", "theta"]


def test_the_last_rule_put_on_a_site_has_the_last_word():
    twice = handlers.reparam(changed(), {"theta": LocScale(1.0)})
    assert "theta_base" not in trace(twice)


def test_auxiliaries_are_sites_that_can_be_named():
    def model():
        scale = ac.sample("scale", dist.HalfNormal(1))
        ac.sample("x", dist.LogNormal(0.0, scale))

    sites = trace(handlers.reparam(model, {"x": Transform(), "x_base": LocScale()}))
    np.testing.assert_allclose(sites["x"].value, np.exp(sites["scale"].value * sites["x_base_base"].value))


# What gives a site its value leaves nothing to reparameterise: the model is the written one.
GIVEN = {
    "conditioned": lambda model: model.condition({"theta": THETA}),
    "conditioned before": lambda model: handlers.reparam(
        schools(SIGMA, Y) | {"theta": THETA}, {"theta": LocScale()}
    ),
    "intervened": lambda model: model.do({"theta": THETA}),
    "substituted": lambda model: handlers.substitute(model, {"theta": THETA}),
    "replayed": lambda model: handlers.replay(
        model, handlers.trace(handlers.substitute(schools(SIGMA, Y), VALUES)).get_trace()
    ),
}
VALUES = {"mu": 1.0, "tau": 2.0, "theta": THETA}


@pytest.mark.parametrize("given", GIVEN)
def test_a_site_with_a_value_is_as_it_is_written(given):
    rest = {"mu": 1.0, "tau": 2.0}
    with jax.enable_x64(True):
        found = handlers.trace(handlers.substitute(GIVEN[given](changed()), rest)).get_trace()
        wanted = handlers.trace(handlers.substitute(GIVEN[given](schools(SIGMA, Y)), rest)).get_trace()
        assert list(found) == ["mu", "tau", "theta", "y"]
        for name, site in wanted.items():
            assert (term(found[name]) is None) == (term(site) is None)
            if term(site) is not None:
                np.testing.assert_allclose(term(found[name]), term(site), rtol=1e-12)


def test_an_intervention_taken_back_leaves_the_reparameterisation():
    assert "theta_base" in trace(changed().do({"theta": THETA}).undo())


def test_what_is_observed_no_more_is_reparameterised():
    inside = handlers.reparam(schools(SIGMA, Y).condition({"theta": THETA}), {"theta": LocScale()})
    assert "theta_base" in trace(inside.uncondition(["theta"]))


def test_an_auxiliary_can_be_observed_and_set():
    with jax.enable_x64(True):
        for model in (changed().condition({"theta_base": THETA}), changed().do({"theta_base": THETA})):
            sites = trace(model)
            np.testing.assert_allclose(
                sites["theta"].value, sites["mu"].value + sites["tau"].value * THETA, rtol=1e-12
            )
        weighed = trace(handlers.scale(changed().do({"theta_base": THETA}), scale=0.5))
        assert term(weighed["theta"]) is None and term(weighed["theta_base"]) is None


def test_prefixes_go_to_auxiliaries():
    @ac.model
    def outer():
        ac.submodel(changed(), prefix="a")
        ac.submodel(schools(SIGMA, Y), prefix="b")

    names = [entry.name for entry in outer().log_density().layout.entries]
    assert names == ["a/mu", "a/tau", "a/theta_base", "b/mu", "b/tau", "b/theta"]
    from_outside = handlers.reparam(outer(), {"b/theta": LocScale()}).log_density().layout
    assert from_outside["b/theta_base"].dims == ("b/school",)
    assert from_outside["b/theta"].auxiliary == "b/theta_base"


def test_plates_around_hold_auxiliaries():
    @ac.model
    def outer():
        with ac.plate("copy", 4, dim=-2):
            ac.submodel(changed(None), prefix=None)

    layout = outer().uncondition().log_density().layout
    assert layout["theta"].shape == layout["theta_base"].shape == (4, 3)
    assert layout["theta_base"].dims == ("copy", "school")


def test_a_hidden_site_is_drawn_inside_of_its_block():
    hidden = handlers.block(handlers.seed(changed(), 0), hide=["theta"])
    assert [entry.name for entry in hidden.log_density().layout.entries] == ["mu", "tau"]


def test_values_of_the_written_model_give_the_position():
    with jax.enable_x64(True):
        density = changed().log_density()
        position = density.unconstrain(VALUES)
        np.testing.assert_allclose(density.constrain(position)["theta"], THETA, rtol=1e-12)
        other = density.unconstrain({"mu": 1.0, "tau": 2.0, "theta_base": (THETA - 1.0) / 2.0})
        np.testing.assert_allclose(position, other, rtol=1e-12)


def test_chains_begin_at_values_of_the_written_model():
    values = [{"theta": THETA, "tau": 2.0, "mu": 1.0}, {"theta": THETA}]
    density = changed().log_density()
    table = infer.from_values(values).points(density, 0, [0, 1])
    for chain in (0, 1):
        position = table.rows[chain][0]
        with jax.enable_x64(True):
            np.testing.assert_allclose(density.constrain(jnp.asarray(position))["theta"], THETA, rtol=1e-9)


UNFIT = {
    "both": ({"theta": THETA, "theta_base": THETA}, "settle each other"),
    "shape": ({"theta": THETA[:2]}, "site has shape (3,)"),
    "name": ({"thet": THETA}, "Did you mean 'theta'?"),
}


@pytest.mark.parametrize("unfit", UNFIT)
def test_starts_that_do_not_fit_are_named(unfit):
    values, words = UNFIT[unfit]
    with pytest.raises(DataError) as error:
        infer.from_values(values).points(changed().log_density(), 0, [0])
    assert words in str(error.value)


def test_a_start_outside_of_the_support_names_the_site():
    @ac.model
    def model():
        ac.sample("x", dist.LogNormal(0.0, ac.sample("scale", dist.HalfNormal(1))))

    density = handlers.reparam(model(), {"x": Transform()}).log_density()
    with pytest.raises(DataError) as error:
        infer.from_values({"x": -1.0}).points(density, 0, [0])
    assert "site 'x'" in str(error.value) and "above 0" in str(error.value)


def test_the_prior_log_density_counts_weighed_sites_too():
    values = {"mu": np.array([[1.0]]), "tau": np.array([[2.0]]), "theta": THETA[None, None]}
    written = handlers.scale(schools(SIGMA, Y), scale=0.5)
    values_base = {**values, "theta_base": (values["theta"] - 1.0) / 2.0}
    found = infer.log_prior(values_base, handlers.scale(changed(), scale=0.5))
    np.testing.assert_allclose(found, infer.log_prior(values, written), rtol=1e-12)


ERRORS = {
    "a name": ({"thta": LocScale()}, SiteError, ["no site 'thta'", "Did you mean 'theta'?"]),
    "a name of a class": ({"theta": LocScale}, OptionError, ["the class LocScale", "`LocScale()`"]),
    "something else": ({"theta": 0.5}, OptionError, ["'theta'", "accord.reparam", "0.5"]),
    "no mapping": (LocScale(), OptionError, ["mapping", '{"theta": LocScale()}']),
    "a result": (lambda site: 3, OptionError, ["'mu'", "the function was asked"]),
    "not of loc and scale": ({"mu": Circular()}, SiteError, ["'mu'", "Circular", "VonMises"]),
    "no vector": ({"theta": Structured()}, SiteError, ["'theta'", "MultivariateNormal", "LocScale()"]),
    "no image": ({"theta": Transform()}, SiteError, ["'theta'", "LogNormal", "Explicit(bijector)"]),
    "no direction": ({"theta": ProjectedNormal()}, SiteError, ["'theta'", "dist.ProjectedNormal"]),
    "an axis of a plate": (
        {"theta": Haar()},
        SiteError,
        ["entries of a batch are independent", "to_event"],
    ),
    "by entry": ({"theta": LocScale([0.0, 0.5])}, SiteError, ["'theta'", "(2,)", "(3,)"]),
    "unknown image": (
        {"theta": Explicit(bijectors.Inverse(bijectors.Sigmoid()))},
        SiteError,
        ["not known", "support=constraints.real"],
    ),
    "a map over a batch": (
        {"theta": Explicit(bijectors.Permute([2, 0, 1]), dist.constraints.real_vector)},
        SiteError,
        ["'theta'", "entries of a batch are independent"],
    ),
}


@pytest.mark.parametrize("wrong", ERRORS)
def test_what_cannot_be_is_said_with_a_remedy(wrong):
    config, kind, words = ERRORS[wrong]
    with pytest.raises(kind) as error:
        handlers.reparam(schools(SIGMA, Y), config).sites()
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), [0.5, 2.0], "half"])
def test_a_share_is_between_zero_and_one(share):
    with pytest.raises(OptionError, match="in \\[0, 1\\]"):
        LocScale(share)


@pytest.mark.parametrize(
    "way", [LocScale, Transform, Structured, Circular, ProjectedNormal, Explicit, Haar, Neutra]
)
def test_a_misspelt_field_is_refused_with_those_there_are(way):
    with pytest.raises(OptionError, match=r"'centerd'.* It takes"):
        way(centerd=0.5)


def test_a_latent_direction_is_met_with_the_line_to_write():
    @ac.model
    def model():
        with ac.plate("row", 2):
            ac.sample("d", dist.ProjectedNormal(jnp.ones(3)))

    with pytest.raises(SiteError) as error:
        model().sites()
    assert 'handlers.reparam(model, {"d": reparam.ProjectedNormal()})' in str(error.value)
    layout = handlers.reparam(model(), {"d": ProjectedNormal()}).log_density().layout
    assert layout["d"].shape == layout["d_base"].shape == (2, 3)


def test_a_deterministic_site_has_nothing_to_reparameterise():
    @ac.model
    def model():
        ac.deterministic("twice", 2 * ac.sample("x", dist.Normal(0, 1)))

    with pytest.raises(SiteError, match="'twice' is a deterministic site"):
        handlers.reparam(model(), {"twice": LocScale()}).sites()


def test_the_name_of_an_auxiliary_is_taken_once():
    @ac.model
    def model():
        ac.sample("x", dist.Normal(ac.sample("x_base", dist.Normal(0, 1)), 1))

    with pytest.raises(SiteError, match="'x_base' is defined twice"):
        handlers.reparam(model(), {"x": LocScale()}).sites()


def test_one_s_own_reparameterisation_needs_one_method():
    class Doubled(LocScale):
        def parts(self, distribution):
            return Parts(dist.Normal(0.0, 2.0), bijectors.Affine(distribution.loc, distribution.scale / 2.0))

    with jax.enable_x64(True):
        sites = trace(changed(theta=Doubled()))
        np.testing.assert_allclose(
            sites["theta"].value, sites["mu"].value + sites["tau"].value / 2 * sites["theta_base"].value
        )


@ac.model
def by_hand(sigma, y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma)):
        theta = mu + tau * ac.sample("theta_base", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


def test_a_log_density_costs_what_it_does_in_the_form_written_by_hand():
    position = jnp.linspace(-1.0, 1.0, 5)
    found, wanted = (
        jax.jit(model.log_density().value_and_grad).lower(position).compile().cost_analysis()
        for model in (changed(), by_hand(SIGMA, Y))
    )
    for kind in ("flops", "transcendentals"):
        assert found[kind] == wanted[kind] > 0


def test_predictions_follow_from_draws_of_the_auxiliary():
    draws = {
        "mu": np.array([[1.0, 2.0]]),
        "tau": np.array([[0.5, 3.0]]),
        "theta_base": np.stack([[THETA, -THETA]]),
    }
    found = infer.predict(draws, changed(None))
    wanted = draws["mu"][..., None] + draws["tau"][..., None] * draws["theta_base"]
    np.testing.assert_allclose(found["theta"], wanted, rtol=1e-12)
    assert found["y"].shape == (1, 2, 3)


def autoregression(way):
    def step(previous, y):
        h = ac.sample("h", dist.Normal(0.9 * previous, 0.5))
        ac.sample("y", dist.Normal(h, 1.0), obs=y)
        return h, None

    return lambda: ac.scan(way(step), 0.0, Y)


def test_a_step_of_a_scan_is_reparameterised_around_it():
    """A step is 0.9 of the last and half of its auxiliary: the Jacobian is 0.5 for each of three steps."""
    plain = ac.model(autoregression(lambda step: step))().log_density()
    way = {"h": LocScale()}
    other = ac.model(autoregression(lambda step: handlers.reparam(step, way)))().log_density()
    base = (THETA - 0.9 * np.array([0.0, *THETA[:-1]])) / 0.5
    found = other(other.unconstrain({"h_base": base}))
    np.testing.assert_allclose(found, plain(plain.unconstrain({"h": THETA})) + 3 * np.log(0.5), rtol=1e-12)
    assert other.layout["h"].shape == other.layout["h_base"].shape == (3,)
    np.testing.assert_allclose(other.unconstrain({"h": THETA}), base, rtol=1e-12)
    with pytest.raises(DataError, match=r"'h'.*shape \(3,\), got \(2,\)"):
        other.unconstrain({"h": THETA[:2]})


def nested(step):
    def outer(carry, row):
        return ac.scan(handlers.reparam(step, {"h": LocScale()}), carry, row)

    ac.scan(outer, 0.0, np.stack([Y, -Y]))


def in_a_branch(step):
    sure = ac.sample("sure", dist.Normal(0.0, 1.0))
    run = handlers.reparam(step, {"h": LocScale()})
    ac.cond(sure > 0, lambda: run(sure, Y[0]), lambda: run(2.0 * sure, Y[1]))


@each({"in a scan in a scan": [nested], "in a branch": [in_a_branch]})
def test_values_of_what_is_reparameterised_in_a_loop_give_the_position(bodies):
    def step(previous, y):
        h = ac.sample("h", dist.Normal(0.9 * previous, 0.5))
        ac.sample("y", dist.Normal(h, 1.0), obs=y)
        return h, None

    with jax.enable_x64(True):
        density = ac.model(lambda: bodies[0](step))().log_density()
        position = jnp.linspace(-1.0, 0.5, density.dim)
        values = density.constrain(position)
        written = {name: values[name] for name in ("sure", "h") if name in values}
        np.testing.assert_allclose(density.unconstrain(written), position, rtol=1e-12)


def test_from_outside_of_a_scan_a_reparameterisation_is_refused():
    model = ac.model(autoregression(lambda step: step))()
    with pytest.raises(SiteError, match=r"site 'h' .* inside of a scan .*ac\.scan\(handlers\.reparam\(step"):
        handlers.reparam(model, {"h": LocScale()}).log_density()


def _in_a_scan(way, weight):
    def step(previous, x):
        with weight["inside"]():
            return ac.sample("x", dist.Normal(previous, 2.0)), None

    stepped = step if way is None else handlers.reparam(step, {"x": way})
    with weight["outside"]():
        ac.scan(stepped, 0.5, length=2)


def _in_a_branch(way, weight):
    def side():
        with weight["inside"]():
            return ac.sample("x", dist.Normal(0.5, 2.0).expand((2,)))

    side = side if way is None else handlers.reparam(side, {"x": way})
    with weight["outside"]():
        ac.cond(ac.sample("z", dist.Normal(0.0, 1.0)) > 0, side, side)


@each({"scan": lambda: (_in_a_scan, 0), "branch": lambda: (_in_a_branch, 1)})
@pytest.mark.parametrize("place", ["inside", "outside"])
@pytest.mark.parametrize(
    "weight", [lambda: handlers.scale(scale=3.0), lambda: handlers.mask(mask=False)], ids=["scale", "mask"]
)
def test_weights_in_and_around_a_loop_leave_alone_the_jacobian_of_what_is_reparameterised_in_it(
    case, place, weight
):
    write, num_before = case
    weights = {"inside": contextlib.nullcontext, "outside": contextlib.nullcontext, place: weight}
    with jax.enable_x64(True):
        plain, easier = (
            ac.model(lambda way=way: write(way, weights))().log_density() for way in (None, LocScale())
        )
        z = np.array([0.3] * num_before + [0.4, -1.1])
        values = compiled(easier.constrain)(z)
        x = np.concatenate([z[:num_before], values["x"]])
        # dx/dz is 2 for both elements, however the density of x is weighed.
        found = compiled(easier)(z) - compiled(plain)(x)
    np.testing.assert_allclose(found, 2 * np.log(2.0), rtol=1e-12)


class Never(AbstractReparam):
    """Leave every site as it is."""

    def parts(self, distribution):
        return None


@pytest.mark.parametrize("where", ["scan", "branch"])
@pytest.mark.parametrize("how", [Never(), LocScale(centered=1)], ids=["none", "centred"])
def test_what_changes_nothing_leaves_the_site_of_a_step_or_branch_as_it_is(where, how):
    def model_with(change):
        @ac.model
        def model():
            scale = ac.sample("scale", dist.HalfNormal(1.0))

            def step(previous, y):
                x = ac.sample("x", dist.Normal(previous, scale))
                ac.sample("y", dist.Normal(x, 1.0), obs=y)
                return x, None

            if where == "scan":
                ac.scan(change(step), 0.0, np.array([0.3, -0.2, 1.9]))
            else:
                ac.cond(scale > 1.0, change(lambda: step(0.0, 1.0)[0]), change(lambda: step(1.0, 1.0)[0]))

        return model().log_density()

    written, changed = (
        model_with(lambda step: step),
        model_with(lambda step: handlers.reparam(step, {"x": how})),
    )
    assert changed.layout == written.layout
    at = 0.3 * np.cos(np.arange(written.dim))
    np.testing.assert_allclose(changed(at), written(at), rtol=1e-6)


def test_the_sites_of_steps_are_reparameterised_around_the_step():
    @ac.model
    def model():
        ac.scan(lambda x, _: (ac.sample("x", dist.Normal(x, 1.0)), None), 0.0, length=3)

    for how in (LocScale(), LocScale(centered=[0.1, 0.5, 1.0])):
        with pytest.raises(SiteError, match=r"Put `handlers.reparam` around the step"):
            handlers.reparam(model(), {"x": how}).sites()
