"""Define a broken model with its data, and the message that it must produce."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """A model that cannot work, as a user would run it.

    **Fields**
    - `model`: called with `data`, it gives what is sampled from.
    - `ends`: the name of the error that is raised; or the least severity of the notice that there must be; or
      `"sound"`, for what breaks elsewhere and gives draws without a notice of severity "error" here.
    - `words`: what that error, or one such notice, must say: the site, what was found, what to do. `a|b` is either.
    - `data`: the model's arguments. `options`: of the run.
    - `asks`: `"sample"`, or `"check"` where only a look before the run can tell.
    - `num_devices`: that JAX must have.
    """

    model: Callable[..., Any]
    ends: str
    words: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    asks: str = "sample"
    num_devices: int = 1
