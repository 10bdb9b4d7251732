"""Hold a model that was traced, with the names of its data in the place of arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
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
    - `constants`: arguments whose values shaped the trace; `Read` where Python needs them alone, and nothing that the
      model computes of them.
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
        arrays = {name: jnp.asarray(_cast(value, dtype)) for name, value in data.items()}
        with jax.ensure_compile_time_eval():
            constants = {name: jax.device_put(_cast(value, dtype)) for name, value in self.constants.items()}
        return self.template.fill({**arrays, **constants})


def _cast(value: Any, dtype: Any) -> Any:
    is_other = dtype is not None and jnp.issubdtype(value.dtype, jnp.floating) and value.dtype != dtype
    return value.astype(dtype) if is_other else value
