"""Say what to do about each cause, in a sentence or two with the names and values that were found."""

import math
from dataclasses import dataclass

import numpy as np

from .operation import CONSTANT
from .result import OWN, BadTerm, Blame, Operation


@dataclass(frozen=True)
class Case:
    """The facts that rules and remedies look at: everything found, the first bad site, and the operation or a blank."""

    found: Blame
    term: BadTerm | None
    operation: Operation

    @property
    def is_derivative(self) -> bool:
        """Return whether the log density is finite and a derivative is not."""
        return self.term is None

    @property
    def site(self) -> str:
        """The first site with a bad term, or else the first through which a derivative is bad."""
        return self.term.site if self.term else next(iter(self.found.sites), "")

    @property
    def is_observed(self) -> bool:
        """Return whether that site is data."""
        return self.term is not None and self.term.kind == "observed"

    @property
    def is_impossible(self) -> bool:
        """Return whether its density is zero, not infinite."""
        return self.term is not None and self.term.log_density < 0

    @property
    def by(self) -> str:
        """The name of the primitive."""
        return self.operation.primitive

    @property
    def is_given(self) -> bool:
        """Return whether the first number that is not finite is an argument, or written in the code."""
        return self.by in ("argument", CONSTANT)

    @property
    def is_infinite(self) -> bool:
        """Return whether the first number that is not finite is an infinity, computed or given."""
        return math.isinf(self.operation.output) or any(map(math.isinf, self.operation.inputs))

    @property
    def is_own(self) -> bool:
        """Return whether accord computes it, from what the model gives."""
        return self.operation.owner == "accord" or self.operation.owner.startswith(OWN)

    @property
    def has_zero(self) -> bool:
        """Return whether the operation was given a zero."""
        return 0.0 in self.operation.inputs


def come_nearer(site: str) -> str:
    """Advise on a site without any probability left."""
    return (
        f"the log density of {site!r} is so low that probabilities near it are zero: priors and data are far apart, or "
        "a scale is far too small. Compare the units of both, or pass `init=` with values near the data."
    )


def mask(case: Case) -> str:
    """Advise on observations that are NaN or infinite."""
    site = case.site
    return (
        f"the observed values of {site!r} are not finite. Leave those out by "
        f"`with handlers.mask(mask=jnp.isfinite({site})):` around the site, or drop them from the data."
    )


def fill_in(case: Case) -> str:
    """Advise on NaN in an argument."""
    where = " and a mask or `where` leaves it out afterwards" if case.is_derivative else ""
    return (
        f"{case.operation.name} holds {case.operation.output:g}{where}. A mask hides observations, but not what is "
        "computed from them or from covariates: drop these entries, or fill them in before they are used, as in "
        "`jnp.where(jnp.isfinite(x), x, 0.0)`."
    )


def leave_out_the_bound(case: Case) -> str:
    """Advise on an infinity in a formula."""
    del case
    return (
        "an infinity is written into a formula: infinity times zero, or minus infinity, is NaN. Leave the bound out, "
        "or use `.truncate(low, high)`, `.censor(low, high)` or `dist.TruncatedNormal`, which take infinite bounds."
    )


def keep_in_range(case: Case) -> str:
    """Advise on a parameter outside of its range."""
    bad = next(each for each in case.found.bad_parameters if np.all(np.isfinite(each.value)))
    return (
        f"{bad.name} of {bad.distribution} must be {bad.must_be}. Give the unknown it is computed from a prior that "
        f"ensures this, or transform it, for instance by `jnp.exp` or `jax.nn.softplus`."
    )


def check_the_data(case: Case) -> str:
    """Advise on an observation outside of the support."""
    return (
        f"check the data of {case.site!r} (units, sign, codes for missing values), or choose a distribution whose "
        "support holds them."
    )


def keep_off_the_edge(case: Case) -> str:
    """Advise on a latent value outside of the support."""
    return (
        f"the value of {case.site!r} has been rounded to the edge of its support, or the support depends on other "
        "unknowns. Choose a prior with less mass at the edge, or write the model in terms of a logarithm or logit."
    )


def add_to_the_diagonal(case: Case) -> str:
    """Advise on a system of equations that has no solution."""
    del case
    return (
        "the matrix is singular to the digits of this precision. Add a small number to its diagonal, or give what it "
        "is computed from a prior that keeps it away from such values."
    )


