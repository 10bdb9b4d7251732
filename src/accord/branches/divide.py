"""Divide a model into its programs, run each, and combine their draws by the evidence."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import keys
from ..core.errors import AccordError, ModelError, OptionError
from ..core.options import checks_options, positive_count, shown
from ..evidence.base import AbstractEvidenceMethod
from ..evidence.evidence import evidence
from ..language import Model
from ..mcmc.draws import Draws
from ..mcmc.sample import sample
from ..predictive.source import check_model
from ..report.log_evidence import LogEvidence
from ..smc.weighted import AbstractWeightedDraws
from .exact import exact_log_evidence
from .findings import findings
from .programs import Program, programs_of
from .result import Divided, ProgramDraws
from .weighing import weighed

Run = Callable[..., Draws | AbstractWeightedDraws]


@checks_options
def divide(
    target: Model,
    run: Run | None = None,
    *,
    values: Mapping[str, Sequence[Any]] | None = None,
    method: AbstractEvidenceMethod | None = None,
    most: int = 100,
    error: float = 0.05,
    seed: int = 0,
) -> Divided:
    """Draw from the posterior of a model whose statements differ by what is drawn: divide, conquer and combine.

    A Python `if` on a discrete site, or a number of components that is drawn, makes a program for each value, with
    sites of its own. Each program is a model without branches, in which these sites are given. It is run by itself, its
    evidence is estimated, and its draws get their share by it: the evidence of the program, which includes the prior
    probability of its values, over that of all.

    No program is found by chance. The sites by which Python branches are found by tracing the model, and all of their
    values are run. Discrete sites on which no statement depends are summed out within each program.

    **Arguments**
    - `target`: a model called with its data.
    - `run`: how to draw from a program, a function of a model and `seed=`, with a result of `infer.sample`
      or `infer.smc`, or the draws of nested sampling; such as `lambda program, seed: infer.smc(program, seed=seed,
      quiet=True)`, or `infer.evidence(program, infer.NestedSampling(seed=seed)).draws`. None is `infer.sample`.
    - `values`: by site, those to take of all that it has; needed where they have no end, as of a Poisson distribution.
      The others are left out: a notice says how probable they are before the data.
    - `method`: of the evidence, from draws of `infer.sample`: see `infer.evidence`.
    - `most`: programs that may be run, >= 1.
    - `error`: the largest standard error of a program's probability with which draws are pooled, in (0, 1).
    - `seed`: an integer in [0, 2**64). The seed of a program follows from it and its values.

    Where an evidence is not known well enough, draws are not pooled: a notice of severity error says of which program,
    and the draws of each are there still. Ctrl-C ends the run of a program, and no other begins.

    **Raises** `SiteError` for a branch by a continuous site, for values without an end, and for too many programs;
    `ModelError` for a model without branches; `OptionError` for values of a site by which nothing branches; what `run`
    and `infer.evidence` raise, with a note that names the program.

    **Source**: Zhou, Yang, Teh & Rainforth (2020), "Divide, conquer, and combine", ICML 119, 11534-11545. There,
    programs are found by prior draws, and their evidences by importance sampling.

    **Example**

    >>> @ac.model
    ... def clusters(y):
    ...     number = ac.sample("number", dist.DiscreteUniform(1, 3))
    ...     with ac.plate("cluster", number):
    ...         share = ac.sample("share", dist.Normal(0, 1))
    ...     ac.sample("y", dist.Normal(share.sum(), 1), obs=y)
    >>> found = infer.divide(clusters(3.0))
    >>> found["number"].shape[0], [f"{program.probability:.1f}" for program in found.programs]
    (1, ['0.2', '0.4', '0.4'])
    """
    model = check_model("divide", target)
    most, share = positive_count("most", most), _share(error)
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    if run is not None and not callable(run):
        raise OptionError(
            "infer.divide: run must be a function of a model and a seed, such as `lambda program, seed: "
            f"infer.smc(program, seed=seed, quiet=True)`; got {shown(run)}."
        )
    if values is not None and not isinstance(values, Mapping):
        raise OptionError(
            f"infer.divide: values is a mapping from sites to values, like {{'k': range(10)}}; got {shown(values)}."
        )
    division = programs_of(model, {name: list(each) for name, each in (values or {}).items()}, most)
    if not division.programs or not division.programs[0].values:
        raise ModelError(
            f"infer.divide: no statement of the model {model.name!r} depends on what is drawn, so that there is one "
            "program only. Use infer.sample(model)."
        )
    found: list[tuple[Program, Draws | AbstractWeightedDraws | None, LogEvidence]] = []
    for program in division.programs:
        try:
            draws, height = _conquered(program, run or _sampled, method, seed)
        except AccordError as failure:
            failure.add_note(f"It is of the program {program} of the model {model.name!r}: infer.divide.")
            raise
        found.append((program, draws, height))
        if draws is not None and not draws.complete:
            break
    is_complete = len(found) == len(division.programs) and all(
        draws is None or draws.complete for _, draws, _ in found
    )
    weights = weighed([height for _, _, height in found])

    def made(probabilities: Any, errors: Any) -> tuple[ProgramDraws, ...]:
        return tuple(
            ProgramDraws(program.values, program.model, draws, height, float(p), float(e))
            for (program, draws, height), p, e in zip(found, probabilities, errors, strict=True)
        )

    programs = made(weights.probabilities, weights.standard_errors)
    notices = tuple(findings(programs, division.left_out, share, is_complete))
    total = weights.log_evidence
    if any(notice.code == "evidence_unknown" for notice in notices):
        nan = np.full(len(found), np.nan)
        programs, total = made(nan, nan), LogEvidence(np.nan, np.nan)
    return Divided(model.name, programs, total, notices, is_complete, int(seed))


def _conquered(
    program: Program, run: Run, method: AbstractEvidenceMethod | None, seed: int
) -> tuple[Draws | AbstractWeightedDraws | None, LogEvidence]:
    """Return the draws of a program, and its evidence."""
    exact = exact_log_evidence(program.model)
    if exact is not None:
        return None, LogEvidence(exact, 0.0)
    draws = run(program.model, seed=program.seed(seed))
    if not isinstance(draws, Draws | AbstractWeightedDraws):
        raise OptionError(
            "infer.divide: run must return draws of infer.sample, of infer.smc or of infer.NestedSampling (`.draws` "
            f"of its evidence), from which the evidence of a program is known; got {type(draws).__name__}."
        )
    if not draws.complete:
        return draws, LogEvidence(np.nan, np.nan)
    return draws, draws.log_evidence if isinstance(draws, AbstractWeightedDraws) else evidence(draws, method)


def _sampled(program: Model, *, seed: int) -> Draws:
    return sample(program, seed=seed, progress=False, quiet=True)


def _share(error: Any) -> float:
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0 < error < 1:
        raise OptionError(
            f"infer.divide: error must be a probability, in (0, 1), got {shown(error)}. 0.05 is usual."
        )
    return float(error)
