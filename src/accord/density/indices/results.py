"""Describe how the results of an operation follow from the data, or what they depend on."""

from collections.abc import Sequence

from jax.extend import core

from ..dependence.provenance import through
from ..flat import Atom, Flat, Step
from ..host import CONTROL, is_computable
from .nodes import Held, Node, Unknown, made_of


def results(step: Step, given: tuple[Node, ...]) -> list[Node]:
    """Make the nodes of the results of an operation."""
    if not any(isinstance(node, Unknown) for node in given) and is_computable(step, exactly=False):
        is_exact = is_computable(step, exactly=True)
        return [made_of(step, given, number, is_exact=is_exact) for number in range(len(step.outputs))]
    return outputs(step, given)


def followed(flat: Flat, inputs: Sequence[Node]) -> list[Node]:
    """Make the nodes of the results of a program from those of its inputs."""
    known: dict[int, Node] = {place: Held(value) for place, value in flat.constants.items()}
    known.update(zip(flat.inputs, inputs, strict=True))

    def node(atom: Atom) -> Node:
        return Held(atom.val) if isinstance(atom, core.Literal) else known[atom]

    for step in flat.steps:
        known.update(zip(step.outputs, results(step, tuple(node(atom) for atom in step.inputs)), strict=True))
    return [node(atom) for atom in flat.outputs]


def outputs(step: Step, given: Sequence[Node]) -> list[Node]:
    """List what the results of an operation may depend on."""
    if step.name not in CONTROL and called(step) is None:
        return [_joined(step, given)] * len(step.outputs)
    return [
        _joined(step, [given[number] for number in seen])
        for seen in through(step.eqn, [{number} for number in range(len(given))])
    ]


def _joined(step: Step, nodes: Sequence[Node]) -> Unknown:
    """Make a node that depends on all of these nodes."""
    unknown = [node for node in nodes if isinstance(node, Unknown)]
    names = frozenset[str]().union(*(node.names for node in nodes if node.names))
    by = next((node.by for node in unknown if node.by), "") or ("" if unknown else step.name)
    parts = tuple(nodes) if step.name == "concatenate" else ()
    return Unknown(any(node.is_latent for node in unknown), names, by, parts)


def hidden(node: Node) -> Unknown:
    """Make a node of what a loop carries, which has another value in each turn."""
    return node if isinstance(node, Unknown) else Unknown(False, node.names, "scan")


def called(step: Step) -> core.ClosedJaxpr | None:
    """Return the function that an operation calls with just its own arguments, such as a part of a sum over devices."""
    for value in step.eqn.params.values():
        inner = getattr(value, "jaxpr", value)
        if (
            hasattr(inner, "eqns")
            and len(inner.invars) == len(step.inputs)
            and len(inner.outvars) == len(step.outputs)
        ):
            return value if isinstance(value, core.ClosedJaxpr) else core.ClosedJaxpr(inner, ())
    return None
