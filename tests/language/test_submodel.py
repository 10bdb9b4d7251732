"""Check models inside of models: their names, values, rules and plates."""

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import ModelError, OptionError, SiteError

Y = np.array([0.5, -1.0, 2.0])


@ac.model
def effect(size=1.0, num=3):
    """A scaled unit effect for each of some entries."""
    scale = ac.sample("scale", dist.HalfNormal(size))
    with ac.plate("entry", num, coords=list("abcdef")[:num]):
        return scale * ac.sample("unit", dist.Normal(0.0, 1.0))


def sites_of(target, *args):
    return handlers.trace(handlers.seed(target, 0)).get_trace(*args)


@ac.model
def twice(y=None):
    """Two effects, added."""
    first = ac.submodel(effect(), prefix="first")
    second = ac.submodel(effect(2.0), prefix="second")
    with ac.plate("row", 3):
        return ac.sample("y", dist.Normal(first + second, 1.0), obs=y)


def test_sites_and_plates_of_a_submodel_join_under_its_prefix():
    sites = sites_of(twice())
    assert list(sites) == ["first/scale", "first/unit", "second/scale", "second/unit", "y"]
    assert sites["second/unit"].plates[0].name == "second/entry"
    assert len({float(np.ravel(site.value)[0]) for site in sites.values()}) == 5


def test_without_a_prefix_names_stay():
    def model():
        return ac.submodel(effect(), prefix=None)

    assert list(sites_of(model)) == ["scale", "unit"]


def test_prefixes_nest():
    @ac.model
    def outer():
        return ac.submodel(twice(), prefix="deep")

    assert next(iter(sites_of(handlers.scope(outer(), prefix="top")))) == "top/deep/first/scale"


def test_what_was_put_on_a_submodel_applies_to_its_own_names():
    conditioned = effect().condition({"scale": 2.0})
    masked = handlers.mask(effect().do({"scale": 3.0}), mask=False)

    def model():
        return ac.submodel(conditioned, prefix="a"), ac.submodel(masked, prefix="b")

    sites = sites_of(model)
    assert sites["a/scale"].is_observed and sites["a/scale"].value == 2.0
    assert sites["b/scale"].is_intervened and sites["b/unit"].mask is False


def test_rules_further_out_know_the_new_names():
    model = twice(Y).condition({"first/scale": 2.0}).do({"second/scale": 1.5})
    sites = sites_of(model)
    assert (sites["first/scale"].value, sites["second/scale"].value) == (2.0, 1.5)
    density = model.log_density()
    assert list(density.layout.coords["first/entry"]) == ["a", "b", "c"]
    assert [entry.name for entry in density.layout.entries] == ["first/unit", "second/unit"]


def test_rules_know_sites_by_their_names_where_they_stand():
    scoped = handlers.scope(effect().condition({"scale": 2.0}), prefix="a")
    assert sites_of(handlers.condition(scoped, {"a/unit": Y}))["a/unit"].is_observed
    with pytest.raises(SiteError, match=r"no site 'unit'.*Did you mean 'a/unit'"):
        sites_of(scoped.condition({"unit": Y}))


def test_plates_around_a_submodel_hold_its_sites():
    def model():
        with ac.plate("group", 2, dim=-2):
            ac.submodel(effect(), prefix="a")

    sites = sites_of(model)
    assert sites["a/unit"].value.shape == (2, 3)
    assert [frame.name for frame in sites["a/unit"].plates] == ["a/entry", "group"]


def test_a_plate_may_be_called_like_one_outside_of_the_prefix():
    def model():
        with ac.plate("entry", 2, dim=-2):
            ac.submodel(effect(), prefix="a")

    assert sites_of(model)["a/unit"].value.shape == (2, 3)
    with pytest.raises(SiteError, match="inside of a plate of the same name"):
        run_under_plate(None)


def run_under_plate(prefix):
    def model():
        with ac.plate("entry", 2, dim=-2):
            ac.submodel(effect(), prefix=prefix)

    return sites_of(model)


def test_a_submodel_takes_values_and_models_of_the_model_around_it():
    @ac.model
    def wrapper(inner, factor):
        return factor * ac.submodel(inner, prefix="inner")

    @ac.model
    def outer():
        factor = ac.sample("factor", dist.HalfNormal(1.0))
        return ac.submodel(wrapper(effect(), factor), prefix="w")

    sites = sites_of(outer())
    assert list(sites) == ["factor", "w/inner/scale", "w/inner/unit"]
    assert outer().log_density().dim == 5


def test_scope_is_a_statement_too():
    def model():
        with handlers.scope(prefix="a"):
            ac.sample("x", dist.Normal(0.0, 1.0))
        with handlers.scope(prefix="b"):
            return ac.sample("x", dist.Normal(0.0, 1.0))

    assert list(sites_of(model)) == ["a/x", "b/x"]


def test_draws_have_the_names_and_labels():
    draws = infer.sample(twice(Y), infer.NUTS(), draws=20, warmup=20, chains=1, progress=False, quiet=True)
    assert draws["second/unit"].shape == (1, 20, 3)
    tree = draws.to_arviz()
    assert tree["posterior"]["second.unit"].dims[-1] == "second.entry"
    assert list(tree["posterior"].coords["second.entry"].values) == ["a", "b", "c"]


def _same_prefix():
    for _ in range(2):
        ac.submodel(effect(), prefix="a")


def _fails_after():
    effect()
    return 1 / 0


def _used_as_a_number():
    ac.deterministic("d", effect())


MISTAKES = {
    "not run": (lambda: effect(), ModelError, "'effect'.*does not run it.*`ac.submodel"),
    "no prefix": (lambda: ac.submodel(effect()), OptionError, "prefix"),
    "an empty prefix": (lambda: ac.submodel(effect(), prefix=""), OptionError, "string that is not empty"),
    "one prefix twice": (_same_prefix, SiteError, "'a/scale' is defined twice"),
    "without data": (lambda: ac.submodel(effect, prefix="a"), ModelError, r"`ac.submodel\(effect\(...\)"),
    "a function": (lambda: ac.submodel(len, prefix="a"), ModelError, "plain function"),
    "a number": (lambda: ac.submodel(3.0, prefix="a"), ModelError, "float 3.0"),
    "a value": (_used_as_a_number, SiteError, "'d'.*`ac.submodel"),
    "a wrong name inside": (
        lambda: ac.submodel(effect().condition({"scal": 1.0}), prefix="a"),
        SiteError,
        "no site 'scal'. Did you mean 'scale'",
    ),
}


@pytest.mark.parametrize(("function", "error", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(function, error, words):
    with pytest.raises(error, match=words):
        sites_of(function)


def test_outside_of_a_model_a_submodel_is_an_error():
    with pytest.raises(ModelError, match=r"outside of any model.*`infer.sample"):
        ac.submodel(effect(), prefix="a")
    bound = effect()
    with pytest.raises(ModelError, match=r"`ac.submodel\(effect\(...\), prefix='effect'\)`"):
        sites_of(lambda: bound())


def test_an_exception_says_which_model_has_not_been_run():
    with pytest.raises(ZeroDivisionError) as info:
        sites_of(_fails_after)
    assert any("'effect' was given its data" in note for note in info.value.__notes__)
