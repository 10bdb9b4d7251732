"""Check that a model which spreads its own computation over devices has the same result on each of them."""

from collections.abc import Iterator

from ...core.errors import ModelError
from ...core.notice import Notice
from ..complete import check_replicas
from .base import Context


def check_alike(context: Context) -> Iterator[Notice]:
    """Compare value and gradient, device by device; the model's own `shard_map` may have forgotten to add up."""
    num_devices = 1
    for point in context.points:
        for word, result in zip(
            ("log density", "gradient"), context.whole.value_and_grad(point), strict=True
        ):
            num_devices = max(num_devices, len(result.sharding.device_set))
            try:
                check_replicas(result)
            except ModelError:
                shards = ", ".join(str(shard.data) for shard in result.addressable_shards[:2])
                yield Notice(
                    "error",
                    "parts_not_added_up",
                    f"The {word} has different values on different devices ({shards}, ...): a shard_map in the model "
                    "uses a part of the data on each and does not sum the parts, or is differentiated inside under "
                    "check_vma=False.",
                    "Write the sum by `accord.density.sharded_sum`, which adds the parts, or take `jax.lax.psum` of "
                    "the value and the gradient outside of the shard_map.",
                )
                return
    if num_devices > 1:
        yield Notice(
            "info",
            "parallel_alike",
            f"The model spreads its own computation over {num_devices} devices, and log density and gradient are the "
            f"same on each of them at {len(context.points)} points.",
            "",
        )
