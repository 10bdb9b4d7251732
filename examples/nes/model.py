"""Regress party identification on ideology and demography, election study of 2000 (Gelman & Hill, 2007, chapter 4)."""

import accord as ac
import accord.distributions as dist

COEFFICIENTS = (
    "intercept",
    "ideology",
    "race",
    "age_30_44",
    "age_45_64",
    "age_65_up",
    "education",
    "gender",
    "income",
)


@ac.model
def nes(partyid7, real_ideo, race_adj, age_discrete, educ1, gender, income):
    """Flat priors; `partyid7`: 1 (Democrat) to 7 (Republican), `age_discrete`: group 1 to 4; shape (n,)."""
    with ac.plate("coefficient", 9, coords=COEFFICIENTS):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.ImproperUniform(dist.constraints.positive, (), ()))
    mean = (
        beta[0]
        + beta[1] * real_ideo
        + beta[2] * race_adj
        + beta[3] * (age_discrete == 2)
        + beta[4] * (age_discrete == 3)
        + beta[5] * (age_discrete == 4)
        + beta[6] * educ1
        + beta[7] * gender
        + beta[8] * income
    )
    ac.sample("partyid7", dist.Normal(mean, sigma), obs=partyid7)
