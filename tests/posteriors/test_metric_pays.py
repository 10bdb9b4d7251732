"""Show that the learnt metric makes an ill-conditioned regression cheap, which a diagonal of variances leaves dear."""

import numpy as np
from posteriors import model_of

from accord import infer
from accord.adaptation.metric import Choice
from accord.kernels import Metric
from accord.report import ess_bulk


def ess_per_gradient(draws):
    """The smallest bulk ESS of any scalar, per gradient of the sampling phase."""
    smallest = min(ess_bulk(array.reshape(*array.shape[:2], -1)).min() for array in draws.sites.values())
    return smallest / draws.work["sample"]


def test_a_gradient_is_worth_twenty_of_a_diagonal_variance_metric_on_kidscore(monkeypatch):
    """Measured: over 100 times. The bar is 20; counts, not seconds, so that the ratio is the same on every machine."""
    model = model_of("kidscore_interaction")
    run = dict(draws=500, chains=4, seed=0, progress=False, quiet=True)
    learnt = infer.sample(model, **run)

    def variances(positions, gradients, previous, form):
        del gradients, form
        scale = np.maximum(positions.std(0), 1e-10)
        return Metric.diagonal(scale, previous.factor.shape[1]), Choice("diagonal")

    monkeypatch.setattr("accord.adaptation.metric.learn_metric", variances)
    diagonal = infer.sample(model, **run)
    assert ess_per_gradient(learnt) > 20 * ess_per_gradient(diagonal)
