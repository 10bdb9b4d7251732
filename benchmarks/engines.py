"""List the ways to sample that are measured, each at the settings that it is measured with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    - `left_out`: why it is not asked for some models, and for which.
    - `caches`: of compiled code, "cold" (empty) or "warm" (full), with which it is run.
    - `times`: of warm runs of each model.
    """

    script: str
    variant: str
    packages: tuple[str, ...]
    settings: str
    is_diagonal: bool = True
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    caches: tuple[str, ...] = ("cold", "warm")
    times: int = 1

    @property
    def without(self) -> tuple[str, ...]:
        """Models that it is not asked for."""
        return tuple(model for models in self.left_out.values() for model in models)


NO_SOLVER = {
    "PyMC has no solver of differential equations with gradients that is anywhere near the others": ODES
}
NO_DENSE = {"a dense metric of thousands of dimensions is none that anyone would choose": THOUSANDS}
# Large models take minutes each: one engine stands for others that differ from it in little.
NUMPYRO_STANDS = {"numpyro has the same algorithm, and the same density": LARGE_MODELS}
NUMPYRO_DENSE_STANDS = {
    "numpyro_dense has the same algorithm, and the same density": tuple(
        model for model in LARGE_MODELS if model not in THOUSANDS
    )
}
NUTPIE_STANDS = {"nutpie_low_rank has the same density": LARGE_MODELS}
NUTPIE_PYMC_STANDS = {"nutpie_pymc_low_rank has the same density": LARGE_MODELS}
COLD_ALONE = ("cold",)  # where another form of the same library says what a warm start saves

ENGINES = {
    "accord": Engine("run_accord", "", (), "defaults: 350 + 1000 draws, threads", is_diagonal=False),
    "accord_first_draw": Engine(
        "run_accord",
        "first_draw",
        (),
        "defaults, with one draw kept",
        is_diagonal=False,
        left_out={"one small model says what a call costs": (*MODELS[1:], *LARGE_MODELS)},
        caches=("warm",),
        times=5,
    ),
    "numpyro": Engine("run_numpyro", "", ("numpyro", "diffrax"), "1000 + 1000 draws, vectorized"),
    "numpyro_dense": Engine(
        "run_numpyro",
        "dense",
        ("numpyro", "diffrax"),
        "1000 + 1000 draws, vectorized, dense_mass=True",
        is_diagonal=False,
        left_out=NO_DENSE,
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
        left_out=NO_SOLVER,
    ),
    "pystan": Engine("run_pystan", "", ("pystan",), "defaults: 1000 + 1000 draws, chains in processes"),
    "blackjax": Engine(
        "run_blackjax",
        "",
        ("blackjax", "numpyro", "diffrax"),
        "1000 + 1000 draws, window_adaptation at its defaults, vectorized, NumPyro's density",
        left_out=NUMPYRO_STANDS,
        caches=COLD_ALONE,
    ),
    "blackjax_dense": Engine(
        "run_blackjax",
        "dense",
        ("blackjax", "numpyro", "diffrax"),
        "1000 + 1000 draws, window_adaptation with is_mass_matrix_diagonal=False, vectorized, NumPyro's density",
        is_diagonal=False,
        left_out={**NO_DENSE, **NUMPYRO_DENSE_STANDS},
    ),
    "blackjax_dense_parallel": Engine(
        "run_blackjax",
        "dense_parallel",
        ("blackjax", "numpyro", "diffrax"),
        "as blackjax_dense, by pmap on four host devices",
        is_diagonal=False,
        left_out={**NO_DENSE, **NUMPYRO_DENSE_STANDS},
        caches=COLD_ALONE,
    ),
    "pymc": Engine(
        "run_pymc",
        "",
        ("pymc",),
        "defaults: 1000 + 1000 draws, chains in processes on all cores, a thread of BLAS each",
        left_out={**NO_SOLVER, **NUTPIE_PYMC_STANDS},
        caches=COLD_ALONE,
    ),
    "pymc_dense": Engine(
        "run_pymc",
        "dense",
        ("pymc",),
        '1000 + 1000 draws, chains in processes on all cores, a thread of BLAS each, init="jitter+adapt_full"',
        is_diagonal=False,
        left_out={**NO_SOLVER, **NUTPIE_PYMC_STANDS},
    ),
    "nutpie_pymc": Engine(
        "run_nutpie",
        "pymc",
        ("nutpie", "pymc"),
        "defaults, PyMC's density through Numba",
        left_out={**NO_SOLVER, **NUTPIE_PYMC_STANDS},
        caches=COLD_ALONE,
    ),
    "nutpie": Engine(
        "run_nutpie",
        "",
        ("nutpie", "numpyro", "diffrax"),
        "defaults, NumPyro's density through JAX",
        left_out=NUTPIE_STANDS,
        caches=COLD_ALONE,
    ),
    "numpyro_parallel": Engine(
        "run_numpyro",
        "parallel",
        ("numpyro", "diffrax"),
        "1000 + 1000 draws, parallel on four host devices",
        left_out=NUMPYRO_STANDS,
        caches=COLD_ALONE,
    ),
    "numpyro_dense_parallel": Engine(
        "run_numpyro",
        "dense_parallel",
        ("numpyro", "diffrax"),
        "1000 + 1000 draws, parallel on four host devices, dense_mass=True",
        is_diagonal=False,
        left_out={**NO_DENSE, **NUMPYRO_DENSE_STANDS},
        caches=COLD_ALONE,
    ),
}
OURS = tuple(name for name in ENGINES if name.startswith("accord"))
PEERS = tuple(name for name in ENGINES if name not in OURS)
