"""Check that draws meet new data by the labels of plates: in another order, in part, and beside new labels.

The tests of chance compare means of independent draws with exact figures: 6 comparisons at 4.9 standard errors, so that
the false-alarm rate of all is 6e-6. Keys are fixed.
"""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from predicted_models import QUIET

import accord as ac
import accord.bijectors as bijectors
import accord.distributions as dist
from accord import handlers, infer, reparam
from accord.core.errors import DataError, OptionError, SiteError, StorageError
from accord.mcmc.plan import Plan
from accord.mcmc.start.choose import start_of, stored_start
from accord.mcmc.stored.describe import describe
from accord.predictive.results import Predictions
from accord.predictive.source import Source
from accord.runs.stored.describe import labelled_in

KNOWN = ["north", "east", "south"]
OTHER = ["south", "north", "east"]  # places 2, 0, 1
ORDER = [2, 0, 1]
GROUP = np.repeat([0, 1, 2], 4)
Y = np.random.default_rng(4).normal(size=12) + 3 * GROUP
RUN = dict(draws=12, warmup=60, chains=2, seed=3, **QUIET)


@ac.model
def regions(coords, group, y=None, shift=0.0):
    """Rows in regions, of which one effect is centred and the other is not."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("region", len(coords), coords=coords):
        z = ac.sample("z", dist.Normal(0, 1))
        w = ac.sample("w", dist.Normal(mu + shift, tau))
        theta = ac.deterministic("theta", tau * z + w)
    with ac.plate("row", len(group)):
        mean = ac.deterministic("mean", theta[group])
        ac.sample("y", dist.Normal(mean, 1.0), obs=y)
    return {"theta": theta}


@ac.model
def plain(coords, group, y=None):
    """Effects of regions alone."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    with ac.plate("region", len(coords), coords=coords):
        effect = ac.sample("effect", dist.Normal(mu, 1.0))
    with ac.plate("row", len(group)):
        ac.sample("y", dist.Normal(effect[group], 1.0), obs=y)


@ac.model
def coupled(coords, y=None):
    """Effects that depend on each other."""
    size = len(coords)
    law = dist.MultivariateNormal(jnp.zeros(size), jnp.eye(size) + 0.5)
    effect = ac.sample("effect", law, dims={"region": coords})
    ac.sample("y", dist.Normal(effect, 1).to_event(1), obs=y, dims="region")


@ac.model
def walk(days):
    """A random walk with a name for each day."""
    scale = ac.sample("scale", dist.HalfNormal(1))

    def step(level, _):
        return ac.sample("level", dist.Normal(level, scale)), None

    ac.scan(step, 0.0, None, length=len(days), name="day", coords=days)


@ac.model
def crossed(regions, items):
    """Two plates with labels, and vectors in them."""
    with ac.plate("region", len(regions), coords=regions, dim=-1):
        a = ac.sample("a", dist.Normal(0, 1))
        with ac.plate("item", len(items), coords=items, dim=-2):
            ac.sample("b", dist.Normal(a, 2.0))
            ac.sample("c", dist.MultivariateNormal(jnp.zeros(2), jnp.eye(2)))


@ac.model
def values_of(shape):
    """One value of the kind that is named, with labels along its axes."""
    law, coords = shape
    laws = {
        "simplex": lambda: dist.Dirichlet(jnp.ones(len(coords))),
        "factor": lambda: dist.LKJCholesky(len(coords)),
        "correlations": lambda: dist.LKJ(len(coords)),
    }
    dims = {"row": coords} if law == "simplex" else {"row": coords, "column": coords}
    ac.sample("v", laws[law](), dims=dims)


@ac.model
def families(shift, coords):
    """Families whose parameters differ between labels."""
    with ac.plate("region", len(coords), coords=coords):
        ac.sample("normal", dist.Normal(shift, 1.0))
        ac.sample("masked", dist.LogNormal(shift, 1.0).mask(True))
        ac.sample("binary", dist.Bernoulli(logits=shift))
        ac.sample("vector", dist.MultivariateNormal(jnp.zeros(2), jnp.eye(2)))


