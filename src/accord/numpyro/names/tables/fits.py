"""List the guides and optimisers of NumPyro."""

from ..row import Row, missing, same

_OWN = "write `accord.infer.fit(model, accord.infer.guides.{})`, with the model by `ac.model`."

TABLES: dict[str, dict[str, Row]] = {
    "numpyro.infer.autoguide": {
        **same(
            "AutoBNAFNormal",
            "AutoContinuous",
            "AutoDAIS",
            "AutoDelta",
            "AutoDiagonalNormal",
            "AutoGuide",
            "AutoGuideList",
            "AutoIAFNormal",
            "AutoLaplaceApproximation",
            "AutoLowRankMultivariateNormal",
            "AutoMultivariateNormal",
            "AutoNormal",
        ),
        **missing(
            _OWN.format("Structured()"),
            "AutoBatchedLowRankMultivariateNormal",
            "AutoBatchedMultivariateNormal",
            "AutoSemiDAIS",
        ),
        **missing(_OWN.format("DAIS()"), "AutoSurrogateLikelihoodDAIS"),
    },
    "numpyro.optim": {
        **same(
            "Adagrad",
            "Adam",
            "ClippedAdam",
            "Minimize",
            "Momentum",
            "RMSProp",
            "RMSPropMomentum",
            "SGD",
            "optax_to_numpyro",
        ),
        **missing("use `optax_to_numpyro(optax.sm3(...))`.", "SM3"),
    },
}
