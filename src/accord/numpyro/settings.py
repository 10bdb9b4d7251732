"""Take the settings of a NumPyro program: precision, platform, devices."""

import contextlib
from collections.abc import Iterator

import jax

from ..core.errors import OptionError
from ..core.precision import Precision

_ASKED: dict[str, bool] = {}


def enable_x64(use_x64: bool = True) -> None:
    """Let arrays of JAX have 64 bits, in this process, and runs of `MCMC` use them.

    Runs use 64 bits anyway, unless `enable_x64(False)` says otherwise; their results have those of the process.
    """
    jax.config.update("jax_enable_x64", bool(use_x64))
    _ASKED["x64"] = bool(use_x64)


def asked_precision() -> Precision:
    """The precision for runs: 64 bits unless the program asked for less."""
    return "float64" if _ASKED.get("x64", True) else "float32"


def set_platform(platform: str | None = None) -> None:
    """Run on `"cpu"`, `"gpu"` or `"tpu"`; before JAX is first used."""
    jax.config.update("jax_platform_name", platform or "")


def set_host_device_count(n: int) -> None:
    """Do nothing but check `n`: chains run in threads, on one device.

    **Raises** `OptionError` for a number that is not positive.
    """
    if n < 1:
        raise OptionError(f"set_host_device_count: n must be at least 1, got {n!r}.")


def enable_validation(is_validate: bool = True) -> None:
    """Do nothing: parameters are always checked where their values are known."""
    del is_validate


@contextlib.contextmanager
def validation_enabled(is_validate: bool = True) -> Iterator[None]:
    """Do nothing: parameters are always checked where their values are known."""
    del is_validate
    yield
