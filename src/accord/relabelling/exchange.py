"""Check that a model cannot tell components apart: its density is the same where they have changed places."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import ModelError, OptionError
from ..density import LogDensity
from ..density.joint import model_of
from ..density.weights import MAP
from ..mcmc.draws import Draws
from ..predictive.source import float_values
from ..predictive.unconstrained import over_rows
from ..report.components import Axes, in_words, reorder, size_of

_NUM_DRAWS = 5  # at which it is checked
_CLOSE = {"float64": 1e-7, "float32": 1e-4}  # of the log density, and in nats
_MOST = 0.1  # nats
_EDGE = 1e-6  # of a share

Values = Mapping[str, np.ndarray]


def density_of(draws: Draws) -> LogDensity:
    """Return the log density of a run. **Raises** `OptionError` for a run without its model, or without draws."""
    if not isinstance(draws, Draws):
        raise OptionError(f"infer.relabel takes the draws of infer.sample; got {type(draws).__name__}.")
    if draws.density is None:
        raise OptionError(
            "infer.relabel: these draws have no model, which is to say whether labels are arbitrary. Load them with "
            "it, infer.resume(path, model(...)), or sample again."
        )
    if draws.num_draws == 0:
        raise OptionError("infer.relabel: there are no draws. See `draws.notices`.")
    return draws.density


def exchangeable(draws: Draws, candidates: Sequence[Axes], what: str) -> Axes:
    """Return the first candidate along which the components of a model may change places.

    Two permutations make all others: the exchange of the first two components, and moving each one on by a place. So a
    density that either leaves as it is, at any place, depends on no order. A model is evaluated in double precision,
    where the sum over many observations hides no difference between priors.

    **Raises** `ModelError` if there is none.
    """
    density = in_double(density_of(draws))
    chosen = _some(draws, [entry.name for entry in density.layout.unknowns], candidates)
    shapes = {name: values.shape for name, values in chosen.items()}
    evaluate = _evaluator(density, _height, _rows(chosen))
    heights = evaluate(_rows(chosen))
    allowed = np.minimum(_CLOSE[density.program.precision] * (1 + np.abs(heights)), _MOST)
    changes = []
    for axes in candidates:
        gaps = []
        for order in _generators(size_of(axes, shapes)):
            moved = {
                name: reorder(each, axes[name], order) if name in axes else each
                for name, each in chosen.items()
            }
            with np.errstate(invalid="ignore"):  # outside of the support
                gaps.append(np.abs(evaluate(_rows(moved)) - heights))
        if np.all(gaps <= allowed):
            return axes
        changes.append(float(np.max(np.nan_to_num(gaps, nan=np.inf, posinf=np.inf))))
    least = int(np.argmin(changes))
    change = f"changes by {changes[least]:.3g}" if np.isfinite(changes[least]) else "is not finite"
    whole = ", ".join(repr(entry.name) for entry in density.layout.whole)
    labels = f" Labels that are drawn as whole numbers, as perhaps {whole}, cannot be matched: have them summed out."
    raise ModelError(
        f"infer.relabel: the model tells {what} apart, so that they must keep their places: its log density {change} "
        f"where they change places along {in_words(candidates[least])}. Either their priors or an order differ, which "
        "is then what names them; or a site is missing that belongs to them. Give the axes of all sites that do, as in "
        f"infer.relabel(draws, {{'mu': 0, 'weights': 0}}); of a matrix of transitions, (0, 1).{labels if whole else ''}"
    )


def in_double(density: LogDensity) -> LogDensity:
    """Return the density of a model in double precision; that of a function as it is."""
    if density.program.whole is None or density.program.precision == "float64":
        return density
    return LogDensity.from_model(model_of(density), "float64")


def computed_again(density: LogDensity, values: Values, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Compute sites from the unknowns, shape `(chain, draw, *site)`; labels that are summed out are drawn anew."""
    if not names:
        return {}
    shape = next(iter(values.values())).shape[:2]

    def compute(density: LogDensity, row: Any) -> Any:
        found = density.constrain(density.unconstrain(row))
        return {name: found[name] for name in names}

    found = _evaluator(density, compute, _rows(values))(_rows(values))
    return {name: found[name].reshape(*shape, *found[name].shape[1:]) for name in names}


def _height(density: LogDensity, row: Any) -> Any:
    """Return the log density in the model's space, where no Jacobian depends on the order."""
    return density.value(density.unconstrain(row), MAP)


def _rows(values: Values) -> dict[str, np.ndarray]:
    return {name: each.reshape(-1, *each.shape[2:]) for name, each in values.items()}


def _evaluator(density: LogDensity, function: Any, example: Values) -> Callable[[Values], Any]:
    """Compile a function of density and values of unknowns, for rows of them."""
    precision = density.program.precision

    def cast(rows: Values) -> dict[str, np.ndarray]:
        return {name: float_values(values, precision) for name, values in rows.items()}

    program = over_rows(density, precision, function, cast(example))
    return lambda rows: program(cast(rows))


def _some(draws: Draws, names: Sequence[str], candidates: Sequence[Axes]) -> dict[str, np.ndarray]:
    """Return a few draws, evenly from all, as if of one chain.

    What may be a share is not next to nothing in them, of which the rest is rounded to one.
    """
    shares = {name for axes in candidates for name, some in axes.items() if not some}
    inside = np.ones(draws.stats.shape("lp")[:2], bool)
    for name in shares:
        values = draws[name].reshape(*inside.shape, -1)
        inside &= np.all((values > _EDGE) & (values < 1 - _EDGE), axis=2)
    chains, numbers = np.nonzero(inside) if inside.any() else np.nonzero(~inside)
    chosen = np.linspace(0, len(chains) - 1, _NUM_DRAWS).astype(int)
    return {name: draws[name][chains[chosen], numbers[chosen]][None] for name in names}


def _generators(size: int) -> list[np.ndarray]:
    orders = np.r_[1, 0, 2:size], np.roll(np.arange(size), 1)
    return [np.broadcast_to(order, (1, _NUM_DRAWS, size)) for order in orders]
