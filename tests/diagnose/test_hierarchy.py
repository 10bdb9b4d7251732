"""Find the sites of a hierarchy, and write the forms that mend its funnel."""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers
from accord.density import LogDensity
from accord.diagnose.forms import forms_by_scale
from accord.diagnose.hierarchy import hierarchical_sites
from accord.reparam import LocScale, Structured, Transform
from accord.report.evidence import Form


def with_site(law):
    """A model of `m`, `s`, what is computed from `s`, and a site."""

    def statements():
        m = ac.sample("m", dist.Normal(0, 1))
        s = ac.sample("s", dist.HalfNormal(1))
        ac.sample("theta", law(m, ac.deterministic("twice", 2 * s)))

    return ac.model(statements)()


SITES = {
    "normal": (lambda m, s: dist.Normal(m, s), (LocScale(),)),
    "in an event": (lambda m, s: dist.Normal(m, s * np.ones(3)).to_event(1), (LocScale(),)),
    "of another family": (lambda m, s: dist.StudentT(4.0, m, s).expand((2,)), (LocScale(),)),
    "log-normal": (lambda m, s: dist.LogNormal(m, s), (Transform(), LocScale())),
    "image of a deviation": (
        lambda m, s: dist.TransformedDistribution(dist.Normal(m, s), bijectors.Sigmoid()),
        (Transform(), LocScale()),
    ),
    "vector": (lambda m, s: dist.MultivariateNormal(m, scale_tril=s * jnp.eye(2)), (Structured(),)),
    "log-normal vector": (
        lambda m, s: dist.MultivariateLogNormal(m, scale_tril=s * jnp.eye(2)),
        (Transform(), Structured()),
    ),
    "random walk": (lambda m, s: dist.GaussianRandomWalk(s, 4), (Structured(),)),
    "zero sum": (lambda m, s: dist.ZeroSumNormal(s, (3,)), (Structured(),)),
    # Of these no scale is unknown, or none can be taken out.
    "location alone": (lambda m, s: dist.Normal(m + s, 1.5), None),
    "location of a vector": (lambda m, s: dist.MultivariateNormal(m + s, jnp.eye(2)), None),
    "positive": (lambda m, s: dist.HalfNormal(s), None),
    "truncated": (lambda m, s: dist.TruncatedNormal(m, s, low=0.0), None),
    "no location": (lambda m, s: dist.Gamma(2.0, s), None),
}


@pytest.mark.parametrize("case", SITES)
def test_sites_with_an_unknown_scale_are_found(case):
    law, chain = SITES[case]
    density = LogDensity.from_model(with_site(law))
    found = hierarchical_sites(density.program, density.data)
    assert [(each.site, each.scale_from, each.chain) for each in found] == (
        [] if chain is None else [("theta", ("s",), chain)]
    )
    if chain is not None:
        changed = handlers.reparam(with_site(law), found[0].config).log_density()
        assert found[0].auxiliary in {entry.name for entry in changed.layout.entries}


def of_steps(law):
    """A model of `s`, `rho`, and a site with this law given the step before, in three steps."""

    def statements():
        s, rho = ac.sample("s", dist.HalfNormal(1)), ac.sample("rho", dist.Uniform(-1, 1))

        def step(x, t):
            x = ac.sample("x", law(rho * x, s, t))
            return x, None

        ac.scan(step, jnp.zeros(2), np.array([1.0, 2.0, 3.0]))

    return ac.model(statements)()


STEPS = {
    "normal": (lambda x, s, t: dist.Normal(x, s), True),
    "other at each step": (lambda x, s, t: dist.Normal(x, s * t), True),
    "an event of another family": (lambda x, s, t: dist.StudentT(4.0, x, s).to_event(1), True),
    "known scale": (lambda x, s, t: dist.Normal(x + s, t), False),
    "truncated": (lambda x, s, t: dist.TruncatedNormal(x, s, low=-9.0), False),
    "no location": (lambda x, s, t: dist.Gamma(2.0 + x**2, s), False),
}


@pytest.mark.parametrize("case", STEPS)
def test_sites_of_steps_with_an_unknown_scale_are_found(case):
    """A latent site that sets their location alone, such as `rho`, sets no scale."""
    law, is_found = STEPS[case]
    forms, told = forms_by_scale(LogDensity.from_model(of_steps(law)))
    form = Form("x", '"x": reparam.LocScale()', is_in_steps=True)
    assert (forms, told) == ({"s": (form,)} if is_found else {}, ())


def test_sites_of_steps_within_steps_are_found():
    def statements():
        s = ac.sample("s", dist.HalfNormal(1))

        def inner(x, _):
            return ac.sample("x", dist.Normal(x, s)), None

        ac.scan(lambda x, _: ac.scan(inner, x, length=2), 0.0, length=3)

    forms, told = forms_by_scale(LogDensity.from_model(ac.model(statements)()))
    assert forms["s"][0].is_in_steps and not told


def test_the_forms_of_a_site_are_those_for_its_auxiliary_too():
    density = LogDensity.from_model(with_site(SITES["log-normal"][0]))
    wanted = {"s": (Form("theta", '"theta": reparam.Transform(), "theta_base": reparam.LocScale()'),)}
    assert forms_by_scale(density) == (wanted, ())


def test_a_model_that_cannot_be_looked_at_costs_no_draws_and_says_so(monkeypatch):
    def fail(*_):
        raise NotImplementedError("no such rule")

    monkeypatch.setattr("accord.diagnose.hierarchy.hierarchical_sites", fail)
    density = LogDensity.from_model(with_site(SITES["log-normal"][0]))
    forms, (notice,) = forms_by_scale(density)
    assert forms == {} and "NotImplementedError: no such rule" in notice.message
