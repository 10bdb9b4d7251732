"""Check that `infer_config` changes how unknowns are searched for, and not their law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers, infer, reparam
from accord.core.errors import OptionError, SiteError
from accord.distributions import constraints


class Cauchy(bijectors.AbstractBijector):
    """The tangent's map of numbers to (0, 1)."""

    def forward_and_log_det(self, x):
        x = jnp.asarray(x, float)
        return 0.5 + jnp.arctan(x) / jnp.pi, -jnp.log(jnp.pi * (1 + x**2))

    def inverse_and_log_det(self, y):
        x = jnp.tan(jnp.pi * (jnp.asarray(y, float) - 0.5))
        return x, jnp.log(jnp.pi * (1 + x**2))


@ac.model
def varied(y):
    """Sites in a plate, in a vector event, and of a support that depends on another."""
    p = ac.sample("p", dist.Beta(2.0, 3.0))
    with ac.plate("group", 3):
        scale = ac.sample("scale", dist.HalfNormal(2.0))
    lengths = ac.sample("lengths", dist.HalfNormal(jnp.ones(2)).to_event(1))
    end = ac.sample("end", dist.Uniform(0.0, scale.sum()))
    ac.sample("y", dist.Normal(end + lengths.sum(), 1.0 + p), obs=y)


SETTINGS = {
    "p": {"bijector": Cauchy()},
    "scale": {"bijector": bijectors.Softplus()},
    "lengths": {"bijector": bijectors.Softplus()},
}


@ac.model
def steps(y):
    """Sites of a scan."""

    def step(total, each):
        x = ac.sample("x", dist.HalfNormal(1.0))
        ac.sample("y", dist.Normal(total, 1.0), obs=each)
        return total + x, None

    ac.scan(step, 0.0, y)


CASES = {
    "sites of several shapes": (varied(1.5), SETTINGS),
    "a scan": (steps(np.array([0.5, 1.0, 2.5])), {"x": {"bijector": bijectors.Softplus()}}),
    "a rule for all": (
        varied(1.5),
        lambda site: {"bijector": Cauchy()} if site.name == "p" else None,
    ),
    "what a site is reparameterised by": (
        handlers.reparam(varied(1.5), {"p": reparam.Explicit(bijectors.Inverse(Cauchy()), constraints.real)}),
        {"scale": {"bijector": bijectors.Softplus()}},
    ),
}


@each(CASES, slow=["sites of several shapes"])
def test_the_law_of_the_unknowns_is_the_same_whatever_the_map(case):
    model, config = case
    plain, other = model.log_density(), handlers.infer_config(model, config).log_density()
    for seed in range(3):
        position = jax.random.normal(jax.random.key(seed), (plain.dim,))
        values = plain.constrain(position)
        there = other.unconstrain({entry.name: values[entry.name] for entry in plain.layout.entries})
        assert not np.allclose(there, position)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), other.constrain(there), values
        )
        # Densities over positions differ by the volume of the map between them.
        between = jax.jacfwd(lambda x: _same_point(plain, other, x))(position)
        volume = jnp.linalg.slogdet(between)[1]
        np.testing.assert_allclose(plain(position), other(there) + volume, rtol=1e-9)


def _same_point(plain, other, position):
    values = plain.constrain(position)
    pieces = other.program.positions({e.name: values[e.name] for e in plain.layout.entries}, other.data)
    return jnp.concatenate([jnp.ravel(pieces[entry.name]) for entry in other.layout.entries])


def test_a_rule_further_out_has_the_last_word():
    inner = handlers.infer_config(varied(1.5), {"p": {"bijector": Cauchy()}})
    outer = handlers.infer_config(inner, {"p": {"bijector": bijectors.Sigmoid()}})
    position = np.full(outer.log_density().dim, 0.3)
    assert outer.log_density()(position) == varied(1.5).log_density()(position)


def test_a_site_that_has_a_value_is_left_alone():
    model = handlers.infer_config(varied(1.5), SETTINGS).condition({"p": 0.4})
    assert "p" not in [entry.name for entry in model.log_density().layout.entries]


def test_unknowns_together_are_placed_by_the_maps_that_were_set():
    base = handlers.infer_config(varied(1.5), SETTINGS)
    dim = base.log_density().dim
    whole = handlers.reparam(
        base, reparam.Neutra(bijectors.LowerCholeskyAffine(np.zeros(dim), np.eye(dim)))
    ).log_density()
    position = np.linspace(-1, 1, dim)
    np.testing.assert_allclose(whole(position), base.log_density()(position), rtol=1e-12)


