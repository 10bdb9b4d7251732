"""Read a description in NumPy: its log density by site at a point, with the Jacobians, and the values of its sites.

Nothing here knows of accord but the names under which it keeps what it samples: `x_base` for a site that is
reparameterised, `x_unobserved` for missing entries, `part/x` for a site of a submodel, the steps of a scan as the first
axis, and one position with all unknowns in the order of the statements.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import description as d
import numpy as np
from formulas import LAWS, mapped

Draw = Callable[[tuple[int, ...]], np.ndarray]


@dataclass
class Point:
    """Free numbers by unknown, in the order in which they are asked for: new ones, or those of a given position."""

    rng: np.random.Generator | None = None
    position: Sequence[float] = ()
    pieces: dict[str, np.ndarray] = field(default_factory=dict)
    read: int = 0

    def piece(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name not in self.pieces:
            size = int(np.prod(shape))
            if self.rng is not None:
                found = self.rng.normal(0.0, 0.8, size)
            else:
                found = np.asarray(self.position[self.read : self.read + size])
            self.read += size
            self.pieces[name] = np.reshape(found, shape)
        return self.pieces[name]

    @property
    def whole(self) -> np.ndarray:
        return np.concatenate([np.ravel(piece) for piece in self.pieces.values()])


@dataclass
class Read:
    """What was found: by site its term, the sum of the sizes of what was added up, its entries and its value."""

    terms: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    entries: dict[str, list[np.ndarray]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def log_density(self) -> float:
        return float(sum(self.terms.values()))

    @property
    def size(self) -> float:
        return float(sum(self.sizes.values()))


def read(model: d.Description, point: Point) -> Read:
    """The terms and values of a description at a point; a collapsed site is integrated out, as `collapsed`."""
    if not model.collapsed:
        return _Walk(model, point).run(model.body)
    (name,) = model.collapsed
    shape = _Walk(model, Point(rng=np.random.default_rng(0))).run(model.body).values[name].shape
    size = int(np.prod(shape))

    def at(theta: np.ndarray) -> Read:
        return _Walk(model, point, {name: np.reshape(theta, shape)}).run(model.body)

    # The log density is a quadratic of theta, so that its values at a few points give all of it.
    unit = np.eye(size)
    middle = at(np.zeros(size))
    plus = np.array([at(unit[i]).log_density for i in range(size)])
    minus = np.array([at(-unit[i]).log_density for i in range(size)])
    gradient = (plus - minus) / 2
    minus_hessian = -np.diag(plus + minus - 2 * middle.log_density)
    for i in range(size):
        for j in range(i):
            cross = at(unit[i] + unit[j]).log_density - plus[i] - plus[j] + middle.log_density
            minus_hessian[i, j] = minus_hessian[j, i] = -cross
    best = np.linalg.solve(minus_hessian, gradient)
    found = at(best)
    found.terms["collapsed"] = size / 2 * np.log(2 * np.pi) - np.linalg.slogdet(minus_hessian)[1] / 2
    found.sizes["collapsed"] = abs(found.terms["collapsed"])
    return found


class _Walk:
    def __init__(self, model: d.Description, point: Point, fixed: dict[str, np.ndarray] | None = None):
        self.model, self.point, self.fixed = model, point, fixed or {}
        self.centered, self.given, self.do = dict(model.centered), dict(model.condition), dict(model.do)
        self.found = Read()
        self.variables: dict[str, Any] = {}
        self.prefix = ""
        self.plates: dict[int, int] = {}
        self.masks: list[Any] = []
        self.scales: list[Any] = []
        self.step: tuple[int, int] | None = None  # which step, of how many

    def run(self, body: tuple[d.Statement, ...]) -> Read:
        self._block(body)
        return self.found

    def _block(self, body: tuple[d.Statement, ...]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: d.Statement) -> None:
        match statement:
            case d.Sample():
                self._sample(statement)
            case d.Deterministic(name, value):
                self._set(name, self._value(value))
            case d.Factor(name, value):
                self._add(self.prefix + name, self._value(value), None, is_whole=not self.plates)
            case d.Plate(_, size, dim, body):
                before = dict(self.plates)
                self.plates[dim] = size
                self._block(body)
                self.plates = before
            case d.Mask(mask, body):
                with _pushed(self.masks, True if mask == d.Numbers(True) else self._value(mask)):
                    self._block(body)
            case d.Scale(scale, body):
                with _pushed(self.scales, self._value(scale)):
                    self._block(body)
            case d.Submodel(name, _, body, result):
                before, self.prefix = self.prefix, f"{self.prefix}{name}/"
                self._block(body)
                self.prefix = before
                self.variables[name] = self.variables[result]
            case d.Scan():
                self._scan(statement)
            case d.Cond(name, on, true, false, result):
                for factor in (each.name for each in (*true, *false) if isinstance(each, d.Factor)):
                    self.found.terms[self.prefix + factor] = self.found.sizes[self.prefix + factor] = 0.0
                self._block(true if self.variables[on] > 0 else false)
                self.variables[name] = self.variables[result]

    def _scan(self, scan: d.Scan) -> None:
        self.centered |= {self.prefix + name: share for name, share in scan.centered}
        carry = self._value(scan.init)
        inputs = {name: np.asarray(value.value) for name, value in scan.inputs}
        order = range(scan.length)
        for t in reversed(order) if scan.is_reverse else order:
            self.step = (t, scan.length)
            self.variables[scan.carry] = carry
            self.variables |= {name: value[t] for name, value in inputs.items()}
            self._block(scan.body)
            carry = self.variables[scan.result]
        self.step = None
        self.variables[scan.name] = carry

    def _sample(self, sample: d.Sample) -> None:
        name = self.prefix + sample.name
        law = LAWS[sample.family.name]
        parameters = {key: self._value(value) for key, value in sample.family.parameters}
        event = () if law.length is None else (law.length,)
        data = self.given.get(name, sample.data)
        if name in self.do:
            self._set(sample.name, np.asarray(self.do[name].value))
            return
        if data is not None and sample.obs_mask is None:
            value = self._value(data)
            self._set(sample.name, value)
            self._add(name, law.log_density(value, **parameters), None)
            return
        if sample.obs_mask is not None:
            self._partly(sample, name, law, parameters)
            return
        free = (*event[:-1], event[0] - (law.map == "simplex")) if event else ()
        if name in self.fixed:
            value = self.fixed[name]
            self._set(sample.name, value)
            self._add(name, law.log_density(value, **parameters), None)
        elif name in self.centered:
            share, loc, scale = self.centered[name], parameters["loc"], parameters["scale"]
            base = {**parameters, "loc": share * loc, "scale": scale**share}
            z = self._piece(f"{name}_base", free)
            value, log_slope = loc + scale ** (1 - share) * (z - share * loc), (1 - share) * np.log(scale)
            self._by_way(
                sample.name, law.log_density, parameters, z, law.log_density(z, **base), value, log_slope
            )
        elif name in self.model.transformed:
            z = self._piece(f"{name}_base", free)
            normal = LAWS["Normal"].log_density(z, **parameters)
            self._by_way(sample.name, law.log_density, parameters, z, normal, np.exp(z), z)
        else:
            value, log_det = mapped(law.map, self._piece(name, free), parameters)
            self._set(sample.name, value)
            self._add(name, law.log_density(value, **parameters), log_det)

    def _by_way(
        self,
        local: str,
        log_density: Any,
        parameters: dict[str, Any],
        base: Any,
        log_density_of_base: Any,
        value: Any,
        log_slope: Any,
    ) -> None:
        """A site that follows from another: weights are those of its own density, and not of the Jacobian."""
        name = self.prefix + local
        if self.scales or not all(mask is True for mask in self.masks):
            self._add(name, log_density(value, **parameters), None)
            self._add(f"{name}_base", 0.0, np.broadcast_to(log_slope, np.shape(value)))
        else:
            self._add(f"{name}_base", log_density_of_base, None)
        self._set(f"{local}_base", base)
        self._set(local, value)

    def _partly(self, sample: d.Sample, name: str, law: Any, parameters: dict[str, Any]) -> None:
        """The entries that are not observed are unknowns in a row, and in their places in the value."""
        seen = np.broadcast_to(np.asarray(sample.obs_mask.value), self._batch)
        bounds = {key: np.broadcast_to(value, self._batch)[~seen] for key, value in parameters.items()}
        missing, log_det = mapped(law.map, self._piece(f"{name}_unobserved", (), int((~seen).sum())), bounds)
        value = np.array(np.broadcast_to(np.asarray(sample.data.value, float), self._batch))
        value[~seen] = missing
        entries = law.log_density(value, **parameters)
        with _pushed(self.masks, ~seen):
            self._add(f"{name}_unobserved", entries, log_det)
        with _pushed(self.masks, seen):
            self._add(name, entries, None)
        self._set(f"{sample.name}_unobserved", missing)
        self._set(sample.name, value, is_drawn=False)

    @property
    def _batch(self) -> tuple[int, ...]:
        rank = max((-dim for dim in self.plates), default=0)
        return tuple(self.plates.get(dim, 1) for dim in range(-rank, 0))

    def _piece(self, name: str, event: tuple[int, ...], count: int | None = None) -> np.ndarray:
        shape = (*self._batch, *event) if count is None else (count,)
        if self.step is None:
            return self.point.piece(name, shape)
        t, length = self.step
        return self.point.piece(name, (length, *shape))[t]

    def _add(self, name: str, entries: Any, log_det: Any, is_whole: bool = False) -> None:
        """Weigh and mask what the entries of a batch add, and leave Jacobians as they are."""
        entries = np.asarray(entries) if is_whole else np.broadcast_to(entries, self._batch)
        for scale in self.scales:
            entries = entries * scale
        for mask in self.masks:
            entries = np.where(mask, entries, 0.0)
        log_det = np.zeros(()) if log_det is None else log_det
        self.found.terms[name] = self.found.terms.get(name, 0.0) + entries.sum() + np.sum(log_det)
        size = np.abs(entries).sum() + np.abs(log_det).sum()
        self.found.sizes[name] = self.found.sizes.get(name, 0.0) + size
        self._by_step(self.found.entries, name, entries)

    def _set(self, name: str, value: Any, is_drawn: bool = True) -> None:
        self.variables[name] = value
        if is_drawn:
            self._by_step(self.found.values, self.prefix + name, value)

    def _by_step(self, found: dict[str, Any], name: str, value: Any) -> None:
        if self.step is None:
            found[name] = np.asarray(value)
            return
        t, length = self.step
        found.setdefault(name, np.zeros((length, *np.shape(value))))[t] = value

    def _value(self, expression: d.Expression) -> Any:
        match expression:
            case d.Numbers(value):
                return np.asarray(value)
            case d.Of(name):
                return self.variables[name]
            case d.Element(name, index):
                return self.variables[name][..., index]
            case d.Taken(name, codes):
                return self.variables[name][list(codes)]
            case d.Linear(shift, slope, of):
                return shift + slope * self._value(of)
            case d.Bounded(shift, slope, of):
                return shift + slope * np.tanh(self._value(of))
            case d.Positive(size, rate, of):
                return size * np.exp(rate * np.tanh(self._value(of)))
            case d.Product(left, right):
                return self._value(left) * self._value(right)


@contextmanager
def _pushed(stack: list[Any], entry: Any) -> Iterator[None]:
    stack.append(entry)
    yield
    stack.pop()


def gradient(model: d.Description, position: np.ndarray, step: float = 1e-2) -> np.ndarray:
    """Derivatives by central differences of order eight.

    A density with a kink, such as that of a Laplace distribution, has no such differences across it. Where those of a
    sixteenth of the step differ by far more than their errors, the longer ones have crossed a kink, and the shorter
    ones are taken.
    """
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}

    def along(i: int, distance: float) -> float:
        moved = np.array(position)
        moved[i] += distance
        return read(model, Point(position=moved)).log_density

    def slope(i: int, step: float) -> float:
        return sum(w * (along(i, k * step) - along(i, -k * step)) for k, w in weights.items()) / step

    def checked(i: int) -> float:
        long, short = slope(i, step), slope(i, step / 16)
        return long if abs(long - short) <= 1e-5 * (1 + abs(short)) else short

    return np.array([checked(i) for i in range(len(position))])
