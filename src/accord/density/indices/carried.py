"""Describe how what a scan carries follows from the data."""

from collections.abc import Sequence

from ...core.versions import parts_of_scan
from ..flat import Flat, Step, sliced
from ..host import is_computable
from .nodes import Carried, Known, Node, Unknown


def carried_by(step: Step, body: Flat, given: Sequence[Node], number: int, loop: int) -> Carried | None:
    """Make the node of what a scan carries; None if it needs what is not known, or an operation without a rule.

    **Arguments**
    - `body`: of the scan `step`. `given`: its inputs. `number`: which of what it carries. `loop`: its number.
    """
    params = step.eqn.params
    num_consts, num_carry = parts_of_scan(params)
    needed, part, seen = {number}, body, set[int]()
    while True:
        part = sliced(body, [body.outputs[each] for each in sorted(needed)])
        atoms = (*part.outputs, *(atom for each in part.steps for atom in each.inputs))
        read = {atom for atom in atoms if isinstance(atom, int)}
        seen = {place for place, name in enumerate(body.inputs) if name in read}
        more = needed | {place - num_consts for place in seen if num_consts <= place < num_consts + num_carry}
        if more == needed:
            break
        needed = more
    seen |= {num_consts + each for each in needed}
    if any(isinstance(given[place], Unknown) for place in seen):
        return None
    if not params["length"] or not all(is_computable(each, exactly=False) for each in part.steps):
        return None
    known = [_known(node) if place in seen else None for place, node in enumerate(given)]
    # What is not needed goes through as it is.
    ends = [
        body.outputs[each] if each in needed else body.inputs[num_consts + each] for each in range(num_carry)
    ]
    return Carried(
        sliced(part, ends),
        tuple(known[:num_consts]),
        tuple(known[num_consts : num_consts + num_carry]),
        tuple(known[num_consts + num_carry :]),
        number,
        loop,
        params["length"],
        params["reverse"],
        all(is_computable(each, exactly=True) for each in part.steps)
        and all(node is None or node.is_exact for node in known),
    )


def _known(node: Node) -> Known | None:
    return None if isinstance(node, Unknown) else node
