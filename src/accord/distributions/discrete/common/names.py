"""Offer count distributions by NumPyro's other names, which say how the probability is given."""

from typing import Any

import numpy as np

from ....bijectors import is_concrete
from ....core.options import checks_options
from ..bernoulli import Bernoulli, Geometric
from ..binomial import Binomial
from ..categorical import Categorical
from ..multinomial import Multinomial
from ..negative_binomial import NegativeBinomial


@checks_options
def BernoulliProbs(probs: Any) -> Bernoulli:  # noqa: N802 - NumPyro's name
    """`Bernoulli` by the probability of success."""
    return Bernoulli(probs)


@checks_options
def BernoulliLogits(logits: Any = None) -> Bernoulli:  # noqa: N802 - NumPyro's name
    """`Bernoulli` by the log odds of success."""
    return Bernoulli(logits=logits)


@checks_options
def BinomialProbs(probs: Any, total_count: Any = 1) -> Binomial:  # noqa: N802 - NumPyro's name
    """`Binomial` by the probability of success."""
    return Binomial(total_count, probs)


@checks_options
def BinomialLogits(logits: Any, total_count: Any = 1) -> Binomial:  # noqa: N802 - NumPyro's name
    """`Binomial` by the log odds of success."""
    return Binomial(total_count, logits=logits)


@checks_options
def BinomialLogit(n: Any, logitp: Any) -> Binomial:  # noqa: N802 - Turing's name
    """`Binomial` by the log odds of success, in Turing's order."""
    return Binomial(n, logits=logitp)


@checks_options
def CategoricalProbs(probs: Any) -> Categorical:  # noqa: N802 - NumPyro's name
    """`Categorical` by the probabilities."""
    return Categorical(probs)


@checks_options
def CategoricalLogits(logits: Any) -> Categorical:  # noqa: N802 - NumPyro's name
    """`Categorical` by the logarithms of weights."""
    return Categorical(logits=logits)


@checks_options
def GeometricProbs(probs: Any) -> Geometric:  # noqa: N802 - NumPyro's name
    """`Geometric` by the probability of success."""
    return Geometric(probs)


@checks_options
def GeometricLogits(logits: Any) -> Geometric:  # noqa: N802 - NumPyro's name
    """`Geometric` by the log odds of success."""
    return Geometric(logits=logits)


@checks_options
def NegativeBinomialProbs(total_count: Any, probs: Any) -> NegativeBinomial:  # noqa: N802 - NumPyro's name
    """`NegativeBinomial` by the probability of success."""
    return NegativeBinomial(total_count, probs)


@checks_options
def NegativeBinomialLogits(total_count: Any, logits: Any) -> NegativeBinomial:  # noqa: N802 - NumPyro's name
    """`NegativeBinomial` by the log odds of success."""
    return NegativeBinomial(total_count, logits=logits)


@checks_options
def MultinomialProbs(  # noqa: N802 - NumPyro's name
    probs: Any, total_count: Any = 1, *, total_count_max: int | None = None
) -> Multinomial:
    """`Multinomial` by the probabilities; `total_count_max` is optional, and checked if given."""
    return _bounded(Multinomial(total_count, probs), total_count_max)


@checks_options
def MultinomialLogits(  # noqa: N802 - NumPyro's name
    logits: Any, total_count: Any = 1, *, total_count_max: int | None = None
) -> Multinomial:
    """`Multinomial` by the logarithms of weights; `total_count_max` is optional, and checked if given."""
    return _bounded(Multinomial(total_count, logits=logits), total_count_max)


def _bounded(distribution: Multinomial, most: int | None) -> Multinomial:
    """Raise `DistributionError` when the number of trials is known now and exceeds `total_count_max`."""
    count = distribution.total_count
    if most is not None and is_concrete(count) and (np.asarray(count) > most).any():
        raise distribution.refuse(f"total_count is {count}, above total_count_max={most}", "Raise the bound.")
    return distribution
