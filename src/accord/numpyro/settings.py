"""Take the settings of a NumPyro program: precision, platform, devices."""

import contextlib
from collections.abc import Iterator

import jax

from ..core.errors import OptionError
from ..core.forks import has_started
from ..core.precision import Precision

_ASKED: dict[str, bool] = {}
_PLATFORMS = {"": "", "cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "tpu": "tpu"}
"""Names of platforms, with the name that JAX has for their backend."""


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
    """Run on `"cpu"`, `"gpu"` (also `"cuda"`, `"rocm"`) or `"tpu"`; before JAX is first used.

    **Raises** `OptionError` for any other name, and where JAX has started on another platform.
    """
    name = "" if platform is None else platform
    if name not in _PLATFORMS:
        raise OptionError(f'set_platform: the platform must be "cpu", "gpu" or "tpu", got {platform!r}.')
    if name and has_started() and jax.default_backend() not in (name, _PLATFORMS[name]):
        raise OptionError(
            f"set_platform({name!r}): it is too late, since JAX already runs on {jax.default_backend()!r}. Call it "
            f"before anything is computed, or set the environment variable JAX_PLATFORMS={name}."
        )
    jax.config.update("jax_platform_name", name)


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
