"""List the ways to sample that are measured, each at the settings that it is measured with."""

from dataclasses import dataclass

from problems import LARGE_MODELS, MODELS

ODES = ("lotka_volterra", "one_comp_mm_elim_abs")
THOUSANDS = ("stochastic_volatility", "item_response")  # of dimensions


@dataclass(frozen=True)
class Engine:
    """One way to sample.

    **Fields**
    - `script`: of `peers/`, without suffix; `variant`: what it is told.
    - `packages`: what it needs in the peers' environment.
    - `settings`: what differs from, or is, the library's default, in words.
    - `is_diagonal`: its metric has no correlations.
    - `without`: models that it is not asked for, and `why`.
    - `only_warm`: runs it with full caches alone; `times`, of such runs of each model.
    """

    script: str
    variant: str
    packages: tuple[str, ...]
    settings: str
    is_diagonal: bool = True
    without: tuple[str, ...] = ()
    why: str = ""
    only_warm: bool = False
    times: int = 1


NO_SOLVER = "PyMC has no solver of differential equations with gradients that is anywhere near the others"
NO_DENSE = "A dense metric of thousands of dimensions is none that anyone would choose"

ENGINES = {
    "accord": Engine("run_accord", "", (), "defaults: 350 + 1000 draws, threads", is_diagonal=False),
    "accord_first_draw": Engine(
        "run_accord",
        "first_draw",
        (),
        "defaults, with one draw kept",
        is_diagonal=False,
        without=(*MODELS[1:], *LARGE_MODELS),
        only_warm=True,
        times=5,
    ),
    "numpyro": Engine("run_numpyro", "", ("numpyro", "diffrax"), "1000 + 1000 draws, vectorized"),
    "numpyro_dense": Engine(
        "run_numpyro",
        "dense",
        ("numpyro", "diffrax"),
        "1000 + 1000 draws, vectorized, dense_mass=True",
        is_diagonal=False,
        without=THOUSANDS,
        why=NO_DENSE,
    ),
    "nutpie_low_rank": Engine(
        "run_nutpie",
        "low_rank",
        ("nutpie", "numpyro", "diffrax"),
        "defaults, low_rank_modified_mass_matrix=True, NumPyro's density through JAX",
        is_diagonal=False,
    ),
    "nutpie_pymc_low_rank": Engine(
        "run_nutpie",
        "pymc_low_rank",
        ("nutpie", "pymc"),
        "defaults, low_rank_modified_mass_matrix=True, PyMC's density through Numba",
        is_diagonal=False,
        without=ODES,
        why=NO_SOLVER,
    ),
    "pystan": Engine("run_pystan", "", ("pystan",), "defaults: 1000 + 1000 draws, chains in processes"),
    "blackjax": Engine(
        "run_blackjax",
        "",
        ("blackjax", "numpyro", "diffrax"),
        "1000 + 1000 draws, window_adaptation at its defaults, vectorized, NumPyro's density",
    ),
    "blackjax_dense": Engine(
        "run_blackjax",
        "dense",
        ("blackjax", "numpyro", "diffrax"),
        "1000 + 1000 draws, window_adaptation with is_mass_matrix_diagonal=False, vectorized, NumPyro's density",
        is_diagonal=False,
        without=THOUSANDS,
        why=NO_DENSE,
    ),
    "pymc": Engine(
        "run_pymc",
        "",
        ("pymc",),
        "defaults: 1000 + 1000 draws, chains in processes on all cores, a thread of BLAS each",
        without=ODES,
        why=NO_SOLVER,
    ),
    "pymc_dense": Engine(
        "run_pymc",
        "dense",
        ("pymc",),
        '1000 + 1000 draws, chains in processes on all cores, a thread of BLAS each, init="jitter+adapt_full"',
        is_diagonal=False,
        without=(*ODES, *THOUSANDS),
        why=f"{NO_SOLVER}. {NO_DENSE}",
    ),
    "nutpie_pymc": Engine(
        "run_nutpie",
        "pymc",
        ("nutpie", "pymc"),
        "defaults, PyMC's density through Numba",
        without=ODES,
        why=NO_SOLVER,
    ),
    "nutpie": Engine(
        "run_nutpie", "", ("nutpie", "numpyro", "diffrax"), "defaults, NumPyro's density through JAX"
    ),
    "numpyro_parallel": Engine(
        "run_numpyro", "parallel", ("numpyro", "diffrax"), "1000 + 1000 draws, parallel on four host devices"
    ),
    "numpyro_sequential": Engine(
        "run_numpyro", "sequential", ("numpyro", "diffrax"), "1000 + 1000 draws, sequential with its bar"
    ),
}
OURS = tuple(name for name in ENGINES if name.startswith("accord"))
PEERS = tuple(name for name in ENGINES if name not in OURS)
