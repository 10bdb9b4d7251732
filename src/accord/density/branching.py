"""Find the discrete sites of a model whose values decide which statements Python runs."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core import precision as precisions
from ..core.errors import ModelError, SiteError
from ..core.precision import Precision
from ..language import Model, Site
from ..language.choice import AbstractChoice, Chosen
from .data import split
from .support import bounds_of, is_discrete
from .tracing import attempt


@dataclass(frozen=True, eq=False)
class Branch:
    """A latent site by whose value the statements of a model differ.

    **Fields**
    - `name`; `where` it stands in the model.
    - `values` that it may have: arrays of its shape. `log_probs`: of each, given the sites before it; None where these
      depend on other unknowns.
    """

    name: str
    where: str
    values: tuple[np.ndarray, ...]
    log_probs: tuple[float, ...] | None


_MOST_SITES = 1000  # that a run in Python visits


class _Everything:
    """Contain every name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 1


def first_branch(
    model: Model, values: Mapping[str, Sequence[Any]], most: int, precision: Precision = "float64"
) -> Branch | None:
    """Return the first site whose value Python needs, or None where one program does for all values.

    The model is traced with the values of all sites known but one, for each site in turn: nothing is computed.

    **Arguments**: `values` to take of some sites, by name, in place of all there are; `most`, how many there may be.

    **Raises** `SiteError` for such a site that is continuous, has values without an end or more than `most`, or whose
    values differ by other unknowns; `ModelError` where the model cannot be traced even so.
    """
    template, data, _ = split(model, precision)
    everything = tuple(data)
    with precisions.scope(precision):
        if attempt(template, data, everything, precision, stand_in=_stand_in({})) is not None:
            return None
        seen: dict[str, bool] = {}
        visited: dict[str, Site] = {}
        known: Any = _Everything()
        whole = attempt(template, data, everything, precision, seen, known, _stand_in(visited))
        if whole is None:
            raise ModelError(
                f"infer.divide: the model {model.name!r} needs the number behind a value even where those of all its "
                "unknowns are known: in a loop of `ac.scan`, in a branch of `ac.cond`, or under a transformation of "
                "JAX. Write the branch in Python, outside of these."
            )
        needed = list(seen)
        for name in reversed(needed.copy()):
            fewer = [other for other in needed if other != name]
            if attempt(template, data, everything, precision, {}, fewer, _stand_in({})) is not None:
                needed = fewer
        first = needed[0]
        facts: list[Branch] = []

        def look(site: Site) -> None:
            if site.name == first:
                facts.append(_facts(site, whole.layout[first].shape, values.get(first), most))

        attempt(template, data, everything, precision, {}, needed, _stand_in({}, look))
    return facts[0]


def _stand_in(
    visited: dict[str, Site], look: Callable[[Site], None] | None = None
) -> Callable[[Site, Any], AbstractChoice]:
    """Choose possible values; `visited` is told of each site, and `look` is called with it."""

    def choose(settled: Site, zero: Any) -> Site:
        visited[settled.name] = settled
        if len(visited) > _MOST_SITES:  # as of `while`, until a coin shows heads
            raise ModelError(
                f"infer.divide: the model has more than {_MOST_SITES} unknowns where site {settled.name!r} (at "
                f"{settled.where}) is visited, and perhaps no end. Draw first how often a loop runs, as one site, such "
                "as `n = ac.sample('n', dist.Geometric(p))`, and loop over `range(n)`."
            )
        if look is not None:
            look(settled)
        distribution = settled.distribution
        assert distribution is not None
        shape = (*settled.batch_shape, *distribution.event_shape)
        dtype = jnp.result_type(int) if is_discrete(settled) else zero.dtype
        value = distribution.support.feasible_like(jnp.zeros(shape, dtype))
        # Traced wherever the number is: Python shall not see what stands for all values.
        return replace(settled, value=value + jnp.asarray(zero).astype(value.dtype))

    return lambda site, zero: Chosen(lambda settled: choose(settled, zero))


def _facts(site: Site, shape: tuple[int, ...], asked: Sequence[Any] | None, most: int) -> Branch:
    """Say which values a branching site may have, and how probable each is. `shape`: with the steps of scans."""
    distribution, word = site.distribution, f"infer.divide: site {site.name!r} (at {site.where})"
    assert distribution is not None
    if not is_discrete(site):
        raise SiteError(
            f"{word} decides by its value which statements Python runs, and it is continuous. Draw the branch as a "
            "site of its own, such as `is_high = ac.sample('is_high', dist.Bernoulli(p))`, and what lies on either "
            "side from a truncated distribution; or write `jnp.where`, where the sites are the same."
        )
    if shape != (*site.batch_shape, *distribution.event_shape):
        raise SiteError(
            f"{word} decides by its value which statements Python runs, and it is a site of each step of a scan, which "
            "are one program. Write `jnp.where` or `ac.cond` in the step, or the steps as a loop of Python."
        )
    if asked is None:
        single = _support(site, word)
        count = len(single) ** int(np.prod(shape))
        if count > most:
            raise SiteError(
                f"{word} has {count} values, each of which makes a program of its own, and at most {most} are run. "
                f"Name those that matter, `values={{{site.name!r}: [...]}}`, or raise `most`."
            )
        rows: Any = itertools.product(single, repeat=int(np.prod(shape)))
        found = tuple(np.reshape(np.array(row), shape) for row in rows)
    else:
        found = tuple(np.asarray(value) for value in asked)
        for value in found:
            if value.shape != shape:
                raise SiteError(
                    f"{word} has shape {shape}, and values[{site.name!r}] holds one of shape {value.shape}."
                )
    log_probs = [jnp.sum(distribution.log_prob(jnp.asarray(value))) for value in found]
    if any(isinstance(each, Tracer) for each in log_probs):
        return Branch(site.name, site.where, found, None)
    return Branch(site.name, site.where, found, tuple(float(each) for each in log_probs))


def _support(site: Site, word: str) -> list[int]:
    """Return the values that each entry of a site may have."""
    try:
        lower, upper = bounds_of(site)
    except SiteError:
        raise SiteError(
            f"{word} decides by its value which statements Python runs, and its values have no end, or are no whole "
            f"numbers. Name those that matter: `values={{{site.name!r}: range(10)}}`."
        ) from None
    if isinstance(lower, Tracer) or isinstance(upper, Tracer):
        raise SiteError(
            f"{word} decides by its value which statements Python runs, and which values it may have depends on "
            f"another unknown. Name those that matter: `values={{{site.name!r}: range(10)}}`."
        )
    ends = np.unique(np.asarray(lower)), np.unique(np.asarray(upper))
    if any(each.size > 1 for each in ends):
        raise SiteError(
            f"{word} decides by its value which statements Python runs, and its entries have different supports. "
            f"Name the values that matter: `values={{{site.name!r}: [...]}}`."
        )
    return list(range(int(ends[0][0]), int(ends[1][0]) + 1))
