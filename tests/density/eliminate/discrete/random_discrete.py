"""Discrete models taken at random, and their sums over all combinations of values, computed by NumPy alone.

A model has classes of the whole, of groups, of members of groups and of steps of a scan. Each has up to two parents
among those before it, of its own group and step, of the whole, or its own value a step before. It is categorical, with
a table of log odds by the places of its parents, binomial or uniform, where the first parent adds to its largest value;
uniform ones begin anywhere. What is observed is normal around the unknown `a` times a sum of classes; it may be masked,
and the whole model scaled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

import accord as ac
import accord.distributions as dist
from accord import handlers

SHAPES = {"whole": (), "group": (2, 1), "member": (2, 2), "step": (3,)}
ABOVE = {
    "whole": ("whole",),
    "group": ("whole", "group"),
    "member": ("whole", "group", "member"),
    "step": ("whole", "step"),
}
MAX_COMBINATIONS = 20_000


@dataclass(frozen=True)
class Class:
    """A discrete site. **Fields**: `size`, its number of values without what a parent adds; `before`, sees itself."""

    name: str
    level: str
    kind: str
    low: int
    size: int
    parents: tuple["Class", ...]
    sees_itself: bool
    base: np.ndarray
    slope: np.ndarray

    @property
    def grows(self) -> bool:
        """Whether the first parent adds to its largest value."""
        return self.kind != "categorical" and bool(self.parents)

    @property
    def num_values(self) -> int:
        """The number of its values, at most."""
        return self.size + (self.parents[0].num_values - 1 if self.grows else 0)

    def distribution(self, a: Any, places: tuple[Any, ...]) -> Any:
        """Write it; `places`, of the parents, and then of itself a step before."""
        more = places[0] if self.grows else 0
        if self.kind == "uniform":
            return dist.DiscreteUniform(self.low, self.low + self.size - 1 + more)
        if self.kind == "binomial":
            return dist.Binomial(self.size - 1 + more, jax.nn.sigmoid(self._odds(a, places)))
        return dist.Categorical(logits=jnp.asarray(self.base)[places] + a * jnp.asarray(self.slope)[places])

    def log_prob(self, place: np.ndarray, a: complex, places: tuple[np.ndarray, ...]) -> np.ndarray:
        """Compute its log probability; -inf for a place beyond its values."""
        count = self.size + (places[0] if self.grows else 0)
        if self.kind == "uniform":
            found = -np.log(count)
        elif self.kind == "binomial":
            odds, rest = self._odds(a, places), np.maximum(count - 1 - place, 0)
            choose = gammaln(count) - gammaln(place + 1) - gammaln(rest + 1)
            found = choose - place * np.log1p(np.exp(-odds)) - rest * np.log1p(np.exp(odds))
        else:
            odds = np.broadcast_to(self.base[places] + a * self.slope[places], (*place.shape, self.size))
            chosen = np.take_along_axis(odds, np.minimum(place, self.size - 1)[..., None], -1)[..., 0]
            found = chosen - np.log(np.exp(odds).sum(-1))
        return np.where(place < count, found, -np.inf)

    def _odds(self, a: Any, places: tuple[Any, ...]) -> Any:
        return self.base.flat[0] + self.slope.flat[0] * a + 0.3 * sum(places)


@dataclass(frozen=True)
class Seen:
    """An observed site, normal around `a * sum(weights * values)`; `mask` has the shape of its level."""

    name: str
    level: str
    parents: tuple[Class, ...]
    weights: tuple[float, ...]
    data: np.ndarray
    mask: np.ndarray


@dataclass(frozen=True)
class Random:
    """A model taken at random."""

    classes: tuple[Class, ...]
    seen: tuple[Seen, ...]
    scale: float

    @staticmethod
    def of(seed: int) -> "Random":
        """Take one with few enough combinations."""
        random = np.random.default_rng(seed)
        while True:
            found = _taken(random)
            if found.num_combinations <= MAX_COMBINATIONS:
                return found

    @property
    def num_combinations(self) -> int:
        """Combinations of values of all entries."""
        return int(np.prod([float(c.num_values) ** np.prod(SHAPES[c.level]) for c in self.classes]))

    def model(self) -> Any:
        """Write the model."""
        of_steps = [each for each in self.classes if each.level == "step"]

        @ac.model
        def whole(data: Mapping[str, Any]) -> None:
            a = ac.sample("a", dist.Normal(0.0, 1.0))
            values: dict[str, Any] = {}
            self._visit("whole", a, values, {}, data)
            with ac.plate("groups", 2, dim=-2):
                self._visit("group", a, values, {}, data)
                with ac.plate("members", 2, dim=-1):
                    self._visit("member", a, values, {}, data)

            def step(before: Any, now: Any) -> tuple[Any, None]:
                inside = dict(values)
                self._visit("step", a, inside, before, now)
                return {each.name: inside[each.name] - each.low for each in of_steps}, None

            if any(each.level == "step" for each in self.seen):
                # A step before the first one has a place of its own in the tables, the last.
                start = {each.name: jnp.int32(each.num_values) for each in of_steps}
                ac.scan(
                    step,
                    start,
                    {each.name: data[each.name] for each in self.seen if each.level == "step"},
                    length=3,
                )

        model = whole({each.name: each.data for each in self.seen})
        return model if self.scale == 1 else handlers.scale(model, scale=self.scale)

    def _visit(
        self, level: str, a: Any, values: dict[str, Any], before: Any, data: Mapping[str, Any]
    ) -> None:
        for each in self.classes:
            if each.level == level:
                places = tuple(values[parent.name] - parent.low for parent in each.parents)
                places += (before[each.name],) if each.sees_itself else ()
                values[each.name] = ac.sample(each.name, each.distribution(a, places)).astype(jnp.int32)
        for each in self.seen:
            if each.level == level:
                mean = a * sum(w * values[p.name] for w, p in zip(each.weights, each.parents, strict=True))
                with handlers.mask(mask=True if level == "step" else each.mask):
                    ac.sample(each.name, dist.Normal(mean, 1.0), obs=data[each.name])

    def combinations(self) -> dict[str, np.ndarray]:
        """List the places of all entries in their supports, by site, shape `(combination, *site)`."""
        shapes = [SHAPES[each.level] for each in self.classes]
        counts = [
            each.num_values
            for each, shape in zip(self.classes, shapes, strict=True)
            for _ in range(int(np.prod(shape)))
        ]
        rows = np.stack(np.unravel_index(np.arange(self.num_combinations), counts), -1)
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        return {
            each.name: rows[:, end - int(np.prod(shape)) : end].reshape(-1, *shape)
            for each, shape, end in zip(self.classes, shapes, ends, strict=True)
        }

    def log_densities(self, a: complex) -> np.ndarray:
        """Compute the log density at each combination without the prior of `a` and without the scale."""
        places = self.combinations()
        total = np.zeros(self.num_combinations, complex)
        for each in self.classes:
            above = tuple(_at(places[p.name], p.level, each.level) for p in each.parents)
            if each.sees_itself:
                own = places[each.name]
                above += (np.concatenate([np.full((len(own), 1), each.num_values), own[:, :-1]], 1),)
            above = tuple(np.broadcast_to(p, places[each.name].shape) for p in above)
            total += _entries(each.log_prob(places[each.name], a, above))
        for each in self.seen:
            mean: Any = 0.0
            for weight, parent in zip(each.weights, each.parents, strict=True):
                mean = mean + a * weight * (_at(places[parent.name], parent.level, each.level) + parent.low)
            each_log = -0.5 * (each.data - mean) ** 2 - 0.5 * np.log(2 * np.pi)
            total += _entries(
                np.where(each.mask, np.broadcast_to(each_log, (len(total), *SHAPES[each.level])), 0.0)
            )
        return total

    def log_density(self, a: complex) -> Any:
        """Sum over all combinations; with the prior of `a`."""
        every = self.log_densities(a)
        largest = every.real.max()
        total = largest + np.log(np.exp(every - largest).sum())
        return self.scale * (total - 0.5 * a**2 - 0.5 * np.log(2 * np.pi))


def _entries(found: np.ndarray) -> np.ndarray:
    return found.reshape(len(found), -1).sum(-1)


def _at(values: np.ndarray, level: str, other: str) -> np.ndarray:
    """Give the values of a class to the entries of another level."""
    return values.reshape(len(values), *(SHAPES[level] or (1,) * len(SHAPES[other])))


def _taken(random: np.random.Generator) -> Random:
    classes: list[Class] = []
    for level, most in (("whole", 2), ("group", 1), ("member", 1), ("step", 2)):
        for number in range(random.integers(0, most + 1)):
            classes.append(_class(f"{level}_{number}", level, classes, random))
    seen = [_seen(level, classes, random) for level in SHAPES]
    scale = float(random.choice([1.0, 1.0, 2.0, 0.4]))
    found = Random(tuple(classes), tuple(each for each in seen if each.parents), scale)
    return found if found.classes and found.seen else _taken(random)


def _class(name: str, level: str, known: list[Class], random: np.random.Generator) -> Class:
    kind = str(random.choice(["categorical", "categorical", "binomial", "uniform"]))
    near = [each for each in known if each.level in ABOVE[level]]
    num_parents = min(len(near), int(random.integers(0, 3)))
    parents = tuple(near[i] for i in random.choice(len(near), num_parents, replace=False)) if near else ()
    sees_itself = level == "step" and kind == "categorical" and bool(random.random() < 0.8)
    size = int(random.integers(2, 4))
    low = int(random.integers(-2, 5)) if kind == "uniform" else 0
    shape = [each.num_values for each in parents] + ([size + 1] if sees_itself else [])
    return Class(
        name,
        level,
        kind,
        low,
        size,
        parents,
        sees_itself,
        random.normal(size=(*shape, size)),
        random.normal(size=(*shape, size)),
    )


def _seen(level: str, classes: list[Class], random: np.random.Generator) -> Seen:
    near = [each for each in classes if each.level in ABOVE[level]]
    parents = tuple(each for each in near if each.level == level or random.random() < 0.3)
    shape = SHAPES[level]
    weights = tuple(random.normal(size=len(parents)))
    mask = np.ones(shape, bool) if level == "step" else random.random(shape) < 0.8
    return Seen(f"{level}_seen", level, parents, weights, random.normal(size=shape), mask)
