"""Repeat statements along a batch dimension, by NumPyro's `plate`."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import ModelError, OptionError, SiteError
from .messages import CondIndepStackFrame, Message, Messenger, apply_stack


class plate(Messenger):  # noqa: N801 - NumPyro's name
    """Repeat the statements inside of a `with` as `size` independent copies, along one batch dimension.

    **Arguments**
    - `name`: of the dimension.
    - `size`: number of copies, at least 1.
    - `subsample_size`: how many of them to take at random, with log densities scaled up accordingly; None is all.
    - `dim`: the batch dimension, counted from the right; None is the first free one.

    **Raises** `OptionError` for a size or dim that cannot be; `ModelError` for a dim that a plate around has taken.
    """

    enters_scans = True

    def __init__(
        self, name: str, size: int, subsample_size: int | None = None, dim: int | None = None
    ) -> None:
        if size <= 0:
            raise OptionError(f"plate {name!r}: the size must be at least 1, got {size}.")
        if dim is not None and dim >= 0:
            raise OptionError(f"plate {name!r}: dim counts from the right, -1, -2, ...; got {dim!r}.")
        self.name, self.size = name, int(size)
        is_whole = subsample_size is None or subsample_size == size
        msg: Message = {
            "type": "plate",
            "fn": _part,
            "name": name,
            "args": (self.size, subsample_size),
            "kwargs": {"rng_key": None},
            "value": jnp.arange(self.size) if is_whole else None,
            "scale": 1.0,
            "cond_indep_stack": [],
        }
        apply_stack(msg)
        self._indices = msg["value"]
        taken = {frame.dim for frame in msg["cond_indep_stack"]}
        if dim is None:
            dim = next(-i for i in range(1, len(taken) + 2) if -i not in taken)
        elif dim in taken:
            raise ModelError(
                f"plate {name!r}: dim {dim} belongs to a plate around it. Leave dim out, or give a free one."
            )
        self.dim = dim
        self.subsample_size = int(self._indices.shape[0])
        super().__init__()

    def __enter__(self) -> Any:
        super().__enter__()
        return self._indices

    def process_message(self, msg: Message) -> None:
        """Add the dimension to what is inside."""
        if msg["type"] == "control_flow":
            raise ModelError(
                f"a scan or cond is inside of the plate {self.name!r}. NumPyro cannot map one over a plate: move the "
                "plate into the step. In a model of accord, `ac.scan` may be inside of `ac.plate`."
            )
        if msg["type"] not in ("param", "sample", "plate", "deterministic"):
            return
        if self.name in msg.get("infer", {}).get("block_plates", ()):
            return
        msg["cond_indep_stack"].append(CondIndepStackFrame(self.name, self.dim, self.subsample_size))
        if msg["type"] == "deterministic":
            return
        if msg["type"] == "sample":
            own = (*msg["kwargs"].pop("sample_shape", ()), *msg["fn"].batch_shape)
            msg["kwargs"]["sample_shape"] = ()
            plates = plate_shape(msg["cond_indep_stack"])
            try:
                batch = np.broadcast_shapes(own, plates)
            except ValueError:
                raise SiteError(
                    f"site {msg['name']!r}: its distribution has batch shape {own}, and the plates around it make "
                    f"{plates}. Plate {self.name!r} has size {self.subsample_size} at dim {self.dim}."
                ) from None
            msg["fn"] = msg["fn"] if batch == tuple(msg["fn"].batch_shape) else msg["fn"].expand(batch)
        if self.size != self.subsample_size:
            weight = self.size / self.subsample_size
            msg["scale"] = weight if msg["scale"] is None else msg["scale"] * weight

    def postprocess_message(self, msg: Message) -> None:
        """Take the entries of data and parameters that the plate has drawn."""
        if msg["type"] not in ("subsample", "param") or msg["kwargs"].get("event_dim") is None:
            return
        axis = self.dim - msg["kwargs"]["event_dim"]
        shape = jnp.shape(msg["value"])
        if len(shape) < -axis or shape[axis] == 1:
            return
        if shape[axis] != self.size:
            what = f"param {msg['name']!r}" if msg["type"] == "param" else "subsample(data)"
            raise SiteError(
                f"{what} has shape {shape}, but the plate {self.name!r} is over {self.size} entries at dim {self.dim}."
            )
        if self.subsample_size < self.size:
            msg["value"] = jnp.take(msg["value"], self._indices, axis)


def plate_shape(frames: Sequence[CondIndepStackFrame]) -> tuple[int, ...]:
    """The batch shape that plates alone make: 1 where no plate took the dimension."""
    sizes = {frame.dim: frame.size for frame in frames}
    return tuple(sizes.get(dim, 1) for dim in range(min(sizes, default=0), 0))


@contextlib.contextmanager
def plate_stack(prefix: str, sizes: Sequence[int], rightmost_dim: int = -1) -> Iterator[None]:
    """Enter one plate for each of `sizes`: their batch dimensions are the axes of an array of that shape."""
    with contextlib.ExitStack() as entered:
        for i, size in enumerate(reversed(sizes)):
            entered.enter_context(plate(f"{prefix}_{i}", size, dim=rightmost_dim - i))
        yield


def _part(size: int, count: int, rng_key: Any = None) -> jax.Array:
    """Draw `count` different indices, by the exchanges that NumPyro makes on CPUs, so that they are the same ones."""
    if rng_key is None:
        raise ModelError(
            "a plate with `subsample_size` needs a random key at each step, and NUTS or HMC evaluate one density. Use "
            "`SVI`, or `infer.SGLD` or `infer.HMCECS` of accord, or leave `subsample_size` out."
        )
    keys = jax.random.split(rng_key, count)

    def exchange(order: jax.Array, i: jax.Array) -> tuple[jax.Array, None]:
        last = size - i - 1
        other = jax.random.randint(keys[i], (), 0, last + 1)
        return order.at[jnp.array([last, other])].set(order[jnp.array([other, last])]), None

    order, _ = jax.lax.scan(exchange, jnp.arange(size), jnp.arange(count))
    return order[-count:]
