"""Check normal vectors of which some elements are observed: their law is that of the whole, split without remainder."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import LogDensity, handlers, infer
from accord.core.errors import SiteError
from accord.distributions.wrappers.normal_entries import NormalEntries

COVARIANCE = np.array([[2.0, 0.8, 0.3], [0.8, 1.0, -0.2], [0.3, -0.2, 1.5]])
NAN = np.nan
Y = np.array([[0.5, NAN, 1.0], [1.0, 2.0, 3.0], [NAN, NAN, 0.3], [NAN, NAN, NAN]])
SEEN = ~np.isnan(Y)
MEAN = np.array([0.1, -0.2, 0.3])
MISSING = np.array([0.3, -2.0, 0.1, 0.7, 0.2, -0.6])
POSITION = np.concatenate([MEAN, MISSING])  # all are real numbers
SCALES = np.array([1.0, 2.0, 0.5, 3.0])[:, None, None]


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def normal_of(**matrix):
    return lambda mu: dist.MultivariateNormal(mu, **matrix)


LAWS = {
    "one covariance": (normal_of(covariance_matrix=COVARIANCE), COVARIANCE),
    "its inverse": (normal_of(precision_matrix=np.linalg.inv(COVARIANCE)), COVARIANCE),
    "its factor, repeated": (
        lambda mu: dist.MultivariateNormal(mu, scale_tril=np.linalg.cholesky(COVARIANCE)).expand((4,)),
        COVARIANCE,
    ),
    "one for each row": (
        lambda mu: dist.MultivariateNormal(jnp.broadcast_to(mu, (4, 3)), SCALES * COVARIANCE),
        SCALES * COVARIANCE,
    ),
}


@ac.model
def vectors(law, y, mask):
    mu = ac.sample("mu", dist.Normal(0.0, 1.0).expand((3,)).to_event(1))
    with ac.plate("row", 4):
        return ac.sample("y", law(mu), obs=y, obs_mask=mask)


def completed():
    whole = Y.copy()
    whole[~SEEN] = MISSING
    return whole


def parts(covariance):
    """By row, the log density of what is seen, and that of the whole."""
    each_covariance = np.broadcast_to(covariance, (4, 3, 3))
    seen, whole = np.zeros(4), np.zeros(4)
    for row, (is_seen, matrix) in enumerate(zip(SEEN, each_covariance, strict=True)):
        whole[row] = stats.multivariate_normal(MEAN, matrix).logpdf(completed()[row])
        if is_seen.any():
            part = stats.multivariate_normal(MEAN[is_seen], matrix[np.ix_(is_seen, is_seen)])
            seen[row] = part.logpdf(Y[row, is_seen])
    return seen, whole


@each(LAWS)
def test_the_density_of_the_whole_is_split_into_what_is_seen_and_the_rest_given_it(case):
    law, covariance = case
    seen, whole = parts(covariance)
    density = vectors(law, Y, SEEN).log_density()
    terms = jax.jit(density.site_terms)(POSITION)
    np.testing.assert_allclose(terms["y"], seen.sum(), rtol=1e-12)
    np.testing.assert_allclose(terms["y_unobserved"], (whole - seen).sum(), rtol=1e-12)


def test_the_gradient_is_that_of_the_whole():
    law, _ = LAWS["one for each row"]

    def by_hand(position):
        mu, missing = position[:3], position[3:]
        value = jnp.asarray(np.where(SEEN, Y, 0.0)).at[~SEEN].set(missing)
        return dist.Normal(0.0, 1.0).log_prob(mu).sum() + law(mu).log_prob(value).sum()

    density = vectors(law, Y, SEEN).log_density()
    found, wanted = (jax.jit(jax.grad(function))(POSITION) for function in (density, by_hand))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_what_stands_at_missing_elements_has_no_influence():
    density = vectors(LAWS["one covariance"][0], Y, SEEN).log_density()
    compiled = jax.jit(LogDensity.value_and_grad)
    found = [
        np.hstack(compiled(density.with_data({"y": np.where(SEEN, Y, stand_in)}), POSITION))
        for stand_in in (NAN, np.inf, 1e300)
    ]
    assert np.isfinite(found[0]).all()
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_missing_elements_are_labelled_and_returned_in_their_places():
    model = vectors(LAWS["one covariance"][0], Y, SEEN)
    layout = model.log_density().layout
    assert (
        layout["y_unobserved"].shape == (6,) and layout["y_unobserved"].distribution == "MultivariateNormal"
    )
    assert layout.coords["y_missing"].tolist() == ["0,1", "2,0", "2,1", "3,0", "3,1", "3,2"]
    value = handlers.substitute(model, {"mu": MEAN, "y_unobserved": MISSING})()
    np.testing.assert_array_equal(value, completed())


def test_the_likelihood_is_that_of_what_is_seen():
    law, covariance = LAWS["one covariance"]
    given = {"mu": MEAN[None, None], "y_unobserved": MISSING[None, None]}
    found = infer.log_likelihood(given, vectors(law, Y, SEEN))["y"]
    np.testing.assert_allclose(found[0, 0], parts(covariance)[0], rtol=1e-12)


def test_masks_and_scales_of_rows_reach_missing_elements():
    law, covariance = LAWS["one covariance"]
    weights = np.array([1.0, 2.0, 3.0, 4.0])

    @ac.model
    def weighted():
        with ac.plate("row", 4), handlers.scale(scale=weights), handlers.mask(mask=weights < 4.0):
            ac.sample("y", law(MEAN), obs=Y, obs_mask=SEEN)

    density = weighted().log_density()
    seen, whole = parts(covariance)
    terms = jax.jit(density.site_terms)(MISSING)
    np.testing.assert_allclose(terms["y"], (weights * seen)[:3].sum(), rtol=1e-12)
    np.testing.assert_allclose(terms["y_unobserved"], (weights * (whole - seen))[:3].sum(), rtol=1e-12)


def test_a_condition_observes_whole_vectors_and_its_removal_draws_them():
    model = vectors(LAWS["one covariance"][0], Y, SEEN)
    sites = handlers.trace(handlers.seed(model | {"y": completed()}, 0)).get_trace()
    assert type(sites["y"].distribution).__name__ != "NormalPart"
    drawn = handlers.seed(model.uncondition(["y"]), 0)()
    assert drawn.shape == (4, 3) and not np.any(drawn == np.where(SEEN, Y, 0.0))


def test_missing_elements_are_drawn_from_their_law_given_the_others():
    index = np.flatnonzero(~SEEN[:1])
    law = NormalEntries(dist.MultivariateNormal(MEAN, COVARIANCE), (1,), index, np.where(SEEN, Y, 0.0)[:1])
    seen, other = np.array([0, 2]), np.array([1])
    gain = COVARIANCE[np.ix_(other, seen)] @ np.linalg.inv(COVARIANCE[np.ix_(seen, seen)])
    mean = MEAN[other] + gain @ (Y[0, seen] - MEAN[seen])
    variance = COVARIANCE[1, 1] - gain @ COVARIANCE[np.ix_(seen, other)]
    draws = law.sample(jax.random.key(0), (40_000,))
    # At 40,000 draws the tolerances are 5 standard errors: the false-alarm rate of the two comparisons is 1.2e-6.
    sd = np.sqrt(variance.item())
    np.testing.assert_allclose(draws.mean(), mean.item(), atol=5 * sd / 200)
    np.testing.assert_allclose(draws.var(), variance.item(), rtol=5 * np.sqrt(2) / 200)


MISTAKES = {
    "another family": (
        lambda mu: dist.MultivariateStudentT(3.0, mu, np.eye(3)),
        SEEN,
        r"obs_mask has shape \(4, 3\), but the batch shape is \(4,\).*MultivariateStudentT is observed whole",
    ),
    "another shape": (LAWS["one covariance"][0], SEEN[:, :2], r"or one for each element, shape \(4, 3\)"),
}


@each(MISTAKES)
def test_a_mask_that_does_not_fit_says_what_would(case):
    law, mask, words = case
    with pytest.raises(SiteError, match=words):
        vectors(law, Y, mask).log_density()
