"""Join guides of parts of a model."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ....core.errors import OptionError
from ..initialization import init_to_uniform
from .base import AutoGuide
from .dais import AutoDAIS


class AutoGuideList(AutoGuide):
    """Several guides, each of a part of the model: `guide.append(AutoNormal(block(model, hide=[...])))`.

    **Arguments**: as of `AutoGuide`.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        create_plates: Callable[..., Any] | None = None,
        forward_mode_differentiation: bool = False,
    ) -> None:
        super().__init__(
            model,
            prefix=prefix,
            init_loc_fn=init_loc_fn,
            create_plates=create_plates,
            forward_mode_differentiation=forward_mode_differentiation,
        )
        self._parts: list[Any] = []

    def append(self, part: Any) -> None:
        """Add a guide of a part of the unknowns.

        **Raises** `OptionError` for `AutoDAIS`, which needs the density of the whole model.
        """
        if isinstance(part, AutoDAIS):
            raise OptionError("AutoGuideList: AutoDAIS cannot be a part. Use it alone.")
        self._parts.append(part)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """See `AutoGuide.__call__`."""
        self.begin(*args, **kwargs)
        self.plates(*args, **kwargs)
        found: dict[str, Any] = {}
        for part in self._parts:
            found |= part(*args, **kwargs) or {}
        return found

    def __getitem__(self, key: int) -> Any:
        return self._parts[key]

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def sample_posterior(
        self,
        rng_key: Any,
        params: Mapping[str, Any],
        *args: Any,
        sample_shape: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> dict[str, Any]:
        """See `AutoGuide.sample_posterior`."""
        found: dict[str, Any] = {}
        for part in self._parts:
            found |= part.sample_posterior(rng_key, params, *args, sample_shape=sample_shape, **kwargs)
        return found

    def median(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See `AutoGuide.median`."""
        return {name: value for part in self._parts for name, value in part.median(params).items()}

    def quantiles(self, params: Mapping[str, Any], quantiles: Any) -> dict[str, Any]:
        """See `AutoGuide.quantiles`."""
        return {n: v for part in self._parts for n, v in part.quantiles(params, quantiles).items()}
