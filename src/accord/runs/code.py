"""Read the code of the model of a target, where it is at hand."""

import inspect
import textwrap

from ..density import LogDensity

_MOST = 20_000  # letters


def source_of(density: LogDensity | None) -> str | None:
    """Return the code of the model's function; None without a model, and where Python cannot find the code.

    At most 20,000 letters; beyond, a line says how many are left out.
    """
    whole = None if density is None else density.program.whole
    if whole is None:
        return None
    try:
        code = textwrap.dedent(inspect.getsource(inspect.unwrap(whole.template.model.function)))
    except (AttributeError, OSError, TypeError):  # a callable of no file, or one that was typed in
        return None
    return code if len(code) <= _MOST else f"{code[:_MOST]}\n# ... and {len(code) - _MOST} more letters"