def reordered(coords, group, y=None, **options):
    """The same data with the regions in another order."""
    places = np.array([coords.index(each) for each in KNOWN])
    return regions(coords, places[group], y, **options)


def made(model, draws=6):
    """Values of the unknowns of a model that look like draws, with its labels; they cost no run."""
    layout, rng = model.log_density().layout, np.random.default_rng(8)
    sites = {each.name: np.abs(rng.normal(size=(1, draws, *each.shape))) for each in layout.drawn}
    return Predictions(
        sites=sites,
        chains=(0,),
        dims={each.name: each.dims for each in layout.sites},
        coords=layout.coords,
        labelled=layout.labelled,
        model="",
        precision="float64",
        notices=(),
        observed={},
        constants={},
        kind="prior_predictive",
        predicted=(),
        anew=tuple(each.name for each in layout.drawn if each.kind != "deterministic" and each.name != "y"),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "run"
    infer.sample(regions(KNOWN, GROUP, Y), **RUN, store=infer.RunFolder(path))
    return path


@pytest.fixture(scope="module")
def draws(folder):
    return infer.load(folder)


SAME = {
    "predict": lambda d, m: infer.predict(d, m, sites=["mean"], quiet=True)["mean"],
    "log_likelihood": lambda d, m: infer.log_likelihood(d, m)["y"],
    "log_prior": infer.log_prior,
    "log_joint": infer.log_joint,
}


@pytest.mark.parametrize("compute", SAME.values(), ids=SAME)
def test_what_is_computed_does_not_depend_on_the_order_of_labels(draws, compute):
    found, other = (compute(draws, reordered(coords, GROUP, Y)) for coords in (KNOWN, OTHER))
    np.testing.assert_allclose(other, found, rtol=1e-13)


def test_sites_at_permuted_labels_are_the_permuted_sites(draws):
    found = infer.predict(draws, regions(OTHER, GROUP), quiet=True)
    np.testing.assert_array_equal(found["theta"], draws["theta"][..., ORDER])
    np.testing.assert_array_equal(infer.returned(draws, regions(OTHER, GROUP, Y))["theta"], found["theta"])
    assert found.coords["region"].tolist() == OTHER and found.labelled == ("region",)


def test_some_of_the_labels_may_be_left_out(draws):
    found = infer.predict(draws, regions(["south"], np.array([0, 0])), quiet=True)
    np.testing.assert_array_equal(found["mean"], draws["theta"][..., [2, 2]])


def test_draws_that_come_from_predictions_have_their_labels():
    ahead = made(regions(KNOWN, GROUP))
    found, other = (infer.log_likelihood(ahead, reordered(each, GROUP, Y))["y"] for each in (KNOWN, OTHER))
    np.testing.assert_array_equal(other, found)


def test_draws_or_models_without_labels_are_matched_by_place(draws):
    arrays = {name: draws[name] for name in ("mu", "tau", "z", "w")}
    found = infer.predict(arrays, regions(OTHER, GROUP), quiet=True)
    np.testing.assert_array_equal(found["theta"], draws["theta"])
    unlabelled = made(plain([1, 2], np.array([0])))
    assert infer.log_prior(unlabelled, plain([2, 1], np.array([0]), Y[:1])).shape == (1, 6)
    with pytest.raises(SiteError, match=r"\(3,\).*\(2,\).*have no labels \(coords\)"):
        infer.predict(arrays, regions(["a", "b"], GROUP % 2))


def test_labels_that_count_from_zero_are_labels_where_they_were_given():
    @ac.model
    def counted(coords):
        with ac.plate("region", 3, coords=coords):
            ac.sample("effect", dist.Normal(0, 1))

    orders = {"there": (0, 1, 2), "moved": (2, 0, 1), "none": None}
    plan = Plan(infer.NUTS(), 10, 10, 1, 0, 1, "float64", 3, 10), [0], infer.from_uniform()
    layouts = {word: describe(counted(each).log_density(), *plan)["layout"] for word, each in orders.items()}
    assert {word: labelled_in(each) for word, each in layouts.items()} == {
        "there": ("region",),
        "moved": ("region",),
        "none": (),
    }
    assert "labelled" not in layouts["moved"] and layouts["none"]["coords"] == layouts["there"]["coords"]


def test_two_plates_with_labels_are_matched_at_once():
    ahead = made(crossed(KNOWN, [1, 2]))
    other = {"a": ahead["a"][..., ORDER], "b": ahead["b"][..., ::-1, :][..., ORDER]}
    new = crossed(OTHER, [2, 1])
    np.testing.assert_allclose(
        infer.log_prior(ahead, new), infer.log_prior(ahead, crossed(KNOWN, [1, 2])), rtol=1e-13
    )
    found = infer.predict(ahead, crossed([*OTHER, "west"], [2, 1, 3]), redraw=["a", "b", "c"], quiet=True)
    np.testing.assert_array_equal(found["a"][..., :3], other["a"])
    np.testing.assert_array_equal(found["b"][..., :2, :3], other["b"])


def test_new_labels_are_drawn_and_known_ones_have_their_draws(draws):
    new = regions(["west", "south", "up"], np.array([0, 1, 2]))
    found = infer.predict(draws, new, redraw=["z", "w"], quiet=True)
    for name in ("z", "w", "theta"):
        np.testing.assert_allclose(found[name][..., 1], draws[name][..., 2], rtol=1e-14)
    assert found.anew == ("z", "w")
    (notice,) = found.notices
    assert notice.code == "drawn_from_prior" and "the entries of new labels" in notice.message


def test_a_new_entry_does_not_depend_on_the_labels_beside_it(draws):
    shifts = {"west": 0.0, "south": 0.0, "up": 100.0, "down": -3.0}

    def effects(coords):
        shift = np.array([shifts[each] for each in coords])
        new = regions(coords, np.array([0]), shift=shift)
        found = infer.predict(draws, new, redraw=["z", "w"], quiet=True)
        return {name: dict(zip(coords, np.moveaxis(found[name], -1, 0), strict=True)) for name in ("z", "w")}

    some, others = effects(["west", "south", "up"]), effects(["down", "up", "south", "west"])
    for name in ("z", "w"):
        for label in ("west", "south", "up"):
            np.testing.assert_allclose(some[name][label], others[name][label], rtol=1e-12)
        assert not np.any(some[name]["west"] == some[name]["up"])


def test_an_entry_is_drawn_by_its_label_whatever_the_family():
    names = ["normal", "masked", "binary", "vector"]
    known = infer.prior_predictive(families(np.zeros(1), ["south"]), draws=5, quiet=True)

    def found(coords, shift):
        return infer.predict(known, families(np.array(shift), coords), redraw=names, quiet=True)

    one, other = (
        found(["up", "south", "down"], [1.0, 0.0, 5.0]),
        found(["down", "west", "up"], [5.0, 3.0, 1.0]),
    )
    for name in names:
        np.testing.assert_array_equal(one[name][:, :, 1], known[name][:, :, 0])
        np.testing.assert_allclose(one[name][:, :, [0, 2]], other[name][:, :, [2, 0]], rtol=1e-12)


def test_new_entries_follow_their_distribution_given_the_rest():
    ahead = made(regions(KNOWN, GROUP), draws=4000)
    new = regions(["west", "south", "up"], np.array([0]), shift=np.array([10.0, 0.0, 0.0]))
    found = infer.predict(ahead, new, redraw=["z", "w"], sites=["z", "w"], quiet=True)
    noise = (found["w"] - ahead["mu"][..., None] - np.array([10.0, 0.0, 0.0])) / ahead["tau"][..., None]
    for each in (noise[..., 0], noise[..., 2], found["z"][..., 0]):
        assert abs(each.mean()) < 4.9 / np.sqrt(4000)  # standard errors
        assert abs((each**2).mean() - 1) < 4.9 * np.sqrt(2 / 4000)


def test_sites_of_submodels_are_matched_and_drawn_like_others():
    @ac.model
    def outer(coords):
        ac.submodel(plain(coords, np.array([0])), prefix="part")

    ahead = made(outer(KNOWN))
    found = infer.predict(ahead, outer(["west", "south"]), redraw=["part/effect", "part/y"], quiet=True)
    np.testing.assert_array_equal(found["part/effect"][..., 1], ahead["part/effect"][..., 2])
    assert len(np.unique(found["part/effect"][..., 0])) == 6


def test_all_entries_are_drawn_where_that_is_said(draws):
    found = infer.predict(draws, regions(KNOWN, GROUP), redraw={"z": "all", "w": "new"}, quiet=True)
    assert not np.any(found["z"] == draws["z"])
    assert "w" not in found and {notice.code for notice in found.notices} == {
        "drawn_from_prior",
        "nothing_new",
    }


def test_reparameterised_and_collapsed_sites_are_drawn_by_their_own_names():
    rewritten = {
        "reparam": lambda *data: handlers.reparam(plain(*data), {"effect": reparam.LocScale(0.0)}),
        "collapse": lambda *data: handlers.collapse(plain(*data), ["effect"]),
    }
    for make in rewritten.values():
        known = made(make(KNOWN, GROUP, Y) if make is rewritten["reparam"] else plain(KNOWN, GROUP, Y))
        effect = known["effect"] if "effect" in known.anew else known["mu"][..., None] + known["effect_base"]
        found = infer.predict(known, make(["south", "west"], np.array([0, 1])), redraw=["effect"], quiet=True)
        np.testing.assert_allclose(found["effect"][..., 0], effect[..., 2], rtol=1e-13)
        assert not np.any(np.isclose(found["effect"][..., 1], effect[..., 0]))


def test_the_next_steps_of_a_scan_are_drawn_from_the_last_known_one():
    ahead = made(walk([1, 2, 3]), draws=50)
    found = infer.predict(ahead, walk([1, 2, 3, 4, 5]), redraw=["level"], quiet=True)["level"]
    np.testing.assert_array_equal(found[..., :3], ahead["level"])
    moves = np.diff(found, axis=-1)[..., 2:] / ahead["scale"][..., None]
    assert np.all(np.abs(moves) < 6) and not np.any(moves == 0)
    np.testing.assert_allclose(infer.log_prior(ahead, walk([1, 2])).shape, (1, 50))


def test_entries_that_depend_on_each_other_are_matched_and_not_drawn_in_part():
    ahead = made(coupled(KNOWN))
    value = np.array([0.1, 0.2, 0.3])
    found = infer.log_joint(ahead, coupled(OTHER, value[ORDER]))
    np.testing.assert_allclose(found, infer.log_joint(ahead, coupled(KNOWN, value)), rtol=1e-12)
    new = coupled(["south", "west"])
    assert infer.predict(ahead, new, redraw={"effect": "all"}, quiet=True)["effect"].shape == (1, 6, 2)


def test_missing_entries_are_matched_by_the_labels_of_their_plate():
    @ac.model
    def gaps(coords, y):
        with ac.plate("row", len(coords), coords=coords):
            ac.sample("y", dist.Normal(0, 1), obs=np.nan_to_num(y), obs_mask=~np.isnan(y))

    y = np.array([np.nan, 0.5, np.nan])
    known = made(gaps(KNOWN, ac.static(y)))
    found = Source.of("log_prior", known, gaps(OTHER, ac.static(y[ORDER]))).trace(
        "log_prior", draws_others=False
    )
    assert found.takings["y_unobserved"].axes[0].tolist() == [1, 0]
    with pytest.raises(SiteError, match="'y_missing' has 1 label that the draws do not know: 'east'"):
        infer.log_prior(known, gaps(KNOWN, ac.static(y[[0, 2, 1]])))


def test_chains_begin_at_the_draws_and_modes_of_their_labels(draws):
    density = regions(OTHER, GROUP, Y).log_density()
    begin = start_of(draws)
    values, _ = begin.values_for(0, density)
    np.testing.assert_array_equal(values["z"], draws["z"][0, -1][ORDER])
    mode = infer.find_mode(regions(KNOWN, GROUP, Y), starts=1)
    np.testing.assert_array_equal(start_of(mode).values_for(1, density)[0]["w"], mode.values["w"][ORDER])
    for each in (begin, start_of(mode)):  # as a stored run has it
        again = stored_start(each.described(), json.loads(json.dumps(each.kept())))
        np.testing.assert_array_equal(
            again.values_for(0, density)[0]["z"], each.values_for(0, density)[0]["z"]
        )
        assert again.described() == each.described()


def new(*coords):
    """Regions of these names with one row each, not observed."""
    return regions([*coords], np.arange(len(coords)))


def neutra(coords):
    places = np.array([coords.index(each) for each in KNOWN])
    return handlers.reparam(plain(coords, places[GROUP], Y), reparam.Neutra(bijectors.Affine(0.0, 2.0)))


def structured(coords):
    return handlers.reparam(coupled(coords, np.zeros(3)), {"effect": reparam.Structured()})


REFUSED = {
    "unknown labels": (
        lambda d: infer.predict(d, new("south", "wast", "nrth")),
        SiteError,
        [
            "'z'",
            "plate 'region' has 2 labels",
            "'wast', 'nrth'",
            "'north', 'east', 'south'",
            "redraw=['z', 'w']",
        ],
    ),
    "one label near a known one": (
        lambda d: infer.predict(d, new("sauth")),
        SiteError,
        ["1 label that", "Did you mean 'south'?"],
    ),
    "labels of another type": (
        lambda d: infer.predict(made(plain(["1", "2"], GROUP % 2)), plain([1, 2], GROUP % 2)),
        SiteError,
        ["They are of type int here and str there"],
    ),
    "unknown labels of a likelihood": (
        lambda d: infer.log_likelihood(d, regions(["up"], GROUP * 0, Y)),
        SiteError,
        ["'up'", "call the model without them", "`infer.predict` draws them"],
    ),
    "only some of the sites redrawn": (
        lambda d: infer.predict(d, new("up"), redraw=["z"]),
        SiteError,
        ["site 'w'", "redraw=['z', 'w']"],
    ),
    "a name that is no unknown": (
        lambda d: infer.predict(d, redraw=["ww"], model=new("up")),
        OptionError,
        ["Did you mean 'w'", "mu, tau, z, w"],
    ),
    "a word that is none": (
        lambda d: infer.predict(d, new("up"), redraw={"z": "some"}),
        OptionError,
        ["'some'", '"new"', '"all"'],
    ),
    "part of a vector": (
        lambda d: infer.predict(made(coupled(KNOWN)), coupled(["south", "up"]), redraw=["effect"]),
        SiteError,
        ["'region' depend on each other (MultivariateNormal)", 'redraw={"effect": "all"}'],
    ),
    "some of a simplex": (
        lambda d: infer.log_prior(made(values_of(("simplex", KNOWN))), values_of(("simplex", KNOWN[:2]))),
        SiteError,
        ["its value is a whole", "Dirichlet"],
    ),
    "a factor of a matrix": (
        lambda d: infer.log_prior(made(values_of(("factor", KNOWN))), values_of(("factor", OTHER))),
        SiteError,
        ["its value is a whole", "LKJCholesky"],
    ),
    "steps in another order": (
        lambda d: infer.predict(made(walk([1, 2, 3])), walk([3, 2, 1])),
        SiteError,
        ["scan 'day'", "in their order"],
    ),
    "a whitened vector": (
        lambda d: infer.log_prior(made(structured(KNOWN)), structured(OTHER)),
        SiteError,
        ["by way of 'effect_base'", "'north', 'east', 'south'"],
    ),
    "unknowns behind a bijector": (
        lambda d: infer.log_likelihood(made(neutra(KNOWN)), neutra(OTHER)),
        SiteError,
        ["'effect'", "by way of 'another site'"],
    ),
    "a start of unknown labels": (
        lambda d: infer.sample(regions(["up", *KNOWN[1:]], GROUP, Y), init=d, **RUN),
        DataError,
        ["init of chain 0", "'up'", "no place"],
    ),
    "an explanation with other labels": (
        lambda d: infer.explain(d, reordered(OTHER, GROUP, Y)),
        OptionError,
        ["labels of 'region'"],
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_labels_cannot_settle_is_refused_by_name(draws, case):
    call, error, words = case
    with pytest.raises(error) as caught:
        call(draws)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_run_does_not_go_on_with_its_labels_in_another_order(folder):
    with pytest.raises(StorageError, match="the labels of 'region' are others"):
        infer.resume(folder, reordered(OTHER, GROUP, Y), quiet=True)


def test_draws_of_a_non_centred_form_keep_their_effects_in_the_model_as_written():
    form = {"w": reparam.LocScale()}
    draws = infer.sample(handlers.reparam(regions(KNOWN, GROUP, Y), form), **RUN)
    ahead = infer.predict(draws, regions(OTHER, np.arange(3)), quiet=True)
    assert not ahead.anew
    np.testing.assert_allclose(ahead["mean"], draws["theta"][..., ORDER])
    new = infer.predict(draws, regions(["south", "west"], np.arange(2)), redraw=["w", "z"], quiet=True)
    np.testing.assert_allclose(new["mean"][..., 0], draws["theta"][..., 2])
    model = regions(KNOWN, GROUP, Y)
    likelihood = infer.log_likelihood(draws, model)["y"]
    np.testing.assert_allclose(likelihood, infer.log_likelihood(draws)["y"])


def test_a_non_centred_model_does_not_draw_anew_what_the_draws_hold(draws):
    form = {"w": reparam.LocScale()}
    model = handlers.reparam(regions(OTHER, np.arange(3)), form)
    with pytest.raises(SiteError, match=r"site 'w'.*'w_base'.*without `handlers\.reparam`"):
        infer.predict(draws, model)
    ahead = infer.predict(draws, model, redraw=["w"], quiet=True)
    assert ahead.anew == ("w_base",)


def test_what_a_model_computes_anew_in_place_of_the_draws_is_a_warning(draws):
    @ac.model
    def rewritten(coords):
        """`w` computed by hand, from a site that the run did not have."""
        mu = ac.sample("mu", dist.Normal(0, 5))
        tau = ac.sample("tau", dist.HalfNormal(1))
        with ac.plate("region", len(coords), coords=coords):
            offset = ac.sample("offset", dist.Normal(0, 1))
            ac.deterministic("w", mu + tau * offset)

    (notice,) = (
        each
        for each in infer.predict(draws, rewritten(KNOWN), quiet=True).notices
        if each.code == "drawn_from_prior"
    )
    assert notice.severity == "warning" and "computes 'w' anew" in notice.message
    assert "as it was sampled" in notice.remedy
    form = {"w": reparam.LocScale()}
    model = handlers.reparam(regions(KNOWN, GROUP), form)
    (notice,) = (
        each
        for each in infer.predict(draws, model, redraw=["w"], quiet=True).notices
        if each.code == "drawn_from_prior"
    )
    assert notice.severity == "info"
