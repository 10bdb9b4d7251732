"""The words of other libraries lead to ours, and ours exist."""

import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import bijectors, handlers, infer
from accord.core.dictionary.hints import WORDS
from accord.core.errors import DistributionError, OptionError
from accord.mcmc.draws import Draws

ROOTS = {
    "ac": ac,
    "accord": ac,
    "bijectors": bijectors,
    "dist": dist,
    "draws": Draws,
    "handlers": handlers,
    "infer": infer,
}
_PATH = re.compile(rf"\b({'|'.join(ROOTS)})((?:\.\w+)+)")
FIELDS = Draws.__dataclass_fields__


@pytest.mark.parametrize("library", ["NumPyro", "PyMC", "Stan", "Turing", "BlackJAX"])
def test_what_the_words_of_a_library_lead_to_is_there(library):
    words = [word for word in WORDS if word.library == library]
    assert words
    for word in words:
        if word.ours:
            assert _PATH.search(word.code) or "draws[" in word.code, word
            check_that_it_is_there(word)
        else:
            assert not any(hasattr(module, word.theirs) for module in (ac, infer)), f"{word} is here now"


def check_that_it_is_there(word):
    """Resolve each name in the code of a word, and its argument in the signature it belongs to."""
    for root, path in _PATH.findall(word.code + " " + word.where):
        thing = ROOTS[root]
        for name in path[1:].split("."):
            assert hasattr(thing, name) or (thing is Draws and name in FIELDS), word
            thing = getattr(thing, name, None)
    root, _, name = word.where.partition(".")
    argument = word.ours.partition("=")[0]
    if word.where and "." not in argument:
        assert argument in inspect.signature(getattr(ROOTS[root], name)).parameters, word


def test_a_word_is_there_once():
    seen = [(word.library, word.kind, word.where, word.theirs) for word in WORDS]
    assert len(seen) == len(set(seen)) > 250


@ac.model
def plain():
    ac.sample("x", dist.Normal(0, 1))


