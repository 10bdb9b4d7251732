"""Resume chains whose last segment was written by another version of accord."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from accord.core.errors import StorageError
from accord.core.position import Position
from accord.core.tree import to_numpy
from accord.kernels import NUTS
from accord.mcmc.chain import Chain
from accord.mcmc.plan import Plan
from accord.mcmc.stored.restore import restore
from accord.mcmc.stretch import Stretch

PLAN = Plan(
    kernel=NUTS(),
    num_warmup=0,
    max_warmup=0,
    num_kept=10,
    seed=0,
    lanes=1,
    segment=10,
    thinning=1,
    precision="float64",
    dim=3,
)


def _stored(*, is_fresh: bool, without: str) -> Any:
    """A run of one chain, stored after draw 4 by a version whose kernel lacked the names that begin so."""
    chain = Chain.begin(PLAN, 0, Position(np.array([1.0, 2.0, 3.0])))
    kernel = replace(chain.state.kernel, is_fresh=np.bool_(is_fresh))
    state = replace(chain.state, kernel=kernel, draw=np.int32(4))
    fields = {
        "end_state": to_numpy(state),
        "fitted": PLAN.adaptation.stored(chain.fitted),
        "tuning": {},
        "total_gradients": 9,
        "num_warmup": 0,
        "is_settled": True,
        "tally": chain.tally,
    }
    stored = Stretch(0, "sample", 0, 4, {}, num_gradients=9, **fields).segment().end_state
    arrays = {name: value for name, value in stored.items() if not name.startswith(without)}
    segment = SimpleNamespace(end_state=arrays)
    return SimpleNamespace(last=lambda number: segment, segments=lambda number: [segment])


def test_a_chain_between_two_draws_needs_nothing_of_its_last_trajectory() -> None:
    (group,) = restore(_stored(is_fresh=True, without="state.kernel.tree."), PLAN, [0])
    (chain,) = group.chains  # pyright: ignore[reportAttributeAccessIssue]
    assert chain.state.draw == 4
    np.testing.assert_array_equal(chain.state.kernel.point.position.free, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("is_fresh", "without"),
    [(False, "state.kernel.tree."), (True, "state.kernel.point."), (True, "fitted.metric.")],
)
def test_a_state_that_lacks_what_the_next_draw_needs_is_refused(is_fresh: bool, without: str) -> None:
    with pytest.raises(StorageError, match=f"there is no '{without.partition('.')[2]}"):
        restore(_stored(is_fresh=is_fresh, without=without), PLAN, [0])
