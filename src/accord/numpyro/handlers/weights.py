"""Mask and scale the log densities of sites."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...core.errors import OptionError
from ..messages import Message, Messenger


class mask(Messenger):  # noqa: N801 - NumPyro's name
    """Count the log densities of sites only where `mask` is true."""

    enters_scans = True

    def __init__(self, fn: Callable[..., Any] | None = None, mask: Any = True) -> None:
        if jnp.result_type(mask) != np.bool_:
            raise OptionError(
                f"handlers.mask: the mask must be bool, got {jnp.result_type(mask)}. Compare: `mask=(m == 1)`."
            )
        self.mask = mask
        super().__init__(fn)

    def process_message(self, msg: Message) -> None:
        """Mask the distribution of a site."""
        if msg["type"] == "inspect":
            msg["mask"] = self.mask if msg["mask"] is None else self.mask & msg["mask"]
        if msg["type"] == "sample":
            msg["fn"] = msg["fn"].mask(self.mask)


class scale(Messenger):  # noqa: N801 - NumPyro's name
    """Multiply the log densities of sites by `scale`, a positive number or array of the batch shape."""

    enters_scans = True

    def __init__(self, fn: Callable[..., Any] | None = None, scale: Any = 1.0) -> None:
        if not isinstance(scale, Tracer) and np.any(np.less_equal(scale, 0)):
            raise OptionError(f"handlers.scale: the scale must be above 0, got {scale!r}.")
        self.scale = scale
        super().__init__(fn)

    def process_message(self, msg: Message) -> None:
        """Multiply the scale of a message."""
        if msg["type"] not in ("param", "sample", "plate"):
            return
        msg["scale"] = self.scale if msg.get("scale") is None else self.scale * msg["scale"]
        own = msg.get("own_scale")  # without that of plates with a part of their entries
        msg["own_scale"] = self.scale if own is None else self.scale * own
