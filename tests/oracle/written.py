"""Write a description as the code of an accord model, and run that code."""

from collections.abc import Iterator
from typing import Any

import description as d

HEAD = """import accord as ac
import accord.distributions as dist
import jax.numpy as jnp
import numpy as np
from accord import handlers, reparam

nan = np.nan
"""


def code(model: d.Description) -> str:
    """Python code that ends with the model bound to the name `target`."""
    lines = [HEAD, f"# description {model.seed}", "@ac.model", "def model():"]
    lines += [f"    {line}" for line in _block(model.body)]
    lines += ["", "target = model()"]
    if model.condition:
        lines.append(f"target = handlers.condition(target, {_mapping(model.condition)})")
    if model.do:
        lines.append(f"target = handlers.do(target, {_mapping(model.do)})")
    if model.centered or model.transformed:
        lines.append(f"target = handlers.reparam(target, {_ways(model.centered, model.transformed)})")
    if model.collapsed:
        lines.append(f"target = handlers.collapse(target, {list(model.collapsed)!r})")
    return "\n".join(lines) + "\n"


def built(model: d.Description) -> Any:
    """The accord model with its data."""
    names: dict[str, Any] = {}
    exec(compile(code(model), f"<description {model.seed}>", "exec"), names)
    return names["target"]


def _ways(centered: tuple[tuple[str, float], ...], transformed: tuple[str, ...] = ()) -> str:
    ways = [f"{name!r}: reparam.LocScale({share})" for name, share in centered]
    ways += [f"{name!r}: reparam.Transform()" for name in transformed]
    return "{" + ", ".join(ways) + "}"


def _mapping(values: tuple[tuple[str, d.Numbers], ...]) -> str:
    return "{" + ", ".join(f"{name!r}: {_expression(value)}" for name, value in values) + "}"


def _block(body: tuple[d.Statement, ...]) -> list[str]:
    return [line for statement in body for line in _statement(statement)]


def _within(head: str, body: tuple[d.Statement, ...]) -> Iterator[str]:
    yield head
    yield from (f"    {line}" for line in _block(body))


def _statement(statement: d.Statement) -> Iterator[str]:
    match statement:
        case d.Sample(name, family, data, obs_mask):
            parameters = ", ".join(f"{key}={_expression(value)}" for key, value in family.parameters)
            more = "" if data is None else f", obs={_expression(data)}"
            more += "" if obs_mask is None else f", obs_mask={_expression(obs_mask)}"
            yield f"{name} = ac.sample({name!r}, dist.{family.name}({parameters}){more})"
        case d.Deterministic(name, value):
            yield f"{name} = ac.deterministic({name!r}, {_expression(value)})"
        case d.Factor(name, value):
            yield f"ac.factor({name!r}, {_expression(value)})"
        case d.Plate(name, size, dim, body):
            yield from _within(f"with ac.plate({name!r}, {size}, dim={dim}):", body)
        case d.Mask(mask, body):
            yield from _within(f"with handlers.mask(mask={_expression(mask)}):", body)
        case d.Scale(scale, body):
            yield from _within(f"with handlers.scale(scale={_expression(scale)}):", body)
        case d.Submodel(name, arguments, body, result):
            yield "@ac.model"
            yield from _within(f"def part_{name}({', '.join(arguments)}):", body)
            yield f"    return {result}"
            yield f"{name} = ac.submodel(part_{name}({', '.join(arguments)}), prefix={name!r})"
        case d.Scan():
            yield from _scan(statement)
        case d.Cond(name, on, true, false, result):
            for side, body in (("true", true), ("false", false)):
                yield from _within(f"def {side}_{name}():", body)
                yield f"    return {result}"
            yield f"{name} = ac.cond({on} > 0, true_{name}, false_{name})"


def _scan(scan: d.Scan) -> Iterator[str]:
    yield f"def step_{scan.name}({scan.carry}, inputs):"
    for i, (name, _) in enumerate(scan.inputs):
        yield f"    {name} = inputs[{i}]"
    yield from (f"    {line}" for line in _block(scan.body))
    yield f"    return {scan.result}, None"
    inputs = ", ".join(_expression(value) for _, value in scan.inputs)
    xs = f"({inputs},)" if inputs else "None"
    step = f"step_{scan.name}"
    if scan.centered:
        yield f"{step} = handlers.reparam({step}, {_ways(scan.centered)})"
    yield (
        f"{scan.name}, _ = ac.scan({step}, jnp.asarray({_expression(scan.init)}), {xs}, {scan.length}, "
        f"reverse={scan.is_reverse}, name={scan.name + '_step'!r})"
    )


def _expression(expression: d.Expression) -> str:
    match expression:
        case d.Numbers(tuple() as value):
            return f"np.array({_list(value)})"
        case d.Numbers(value):
            return repr(value)
        case d.Of(name):
            return name
        case d.Element(name, index):
            return f"{name}[..., {index}]"
        case d.Taken(name, codes):
            return f"{name}[np.array({list(codes)})]"
        case d.Linear(shift, slope, of):
            return f"({shift} + {slope} * {_expression(of)})"
        case d.Bounded(shift, slope, of):
            return f"({shift} + {slope} * jnp.tanh({_expression(of)}))"
        case d.Positive(size, rate, of):
            return f"{size} * jnp.exp({rate} * jnp.tanh({_expression(of)}))"
        case d.Product(left, right):
            return f"{_expression(left)} * {_expression(right)}"


def _list(value: Any) -> str:
    return "[" + ", ".join(map(_list, value)) + "]" if isinstance(value, tuple) else repr(value)
