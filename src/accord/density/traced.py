"""Hold a model that was traced, with the names of its data in the place of arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.precision import Precision
from ..language import Model
from .data import Template
from .indices import Uses
from .layout import Layout
from .observed import Claims


@dataclass(frozen=True, eq=False)
class TracedModel:
    """A model, and what its trace told of it. Its data is apart.

    **Fields**
    - `name`: the model's. `template`: the model.
    - `layout`: its sites.
    - `precision`: in which it was traced.
    - `constants`: arguments whose values shaped the trace.
    - `claims`: which values its sites may observe.
    - `uses`: the places where data index an axis.
    """

    name: str
    template: Template
    layout: Layout
    precision: Precision
    constants: Mapping[str, np.ndarray]
    claims: Claims
    uses: Uses

    def model(self, data: Mapping[str, Any], dtype: Any = None) -> Model:
        """Return the model with its arrays; the floats among them in a dtype, or as they are."""
        arrays = {**data, **self.constants}
        return self.template.fill({name: _in_dtype(value, dtype) for name, value in arrays.items()})


def _in_dtype(value: Any, dtype: Any) -> Any:
    if dtype is not None and jnp.issubdtype(value.dtype, jnp.floating) and value.dtype != dtype:
        value = value.astype(dtype)
    return jnp.asarray(value)
