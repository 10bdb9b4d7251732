"""Runs of a model with labels have them in their draws, the same however it is run; predictions tell of them.

Frequencies of drawn labels are compared with their probabilities within 6 standard errors (false alarm 1e-8).
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import OptionError

OPTIONS: dict[str, Any] = dict(draws=150, warmup=150, chains=2, seed=3, progress=False, quiet=True)
X = np.array([-2.5, -1.6, 0.3, 1.9, 2.2, 2.8])


@ac.model
def mixture(x: Any) -> None:
    share = ac.sample("share", dist.Beta(2.0, 2.0))
    apart = ac.sample("apart", dist.LogNormal(0.5, 0.3))
    with ac.plate("row", len(x)):
        z = ac.sample("z", dist.Bernoulli(share))
        ac.sample("x", dist.Normal(apart * (2 * z - 1), 1.0), obs=x)


@pytest.fixture(scope="module")
def draws() -> Any:
    return infer.sample(mixture(X), **OPTIONS)


def test_draws_have_labels_and_a_notice_says_what_they_cost(draws: Any) -> None:
    assert draws["z"].shape == (2, 150, 6) and draws["z"].dtype.kind == "i"
    (notice,) = (each for each in draws.notices if each.code == "summed_out")
    assert notice.severity == "info" and notice.sites == ("z",)
    assert (
        "'z' (2 values)" in notice.message and "24 log probabilities where the model has 12" in notice.message
    )


def test_probabilities_are_those_of_the_labels_given_the_other_unknowns(draws: Any) -> None:
    found = infer.predict(draws, kind="probabilities", quiet=True)
    assert found["z"].shape == (2, 150, 6, 2) and found.dims["z"] == ("row", "z_value")
    np.testing.assert_allclose(found["z"].sum(-1), 1.0, rtol=1e-12)
    share, apart = draws["share"][..., None], draws["apart"][..., None]
    odds = np.log(share / (1 - share)) + 2 * apart * X  # by hand
    np.testing.assert_allclose(found["z"][..., 1], 1 / (1 + np.exp(-odds)), rtol=1e-9)
    expected = found["z"][..., 1]
    error = np.sqrt((expected * (1 - expected)).sum((0, 1))) / expected[..., 0].size
    assert (np.abs(draws["z"].mean((0, 1)) - expected.mean((0, 1))) < 6 * error).all()


def test_the_mode_and_new_data(draws: Any) -> None:
    probabilities = infer.predict(draws, kind="probabilities", quiet=True)
    mode = infer.predict(draws, kind="mode", quiet=True)
    np.testing.assert_array_equal(mode["z"], probabilities["z"].argmax(-1))
    ahead = infer.predict(draws, mixture(np.array([0.0, 2.2])), kind="probabilities", quiet=True)
    np.testing.assert_allclose(ahead["z"][..., 0, 1], draws["share"], rtol=1e-9)
    np.testing.assert_allclose(ahead["z"][..., 1, :], probabilities["z"][..., 4, :], rtol=1e-9)


def test_what_cannot_be_told_is_said(draws: Any) -> None:
    @ac.model
    def normal(x: Any) -> None:
        share = ac.sample("share", dist.Beta(2.0, 2.0))
        with ac.plate("row", len(x)):
            ac.sample("x", dist.Normal(share, 1.0), obs=x)

    with pytest.raises(OptionError, match="'normal' has none"):
        infer.predict(draws, normal(X), kind="mode", quiet=True)
    with pytest.raises(OptionError, match="'share', which is not summed out"):
        infer.predict(draws, kind="mode", sites=["share"], quiet=True)
    with pytest.raises(OptionError, match="`redraw` has nothing to say"):
        infer.predict(draws, kind="mode", redraw=["z"], quiet=True)


@pytest.mark.slow
@pytest.mark.parametrize("other", ["serial", "lanes", "processes", "resumed", "named"])
def test_labels_are_the_same_however_it_is_run(draws: Any, other: str, tmp_path: Any) -> None:
    model = mixture(X)
    if other == "resumed":
        infer.sample(model, store=infer.RunFolder(tmp_path / "run"), **(OPTIONS | dict(draws=60)))
        found = infer.resume(tmp_path / "run", model, quiet=True).extend(90)
    elif other == "named":
        found = infer.sample(handlers.collapse(model, ["z"]), **OPTIONS)
    else:
        how = {"serial": infer.Serial(), "processes": infer.Processes(2)}.get(other)
        found = infer.sample(model, executor=how, **OPTIONS)
    if other == "lanes":
        found, draws = (infer.sample(model, lanes=2, chains=n, **_without("chains")) for n in (2, 4))
    for name in found:
        np.testing.assert_array_equal(found[name], draws[name][:2])


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in OPTIONS.items() if key != name}


@pytest.mark.slow
def test_a_kernel_samples_one_site_and_the_other_is_summed_out() -> None:
    def model(k_of: Any) -> Any:
        @ac.model
        def counts(x: Any) -> None:
            a = ac.sample("a", dist.Normal(0.0, 1.0))
            k = ac.sample("k", k_of)
            with ac.plate("row", len(x)):
                z = ac.sample("z", dist.Categorical(jnp.array([0.5, 0.3, 0.2])))
                ac.sample("x", dist.Normal(a * z + k, 1.0), obs=x)

        return counts(np.array([2.1, 3.0, 1.2, 4.4]))

    options = OPTIONS | dict(draws=1500, chains=4)
    blocks = infer.Gibbs({"k": infer.DiscreteGibbs(), ...: infer.NUTS()})
    sampled = infer.sample(model(dist.Poisson(2.0)), blocks, **options)
    summed = infer.sample(model(dist.Poisson(2.0).truncate(high=25)), **options)
    for name in ("a", "k"):
        one, other = sampled.summary([name]).to_dataframe(), summed.summary([name]).to_dataframe()
        error = np.hypot(one["mcse_mean"], other["mcse_mean"])
        assert (np.abs(one["mean"] - other["mean"]) < 6 * error).all()