CALLS = {
    "NumPyro's option": (lambda: infer.sample(plain(), num_samples=5), OptionError, "`draws`"),
    "another of NumPyro's": (lambda: infer.sample(plain(), num_warmup=5), OptionError, "`warmup`"),
    "NumPyro's key": (lambda: infer.sample(plain(), rng_key=5), OptionError, "`seed`"),
    "PyMC's option": (lambda: infer.sample(plain(), tune=5), OptionError, "PyMC's `tune` is `warmup` here"),
    "PyMC's seed": (lambda: infer.sample(plain(), random_seed=5), OptionError, "`seed`"),
    "PyMC's seed elsewhere": (lambda: infer.predict(None, random_seed=5), OptionError, "`seed`"),
    "PyMC's processes": (lambda: infer.sample(plain(), cores=5), OptionError, "infer.Threads(workers=...)"),
    "Stan's option": (
        lambda: infer.NUTS(adapt_delta=0.9),
        OptionError,
        "Stan's `adapt_delta` is `target_accept`",
    ),
    "an option of the sampler's": (
        lambda: infer.sample(plain(), adapt_delta=0.9),
        OptionError,
        "`infer.NUTS(target_accept=...)`",
    ),
    "an option with a value": (lambda: infer.NUTS(dense_mass=True), OptionError, '`metric="dense"`'),
    "data": (lambda: ac.sample("x", dist.Normal(0, 1), observed=1.0), OptionError, "`obs`"),
    "a word that may be a slip": (
        lambda: infer.find_mode(plain(), start=3),
        OptionError,
        "Did you mean 'starts'? PyMC's `start` is `init` here",
    ),
    "a misspelt option": (lambda: infer.sample(plain(), drwas=5), OptionError, "Did you mean 'draws'?"),
    "a parameter": (lambda: dist.Normal(mu=0, sigma=1), DistributionError, "PyMC's `mu` is `loc` here"),
    "a parameter of one that is a function": (lambda: dist.ZeroInflatedPoisson(mu=1), OptionError, "`rate`"),
    "the same word elsewhere": (lambda: dist.Gamma(alpha=1, beta=1), DistributionError, "`concentration`"),
    "a parameter in another scale": (
        lambda: dist.Exponential(scale=2),
        DistributionError,
        "`rate=1 / scale`",
    ),
    "a shape": (lambda: dist.Normal(0, 1, shape=3), DistributionError, "`dist.Normal(...).expand([3])`"),
    "data in a distribution": (lambda: dist.Normal(0, 1, observed=3), DistributionError, "ac.sample(name"),
    "a misspelt parameter": (lambda: dist.Normal(0, scal=3), DistributionError, "Did you mean 'scale'?"),
    "a distribution": (lambda: dist.MvNormal, AttributeError, "`dist.MultivariateNormal`"),
    "a density": (lambda: dist.normal_lpdf, AttributeError, "`dist.Normal(...).log_prob(value)`"),
    "a density by another name": (
        lambda: dist.neg_binomial_2_lpmf,
        AttributeError,
        "dist.NegativeBinomial2(...)",
    ),
    "transforms": (lambda: dist.transforms, AttributeError, "`accord.bijectors`"),
    "a transform": (lambda: bijectors.AffineTransform, AttributeError, "`bijectors.Affine`"),
    "a class that runs": (lambda: infer.MCMC, AttributeError, "`infer.sample`"),
    "what is not here": (
        lambda: infer.SA,
        AttributeError,
        "nothing like NumPyro's `SA` here yet",
    ),
    "a statement": (lambda: ac.Deterministic, AttributeError, "`ac.deterministic`"),
    "another case": (lambda: ac.potential, AttributeError, "`ac.factor`"),
    "a distribution in the package": (lambda: ac.Normal, AttributeError, "`dist.Normal`"),
    "a misspelt function": (lambda: infer.smaple, AttributeError, "Did you mean 'sample'?"),
    "a misspelt handler": (lambda: handlers.conditon, AttributeError, "Did you mean 'condition'?"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_word_of_another_library_is_an_error_with_ours(name):
    call, error, words = CALLS[name]
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_draws_lead_from_the_attributes_of_others():
    nothing = object.__new__(Draws)
    led = {"posterior": 'draws["mu"]', "get_samples": 'draws["mu"]', "sample_stats": "draws.stats"}
    for name, words in led.items():
        with pytest.raises(AttributeError, match=re.escape(words)):
            getattr(nothing, name)
    assert not hasattr(nothing, "_repr_mimebundle_")


def test_modules_that_refuse_names_are_like_others():
    assert not hasattr(ac, "nowhere") and not hasattr(infer, "__path__")
    assert pickle.loads(pickle.dumps(infer.sample)) is infer.sample
    assert pickle.loads(pickle.dumps(bijectors.Affine(np.float64(1), np.float64(2)))).loc == 1
    with pytest.raises(ImportError):
        from accord.infer import MCMC  # noqa: F401 # pyright: ignore


def test_the_words_of_others_are_loaded_by_the_first_error():
    code = "import sys, accord; from accord import infer; assert 'accord.core.dictionary' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_code_for_the_skew_double_exponential_has_the_density_of_stans_manual():
    code = next(word.ours for word in WORDS if word.theirs == "skew_double_exponential")
    mu, sigma, tau = 0.3, 1.4, 0.2
    y = np.array([1.1, -0.7])
    tails = (1 - tau) * np.maximum(mu - y, 0) + tau * np.maximum(y - mu, 0)
    expected = np.log(2 * tau * (1 - tau) / sigma) - 2 / sigma * tails
    ours = eval(code, {"dist": dist, "mu": mu, "sigma": sigma, "tau": tau})
    np.testing.assert_allclose(ours.log_prob(y), expected, rtol=1e-5)