def test_the_posterior_is_drawn_from_through_another_map():
    model = handlers.infer_config(varied(1.5), SETTINGS)
    draws = infer.sample(model, draws=50, warmup=50, chains=2, quiet=True)
    assert np.all((draws["p"] > 0) & (draws["p"] < 1)) and np.all(draws["lengths"] > 0)


MISTAKES = {
    "no mapping": ([1], "mapping from site names"),
    "no settings": ({"p": Cauchy()}, "must have settings"),
    "a setting that nothing reads": ({"p": {"bijektor": Cauchy()}}, "nothing reads.*bijector"),
    "a class": ({"p": {"bijector": Cauchy}}, "call it"),
    "no bijector": ({"p": {"bijector": "exp"}}, "must have a bijector"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_settings_is_told_at_once(mistake):
    config, words = MISTAKES[mistake]
    with pytest.raises(OptionError, match=words):
        handlers.infer_config(varied(1.5), config)


def test_the_settings_of_a_function_are_checked_when_the_site_is_there():
    model = handlers.infer_config(varied(1.5), lambda site: {"bijector": 3})
    with pytest.raises(OptionError, match="'p', for which the function was asked"):
        model.sites()


@pytest.mark.parametrize("name", ["q", "total"])
def test_a_name_that_is_no_sample_site_is_refused(name):
    @ac.model
    def two():
        x = ac.sample("x", dist.Normal(0, 1))
        ac.deterministic("total", x)

    with pytest.raises(SiteError, match=f"'{name}'.*sample sites are 'x'"):
        handlers.infer_config(two(), {name: {"bijector": bijectors.Identity()}}).sites()


WRONG = {
    "only half of the support": ("x", bijectors.Exp()),
    "more than the support": ("s", bijectors.Identity()),
    "another shape": ("x", bijectors.LowerCholeskyAffine(np.zeros(2), np.eye(2))),
    "not all of it": ("s", bijectors.Chain((bijectors.Exp(), bijectors.Exp()))),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_map_that_does_not_cover_the_support_is_refused_before_sampling(case):
    @ac.model
    def two():
        ac.sample("x", dist.Normal(0, 1))
        ac.sample("s", dist.HalfNormal(1))

    name, bijector = WRONG[case]
    with pytest.raises(SiteError, match=f"site '{name}' .*support"):
        handlers.infer_config(two(), {name: {"bijector": bijector}}).log_density()


@ac.model
def mean_of(y):
    m = ac.sample("m", dist.Normal(0, 1))
    s = ac.sample("s", dist.LogNormal(0, 1))
    ac.sample("y", dist.Normal(m, s), obs=y)


AFFINE = {"bijector": bijectors.Inverse(bijectors.Identity())}
IN_VAIN = {
    "before it is collapsed": lambda: handlers.collapse(
        handlers.infer_config(mean_of(1.0), {"m": AFFINE}), ["m"]
    ),
    "after it was collapsed": lambda: handlers.infer_config(
        handlers.collapse(mean_of(1.0), ["m"]), {"m": AFFINE}
    ),
    "reparameterised": lambda: handlers.reparam(
        handlers.infer_config(mean_of(1.0), {"m": AFFINE}), {"m": reparam.LocScale()}
    ),
}


@pytest.mark.parametrize("case", IN_VAIN)
def test_a_setting_that_would_be_lost_is_refused(case):
    with pytest.raises(SiteError, match=r"'m' .*infer_config"):
        IN_VAIN[case]().log_density()


def test_the_auxiliary_of_a_site_has_settings_of_its_own():
    shifted = handlers.reparam(mean_of(1.0), {"s": reparam.Transform()})
    stretched = handlers.infer_config(shifted, {"s_base": {"bijector": bijectors.Scale(3.0)}})
    assert stretched.log_density().constrain(np.ones(2))["s_base"] == 3.0


def test_what_goes_wrong_in_a_map_of_the_users_is_told():
    class Broken(bijectors.AbstractBijector):
        def forward_and_log_det(self, x):
            return bijectors.Exp().forward_and_log_det(x)

        def inverse_and_log_det(self, y):
            raise TypeError("no such thing")

    with pytest.raises(SiteError, match="no such thing"):
        handlers.infer_config(mean_of(1.0), {"s": {"bijector": Broken()}}).log_density()
