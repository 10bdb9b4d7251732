"""Hold that the graph of a model has the arrows that its code has."""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers, infer, reparam
from accord.cli import examples
from accord.cli.data import read_data
from accord.cli.source import import_model

SIGMA, Y = np.array([15.0, 10.0, 16.0]), np.array([28.0, 8.0, -3.0])


@ac.model
def schools(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def by_name(sigma, y):
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", tau * z)
        twice = ac.deterministic("twice", 2 * theta)
        ac.sample("y", dist.Normal(twice, sigma), obs=y)


@ac.model
def support_that_moves():
    high = ac.sample("high", dist.HalfNormal(1))
    u = ac.sample("u", dist.Uniform(0, high))
    ac.sample("v", dist.Normal(u, 1))


@ac.model
def volatility(returns):
    phi = ac.sample("phi", dist.Uniform(-1, 1))
    sigma = ac.sample("sigma", dist.HalfNormal(0.5))

    def step(previous, observed):
        h = ac.sample("h", dist.Normal(phi * previous, sigma))
        scale = ac.deterministic("scale", jnp.exp(h / 2))
        ac.sample("return", dist.Normal(0, scale), obs=observed)
        return h, None

    last, _ = ac.scan(step, 0.0, returns, name="day")
    ac.deterministic("last", last)


@ac.model
def in_branches(y):
    a, b = ac.sample("a", dist.Normal(0, 1)), ac.sample("b", dist.Normal(0, 1))

    def positive(x):
        twice = ac.deterministic("scaled", 2 * x)
        ac.factor("extra", b * twice)
        return twice

    scaled = ac.cond(y[0] > 0, positive, lambda x: ac.deterministic("scaled", -x), a)
    with ac.plate("row", 2):
        ac.sample("y", dist.Normal(scaled, 1), obs=y)


@ac.model
def autoregression(y):
    phi = ac.sample("phi", dist.Uniform(-1, 1))
    first = ac.sample("first", dist.Normal(0, 1), obs=y[0])
    ac.sample("second", dist.Normal(phi * first, 1), obs=y[1])


@ac.model
def clusters(y):
    weights = ac.sample("weights", dist.Dirichlet(jnp.ones(2)))
    with ac.plate("row", len(y)):
        k = ac.sample("k", dist.Categorical(probs=weights))
        ac.sample("y", dist.Normal(k, 1), obs=y)


@ac.model
def weighed(y):
    s = ac.sample("s", dist.HalfNormal(1))
    with handlers.scale(scale=s):
        ac.sample("y", dist.Normal(0, 1), obs=y)


@ac.model
def with_gaps(y, seen):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        x = ac.sample("x", dist.Normal(mean, 1), obs=y, obs_mask=seen)
        ac.sample("z", dist.Normal(x, 1), obs=y)


@ac.model
def with_gaps_in_vectors(y, seen):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        law = dist.MultivariateNormal(jnp.stack([mean, mean]), jnp.eye(2))
        x = ac.sample("x", law, obs=y, obs_mask=seen)
        ac.sample("z", dist.Normal(x.sum(-1), 1), obs=y[:, 0])


@ac.model
def steps_reparameterised(returns):
    sigma = ac.sample("sigma", dist.HalfNormal(0.5))

    def step(previous, observed):
        h = ac.sample("h", dist.Normal(previous, sigma))
        half = ac.deterministic("half", h / 2)
        scale = ac.deterministic("scale", jnp.exp(half))
        ac.sample("return", dist.Normal(0, scale), obs=observed)
        return h, None

    ac.scan(handlers.reparam(step, {"h": reparam.LocScale()}), 0.0, returns, name="day")


@ac.model
def gaps_in_steps(ys, seen):
    level = ac.sample("level", dist.Normal(0, 1))

    def step(_, y):
        with ac.plate("place", 3):
            x = ac.sample("x", dist.Normal(level, 1), obs=y, obs_mask=seen)
            ac.sample("z", dist.Normal(x, 1), obs=y)
        return 0.0, None

    ac.scan(step, 0.0, ys, name="day")


@ac.model
def needs_numbers(y, group):
    num_rows = ac.deterministic("num_rows", len(y))
    num_groups = ac.deterministic("num_groups", group.max() + 1)
    k = ac.sample("k", dist.Poisson(3.0), obs=3)
    with ac.plate("group", int(num_groups)):
        effect = ac.sample("effect", dist.Normal(0, k if k > 2 else 1))
    with ac.plate("row", num_rows):
        ac.sample("y", dist.Normal(effect[group], 1), obs=y)


@ac.model
def law_of_functions():
    theta, sigma = ac.sample("theta", dist.HalfNormal(1)), ac.sample("sigma", dist.HalfNormal(1))
    times = jnp.linspace(0.0, 1.0, 5)
    ac.sample("x", dist.EulerMaruyama(times, lambda x, t: (-theta * x, sigma), dist.Normal(0, 1)))


CENTRED = schools(SIGMA, Y)
GRAPHS = {
    "steps sampled by way of others": (
        steps_reparameterised(Y),
        "sigma>h h>h h>half half>scale scale>return",
    ),
    "gaps in steps": (
        gaps_in_steps(np.ones((4, 3)), np.array([True, False, True])),
        "level>x level>x_unobserved x_unobserved>z",
    ),
    "numbers that Python needs": (needs_numbers(Y, np.array([0, 1, 1])), "effect>y"),
    "a law of functions": (law_of_functions(), "theta>x sigma>x"),
    "an auxiliary that is named": (
        handlers.collapse(handlers.reparam(CENTRED, {"theta": reparam.LocScale()}), ["theta_base"]),
        "mu>theta tau>theta theta>y",
    ),
    "an auxiliary with one of its own": (
        handlers.reparam(by_name(SIGMA, Y), {"tau": reparam.Transform(), "z": reparam.LocScale()}).condition(
            {"z_base": np.zeros(3)}
        ),
        "tau>theta z>theta theta>twice twice>y",
    ),
    "a hierarchy": (schools(SIGMA, Y), "mu>theta tau>theta theta>y"),
    "without data": (schools(SIGMA), "mu>theta tau>theta theta>y"),
    "steps with names": (by_name(SIGMA, Y), "tau>theta z>theta theta>twice twice>y"),
    "a support that moves": (support_that_moves(), "high>u u>v"),
    "a scan": (volatility(Y), "phi>h sigma>h h>h h>scale scale>return h>last"),
    "branches": (in_branches(Y[:2]), "a>scaled b>extra scaled>extra scaled>y"),
    "what is observed": (autoregression(Y[:2]), "phi>second first>second"),
    "an unknown that is discrete": (clusters(Y), "weights>k k>y"),
    "a weight": (weighed(1.0), "s>y"),
    "gaps": (with_gaps(Y, np.array([True, False, True])), "mean>x_unobserved mean>x x>z x_unobserved>z"),
    "gaps in vectors": (
        with_gaps_in_vectors(np.ones((2, 2)), np.array([[True, False], [True, True]])),
        "mean>x_unobserved mean>x x>z x_unobserved>z",
    ),
    "reparameterised": (
        handlers.reparam(schools(SIGMA, Y), {"theta": reparam.LocScale()}),
        "mu>theta tau>theta theta>y",
    ),
    "integrated out": (handlers.collapse(schools(SIGMA, Y), ["theta"]), "mu>theta tau>theta theta>y"),
    "an intervention": (schools(SIGMA, Y).do({"theta": np.zeros(3)}), "theta>y"),
    "another name": (
        handlers.scope(schools(SIGMA, Y), prefix="a"),
        "a/mu>a/theta a/tau>a/theta a/theta>a/y",
    ),
}


@pytest.mark.parametrize("case", GRAPHS)
def test_an_arrow_leads_from_each_site_that_another_is_written_with(case):
    model, expected = GRAPHS[case]
    assert {f"{parent}>{child}" for parent, child in model.graph().edges} == set(expected.split())


def test_a_site_is_drawn_by_kind_and_within_its_plates():
    nodes = {node.name: node for node in volatility(Y).graph().nodes}
    assert list(nodes) == ["phi", "sigma", "h", "scale", "return", "last"]
    assert [node.kind for node in nodes.values()] == [
        *["latent"] * 3,
        "deterministic",
        "observed",
        "deterministic",
    ]
    assert nodes["h"].plates == nodes["return"].plates == (("day", 3),)
    assert nodes["h"].distribution == "Normal" and not nodes["last"].distribution
    kinds = {node.name: node.kind for node in GRAPHS["an intervention"][0].graph().nodes}
    assert kinds["theta"] == "intervened"
    kinds = {node.name: node.kind for node in GRAPHS["integrated out"][0].graph().nodes}
    assert kinds["theta"] == "collapsed"


def test_plates_are_listed_from_the_outermost():
    @ac.model
    def crossed():
        with ac.plate("column", 2, dim=-1), ac.plate("row", 3, dim=-2):
            ac.sample("x", dist.Normal(0, 1))

    (node,) = crossed().graph().nodes
    assert node.plates == (("column", 2), ("row", 3))


def test_plates_and_scans_are_listed_in_the_order_in_which_they_are_around_a_site():
    @ac.model
    def nested():
        def step(carry, _):
            with ac.plate("inner", 2):
                ac.sample("x", dist.Normal(0, 1))

            def again(carry, _):
                ac.sample("z", dist.Normal(0, 1))
                return carry, None

            ac.scan(again, 0.0, length=4, name="second")
            return carry, None

        with ac.plate("outer", 3, dim=-2):
            ac.sample("a", dist.Normal(0, 1))
            ac.scan(step, 0.0, length=5, name="day")

    graph = nested().graph()
    plates = {node.name: [name for name, _ in node.plates] for node in graph.nodes}
    assert plates == {
        "a": ["outer"],
        "x": ["outer", "day", "inner"],
        "z": ["outer", "day", "second"],
    }
    assert str(graph).count("outer") == 1


def test_scans_without_a_name_are_frames_of_their_own():
    @ac.model
    def twice():
        for name in "ab":
            ac.scan(lambda c, _, name=name: (c, ac.sample(name, dist.Normal(0, 1))), 0.0, length=4)
            ac.sample(f"after_{name}", dist.Normal(0, 1))

    assert str(twice().graph()).count("4 steps") == 2


def test_data_in_files_stay_there(tmp_path):
    np.save(tmp_path / "y.npy", np.ones(50))
    model = schools(np.ones(50), infer.rows(tmp_path / "y.npy"))
    assert model.graph().edges == schools(np.ones(50), np.ones(50)).graph().edges


def test_a_site_that_stands_for_others_is_no_part_of_the_model():
    model, fitted = support_that_moves(), bijectors.LowerCholeskyAffine(np.zeros(3), np.eye(3))
    assert handlers.reparam(model, reparam.Neutra(fitted)).graph() == model.graph()


@pytest.mark.parametrize("name", [each.name for each in examples.find_all()])
def test_an_example_has_a_graph_without_circles(name):
    example = examples.find(name)
    with import_model(str(example.model)) as function:
        model = function(**read_data(example.data))
        graph = model.graph()
    names = [node.name for node in graph.nodes]
    assert names == [entry.name for entry in model.sites()]
    # Sites are visited in an order in which each comes after what it is written with, but for steps of scans.
    assert all(parent == child or names.index(parent) < names.index(child) for parent, child in graph.edges)
    assert {parent for parent, _ in graph.edges} >= {
        node.name for node in graph.nodes if node.kind == "latent" and not node.plates
    }
