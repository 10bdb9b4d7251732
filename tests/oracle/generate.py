"""Make a description of a model from an integer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import description as d
import numpy as np

REALS = ("Normal", "StudentT", "Cauchy", "Laplace", "Logistic", "Gumbel")
POSITIVES = ("HalfNormal", "HalfCauchy", "Exponential", "Gamma", "InverseGamma", "LogNormal", "Weibull")
COUNTS = (
    "Poisson",
    "GammaPoisson",
    "ZeroInflatedPoisson",
    "BinomialLogits",
    "BernoulliLogits",
    "Categorical",
)
NAN = float("nan")


@dataclass(frozen=True)
class Variable:
    """Describe a value that later statements may use: its kind, and the plates that it has an axis for."""

    name: str
    kind: str  # real, positive, simplex or vector
    plates: tuple[tuple[int, int], ...]  # dim and size


def description(seed: int) -> d.Description:
    """The description of this number."""
    return _Maker(np.random.default_rng(seed)).make(seed)


class _Maker:
    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.count = 0
        self.known: list[Variable] = []
        self.plates: tuple[tuple[int, int], ...] = ()
        self.prefix = ""
        self.is_in_branch = self.is_in_scan = False
        self.shown: Any = True  # by the masks around
        self.of_step: dict[str, float] = {}  # `centered` of the sites of a step
        self.has_latents = False
        self.centered: dict[str, float] = {}
        self.transformed: list[str] = []
        self.condition: dict[str, d.Numbers] = {}
        self.do: dict[str, d.Numbers] = {}
        self.collapsed: tuple[str, ...] = ()

    def make(self, seed: int) -> d.Description:
        body = [self.latent(), *self.block(2, 5)]
        body += self.linear_effects() if self.chance(0.08) else self.finish()
        return d.Description(
            seed,
            tuple(body),
            tuple(self.centered.items()),
            tuple(self.transformed),
            self.collapsed,
            tuple(self.condition.items()),
            tuple(self.do.items()),
        )

    def finish(self) -> list[d.Statement]:
        return [self.observed()] if self.chance(0.5) else []

    # Chances.

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def one(self, *options: Any) -> Any:
        return options[self.rng.integers(len(options))]

    def number(self, low: float, high: float) -> float:
        return round(float(self.rng.uniform(low, high)), 2)

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    @property
    def batch(self) -> tuple[int, ...]:
        sizes = dict(self.plates)
        return tuple(sizes.get(dim, 1) for dim in range(min(sizes, default=0), 0))

    def array(
        self, draw: Callable[[tuple[int, ...]], Any], shape: tuple[int, ...] | None = None
    ) -> d.Numbers:
        return d.Numbers(_nested(draw(self.batch if shape is None else shape)))

    # Statements.

    def block(self, low: int, high: int) -> list[d.Statement]:
        return [self.statement() for _ in range(self.rng.integers(low, high + 1))]

    def statement(self) -> d.Statement:
        depth = len(self.plates)
        kinds: dict[Any, float] = {
            self.latent: 3,
            self.observed: 3,
            self.partly: 1.2,
            self.factor: 1.2,
            self.deterministic: 0.5,
            self.mask: 1.2,
            self.scale: 1.2,
        }
        if not self.is_in_scan and not self.is_in_branch:
            kinds |= {self.plate: 3 if depth == 0 else 1.5 if depth == 1 else 0, self.scan: 1.5}
            if not self.prefix:
                kinds[self.submodel] = 1.2
        if (
            not self.is_in_branch
            and not self.plates
            and not self.is_in_scan
            and self.usable("real", scalar=True)
        ):
            kinds[self.cond] = 2
        if self.is_in_branch or self.is_in_scan:
            del kinds[self.partly], kinds[self.deterministic]
        weights = np.array(list(kinds.values()))
        return list(kinds)[self.rng.choice(len(kinds), p=weights / weights.sum())]()

    def latent(self) -> d.Sample:
        kind = self.one("real", "real", "positive", "positive", "interval", "bounded", "vector")
        name = self.name("x")
        family, kind = self.family(kind)
        sample = d.Sample(name, family)
        self.add(name, kind)
        is_free = not self.is_in_branch and not self.is_in_scan
        if self.is_in_branch:
            pass
        elif family.name in REALS and self.chance(0.3):
            share = self.one(0.0, 0.0, 0.3, 0.75)
            if self.is_in_scan:
                self.of_step[name] = share
            else:
                self.centered[self.prefix + name] = share
        elif is_free and family.name == "LogNormal" and self.chance(0.5):
            self.transformed.append(self.prefix + name)
        elif is_free and family.name in REALS and self.has_latents and self.chance(0.08):
            given = self.one(self.condition, self.do)
            given[self.prefix + name] = self.array(lambda shape: np.round(self.rng.normal(0, 1, shape), 2))
        self.has_latents = True
        return sample

    def family(self, kind: str) -> tuple[d.Family, str]:
        match kind:
            case "real":
                name = self.one(*REALS)
                more = {"df": d.Numbers(self.number(2.5, 8))} if name == "StudentT" else {}
                return _family(name, **more, loc=self.real(), scale=self.positive()), "real"
            case "positive":
                name = self.one(*POSITIVES)
                return _family(name, **self.positive_parameters(name)), "positive"
            case "interval":
                if self.chance(0.5):
                    return _family(
                        "Beta", concentration1=self.positive(), concentration0=self.positive()
                    ), "positive"
                return _family(
                    "Uniform", low=d.Numbers(self.number(-2, -1)), high=d.Numbers(self.number(0, 2))
                ), "real"
            case "bounded":
                # The support depends on an unknown, where there is one.
                edge = self.positive()
                if self.chance(0.5):
                    return _family("Uniform", low=d.Numbers(0.0), high=edge), "positive"
                ends = self.one(
                    {"low": self.real()}, {"high": self.real()}, {"low": d.Numbers(-0.5), "high": edge}
                )
                return _family("TruncatedNormal", loc=self.real(), scale=self.positive(), **ends), "real"
            case _:
                if self.chance(0.5):
                    numbers = self.array(lambda shape: np.round(self.rng.uniform(0.5, 3, shape), 2), (3,))
                    return _family("Dirichlet", concentration=numbers), "simplex"
                factor = d.Numbers(((self.number(0.5, 2), 0.0), (self.number(-1, 1), self.number(0.5, 2))))
                loc = self.array(lambda shape: np.round(self.rng.normal(0, 1, shape), 2), (2,))
                return _family("MultivariateNormal", loc=loc, scale_tril=factor), "vector"

    def positive_parameters(self, name: str) -> dict[str, d.Expression]:
        match name:
            case "HalfNormal" | "HalfCauchy":
                return {"scale": self.positive()}
            case "Exponential":
                return {"rate": self.positive()}
            case "Gamma" | "InverseGamma":
                return {"concentration": self.positive(), "rate": self.positive()}
            case "LogNormal":
                return {"loc": self.real(), "scale": self.positive()}
            case _:
                return {"scale": self.positive(), "concentration": d.Numbers(self.number(0.7, 3))}

    def observed(self) -> d.Sample:
        name = self.name("y")
        family, draw = self.data_family()
        return d.Sample(name, family, self.array(lambda shape: self.hidden(draw(shape))))

    def data_family(self) -> tuple[d.Family, Callable[[tuple[int, ...]], np.ndarray]]:
        kind = self.one("real", "real", "positive", "count", "count")
        if kind != "count":
            family, _ = self.family(kind)
            if kind == "real":
                return family, lambda shape: np.round(self.rng.normal(0, 2, shape), 2)
            return family, lambda shape: np.round(self.rng.gamma(2, 1, shape) + 0.01, 2)
        match self.one(*COUNTS):
            case "Poisson":
                family = _family("Poisson", rate=self.positive())
            case "GammaPoisson":
                family = _family("GammaPoisson", concentration=self.positive(), rate=self.positive())
            case "ZeroInflatedPoisson":
                gate = d.Bounded(0.4, 0.3, self.real())
                family = _family("ZeroInflatedPoisson", gate=gate, rate=self.positive())
            case "BinomialLogits":
                family = _family("BinomialLogits", logits=self.real(), total_count=d.Numbers(7))
            case "BernoulliLogits":
                return _family("BernoulliLogits", logits=self.real()), lambda shape: self.rng.integers(
                    0, 2, shape
                )
            case _:
                simplex = self.usable("simplex")
                probs = d.Of(self.one(*simplex).name) if simplex else d.Numbers((0.2, 0.5, 0.3))
                return _family("Categorical", probs=probs), lambda shape: self.rng.integers(0, 3, shape)
        return family, lambda shape: self.rng.integers(0, 7, shape)

    def hidden(self, data: np.ndarray) -> np.ndarray:
        """Data with NaN where the masks around leave an entry out."""
        shown = np.broadcast_to(self.shown, data.shape)
        if data.dtype.kind != "f" or self.is_in_scan:
            return data
        return np.where(shown, data, NAN)

    def partly(self) -> d.Statement:
        if not self.plates:
            return self.observed()
        seen = self.rng.random(self.batch) < 0.6
        if seen.all() or not seen.any():
            seen.flat[0], seen.flat[-1] = True, False
        family, _ = self.family(self.one("real", "positive"))
        data = self.rng.gamma(2, 1, self.batch) + 0.01
        self.has_latents = True
        value = np.where(seen, np.round(data, 2), NAN)
        return d.Sample(self.name("y"), family, d.Numbers(_nested(value)), d.Numbers(_nested(seen)))

    def factor(self) -> d.Factor:
        whole = self.array(lambda shape: np.round(self.rng.uniform(0.5, 1.5, shape), 2))
        return d.Factor(self.name("f"), d.Product(whole, self.real()))

    def deterministic(self) -> d.Deterministic:
        name = self.name("d")
        return d.Deterministic(name, self.real())

    def mask(self) -> d.Mask:
        before = self.shown
        if self.is_in_scan or self.chance(0.1):
            mask = bool(self.chance(0.7))
            self.shown = before & np.array(mask)
            written = d.Numbers(mask)
        else:
            mask = self.rng.random(self.batch) < 0.6
            self.shown = before & mask
            written = d.Numbers(_nested(mask))
        body = tuple(self.inner())
        self.shown = before
        return d.Mask(written, body)

    def scale(self) -> d.Scale:
        positive = self.usable("positive")
        if positive and self.chance(0.2):
            scale: d.Expression = d.Of(self.one(*positive).name)
        elif self.chance(0.5):
            scale = self.array(lambda shape: np.round(self.rng.uniform(0.3, 3, shape), 2))
        else:
            scale = d.Numbers(self.number(0.3, 3))
        return d.Scale(scale, tuple(self.inner()))

    def inner(self) -> list[d.Statement]:
        return self.block(1, 2)

    def plate(self) -> d.Plate:
        taken = dict(self.plates)
        dim = next(each for each in self.one((-1, -2), (-2, -1)) if each not in taken)
        size = int(self.rng.integers(2, 4))
        before, self.plates = self.plates, (*self.plates, (dim, size))
        name = self.name("p")
        body = tuple(self.block(1, 3))
        self.plates = before
        return d.Plate(name, size, dim, body)

    def submodel(self) -> d.Submodel:
        name = self.name("m")
        # Its own variables, and those that it is called with.
        before, kept = self.known, [v for v in self.known if self.is_usable(v)]
        arguments = [v for v in kept if self.chance(0.5)]
        self.known, self.prefix = list(arguments), f"{name}/"
        body = (*self.inner(), self.latent())
        result = self.known[-1]
        self.known, self.prefix = [*before, replace(result, name=name)], ""
        return d.Submodel(name, tuple(v.name for v in arguments), body, result.name)

    def scan(self) -> d.Scan:
        name, carry, length = self.name("s"), self.name("c"), int(self.rng.integers(2, 5))
        init = self.real_of_batch()
        before, self.is_in_scan = list(self.known), True
        self.add(carry, "real")
        inputs: list[tuple[str, d.Numbers]] = []
        state = d.Sample(
            self.name("x"), _family("Normal", loc=d.Linear(0.1, 0.8, d.Of(carry)), scale=self.positive())
        )
        if self.chance(0.3):
            self.of_step[state.name] = self.one(0.0, 0.5)
        self.add(state.name, "real")
        self.has_latents = True
        body: list[d.Statement] = [state, *(self.block(0, 1))]
        if self.chance(0.8):
            body.append(self.observed_by_step(inputs, length, state.name))
        centered, self.of_step = tuple(self.of_step.items()), {}
        self.known, self.is_in_scan = before, False
        self.add(name, "real")
        is_reverse = self.chance(0.3)
        return d.Scan(name, length, is_reverse, init, tuple(inputs), carry, tuple(body), state.name, centered)

    def observed_by_step(self, inputs: list[tuple[str, d.Numbers]], length: int, state: str) -> d.Statement:
        data, shape = self.name("data"), (length, *self.batch)
        family = _family("Normal", loc=d.Of(state), scale=self.positive())
        values = np.round(self.rng.normal(0, 1, shape), 2)
        sample = d.Sample(self.name("y"), family, d.Of(data))
        if self.chance(0.4):
            shown, mask = self.rng.random(shape) < 0.6, self.name("mask")
            inputs += [
                (data, d.Numbers(_nested(np.where(shown, values, NAN)))),
                (mask, d.Numbers(_nested(shown))),
            ]
            return d.Mask(d.Of(mask), (sample,))
        inputs.append((data, d.Numbers(_nested(values))))
        return sample

    def cond(self) -> d.Cond:
        on = self.one(*self.usable("real", scalar=True)).name
        name, result = self.name("b"), self.name("x")
        kind = self.one("real", "positive")
        data = self.name("y")
        values = d.Numbers(self.number(0.1, 3))
        before = list(self.known)
        self.is_in_branch, sides = True, []
        for _ in range(2):
            self.known = list(before)
            family, _ = self.family(kind)
            self.add(result, kind)
            observed, _ = self.family("real")
            body: list[d.Statement] = [d.Sample(result, family), d.Sample(data, observed, values)]
            if self.chance(0.3):
                body[1] = d.Scale(d.Numbers(self.number(0.3, 2)), (body[1],))
            if self.chance(0.3):
                body.append(self.factor())
            sides.append(tuple(body))
        self.known, self.is_in_branch = before, False
        self.add(name, kind)
        return d.Cond(name, on, sides[0], sides[1], result)

    def linear_effects(self) -> list[d.Statement]:
        """Effects of groups, and data that are normal and linear in them: the effects are to be integrated out."""
        theta, size, rows = self.name("x"), 3, 5
        codes = tuple(int(code) for code in self.rng.integers(0, size, rows))
        prior = d.Plate(
            self.name("p"),
            size,
            -1,
            (d.Sample(theta, _family("Normal", loc=self.real(), scale=self.positive())),),
        )
        mean = d.Linear(self.number(-1, 1), self.number(0.5, 1.5), d.Taken(theta, codes))
        values = self.array(lambda shape: np.round(self.rng.normal(0, 1, shape), 2), (rows,))
        data: d.Statement = d.Sample(
            self.name("y"), _family("Normal", loc=mean, scale=self.positive()), values
        )
        if self.chance(0.3):
            data = d.Scale(d.Numbers(self.number(0.5, 2)), (data,))
        self.collapsed = (theta,)
        return [prior, d.Plate(self.name("p"), rows, -1, (data,))]

    # Expressions.

    def add(self, name: str, kind: str) -> None:
        self.known.append(Variable(name, kind, tuple(sorted(self.plates))))

    def is_usable(self, variable: Variable) -> bool:
        return set(variable.plates) <= set(self.plates)

    def usable(self, kind: str, scalar: bool = False) -> list[Variable]:
        found = [v for v in self.known if v.kind == kind and self.is_usable(v)]
        return [v for v in found if not v.plates] if scalar else found

    def source(self) -> d.Expression | None:
        """Some known variable, as real numbers."""
        options: list[d.Expression] = [
            d.Of(v.name) for kind in ("real", "positive") for v in self.usable(kind)
        ]
        options += [d.Element(v.name, 1) for kind in ("vector", "simplex") for v in self.usable(kind)]
        sizes = dict(self.plates)
        options += [
            d.Taken(v.name, tuple(int(code) for code in self.rng.integers(0, v.plates[0][1], sizes[-1])))
            for v in self.known
            if len(v.plates) == 1
            and v.plates[0][0] == -1
            and -1 in sizes
            and not self.is_usable(v)
            and v.kind in ("real", "positive")
        ]
        return self.one(*options) if options else None

    def real(self) -> d.Expression:
        of = self.source()
        if of is None or self.chance(0.25):
            return d.Numbers(self.number(-1, 1))
        if self.chance(0.4):
            return d.Linear(self.number(-1, 1), self.number(-0.7, 0.7), of)
        return d.Bounded(self.number(-1, 1), self.number(-1.5, 1.5), of)

    def positive(self) -> d.Expression:
        of = self.source()
        if of is None or self.chance(0.3):
            return d.Numbers(self.number(0.5, 3))
        return d.Positive(self.number(0.5, 2), self.number(-0.7, 0.7), of)

    def real_of_batch(self) -> d.Expression:
        """The first carry, which has the shape of every other."""
        return self.array(lambda shape: np.round(self.rng.normal(0, 1, shape), 2))


def _family(name: str, **parameters: d.Expression) -> d.Family:
    return d.Family(name, tuple(parameters.items()))


def _nested(value: Any) -> Any:
    value = np.asarray(value)
    return tuple(map(_nested, value)) if value.ndim else value.item()