def correct_the_callback(case: Case) -> str:
    """Advise on a Python function that JAX calls back."""
    return (
        f"the Python function that JAX calls back returns {case.operation.output:g} for these arguments. Correct it, "
        "or keep its arguments where it is finite."
    )


def look_at_the_statement(case: Case) -> str:
    """Advise on a position that a function refuses in its own words."""
    del case
    return (
        "look at the statement that is named. Declare the bounds of the parameters that it depends on, or give them "
        "priors that keep its arguments in range; now and then in warm-up it does no harm."
    )


def move_off_the_edge(case: Case) -> str:
    """Advise on a density that is zero or infinite at the edge of its support."""
    what = "zero" if case.is_impossible else "infinite"
    how = (
        "Move such data inside of the support, for instance by `jnp.clip(y, 1e-6, 1 - 1e-6)`, or choose a distribution "
        "that has them."
        if case.is_observed
        else "It was rounded to the edge: choose a prior with less mass there, or write the model in logarithms."
    )
    return f"the density of {case.site!r} is {what} at the edge of its support, where this value is. {how}"


def exclude_by_support(case: Case) -> str:
    """Advise on a number in the code that is not finite."""
    return (
        f"the model itself has {case.operation.output:g} here. To exclude values, choose priors whose support does, "
        "and where only some are excluded, begin at others by `init=`. NaN and +inf are never log densities."
    )


def rescale(case: Case) -> str:
    """Advise on a derivative of accord's own that overflows."""
    return (
        "values or parameters of this site are so large or small that the derivative overflows. Scale the data, "
        "tighten the priors, or begin elsewhere by `init=`. If they are not extreme this is a fault of accord: please "
        "report it."
    )


def correct_the_rule(case: Case) -> str:
    """Advise on a derivative rule of the user's own."""
    return (
        f"the {case.operation.name} returns {case.operation.output:g} here. Correct the rule that was given by "
        "`defjvp` or `defvjp`; to try, leave it out and let JAX differentiate the function."
    )


def choose_first(case: Case) -> str:
    """Advise on a `where` around what is not finite on the side not taken."""
    name = case.operation.name
    call = f"jnp.{name}(safe)" if name.isidentifier() and name not in ("division", "power") else "f(safe)"
    return (
        f"a `where` leaves {name} out here, but its derivative is still computed, and zero times "
        f"{case.operation.output:g} is NaN. Choose the argument first: `safe = jnp.where(ok, x, 1.0)`, then "
        f"`jnp.where(ok, {call}, 0.0)`."
    )


def keep_from_zero(case: Case) -> str:
    """Advise on a function with a pole, or an infinite slope, at zero."""
    name = case.operation.name
    what = "has no finite derivative" if case.is_derivative else "is not finite"
    return (
        f"{name} {what} at zero. Keep its argument away from zero, as in `x + 1e-12`, or choose another branch by a "
        "double where: `safe = jnp.where(x != 0, x, 1.0)` inside, and `jnp.where(x != 0, f(safe), limit)` outside."
    )


def keep_in_domain(case: Case) -> str:
    """Advise on a function outside of its domain."""
    given = ", ".join(f"{value:g}" for value in case.operation.inputs)
    return (
        f"{case.operation.name} is not defined at {given}. Give what it is computed from a prior that keeps it in "
        "range, or transform it, for instance by `jnp.exp` or `jax.nn.softplus`."
    )


def make_positive_definite(case: Case) -> str:
    """Advise on a matrix without a Cholesky factor."""
    del case
    return (
        "the matrix is not positive definite to the digits of this precision. Add a small number to its diagonal, as "
        "in `K + 1e-6 * jnp.eye(n)`, and use float64."
    )


def use_logarithms(case: Case) -> str:
    """Advise on an overflow."""
    if case.is_own:
        return (
            "the unconstrained number at this position is too large for its map to the support. Begin elsewhere, by "
            "`init=` with a value of moderate size, or choose a prior of smaller scale."
        )
    return (
        f"{case.operation.name} is larger than the largest number of this precision. Work with logarithms "
        "(`jax.nn.logsumexp`, `logits=`), or give the unknown a prior of smaller scale."
    )


def look_for_it(case: Case) -> str:
    """Advise on everything else."""
    if case.operation.name:
        return "keep the arguments of this operation where it and its derivative are finite."
    return (
        "look for division by zero, logarithms and roots of what may be zero or negative, and for overflow."
    )
