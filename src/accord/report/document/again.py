"""Write the calls that make results again, from the record of how they were made."""

from collections.abc import Mapping, Sequence
from typing import Any

from .made import is_plain, sampler_words

_WIDEST = 100
_LONGEST = 80  # letters of an argument that a manifest keeps
_CONDITION = "condition/"  # begins the names of observations that a handler gives
_USUAL_START = {"kind": "from_uniform", "radius": 2.0}
_PRIVATE = ("places",)  # options of guides that a fit fills in


def target_of(manifest: Mapping[str, Any], *, is_simulated: bool = False) -> str:
    """Write the first argument of a call: the model with its data, or a log density.

    `is_simulated`: whether accord conditioned the model on data that it simulated.
    """
    model, particulars = manifest["model"], manifest.get("particulars", {})
    arrays = {**(manifest.get("data_hashes") or {}), **particulars.get("data", {})}
    known = {name: name for name in arrays if not (is_simulated and name.startswith(_CONDITION))}
    known |= particulars.get("fixed", {})
    is_flat = all(name.isidentifier() for name in known)  # others are parts of an argument, such as of a dict
    is_whole = all(len(value) < _LONGEST for value in particulars.get("fixed", {}).values())
    arguments = (
        ", ".join(f"{name}={value}" for name, value in known.items()) if is_flat and is_whole else "..."
    )
    laws = particulars.get("distributions")
    is_model = laws is None or any(laws.values())  # sites of a function of positions have no distribution
    return f"{model}({arguments})," if is_model else f"density,  # LogDensity of {model}"


def sampler_of(manifest: Mapping[str, Any]) -> str:
    """Write the sampler of a run."""
    return (
        f"infer.{sampler_words(manifest)}"
        if is_plain(manifest)
        else f"infer.{manifest['sampler']['name']}(...)"
    )


def guide_of(described: Mapping[str, Any]) -> str:
    """Write a guide; of one that is a model, the name of its function."""
    if "function" in described:
        return f"{described['function']}(...)"
    return f"infer.guides.{with_options(described)}"


def with_options(described: Mapping[str, Any]) -> str:
    """Write an object with its options, of which those that are objects themselves are left out as `...`."""
    left_out = ("name", "rule", *_PRIVATE)
    options = {name: value for name, value in described.items() if name not in left_out and value is not None}
    name = described.get("name", described.get("rule"))
    if any(
        isinstance(value, list) and any(isinstance(each, list) for each in value)
        for value in options.values()
    ):
        return f"{name}(...)"
    written = (
        f"{option}={tuple(value) if isinstance(value, list) else value!r}"
        for option, value in options.items()
    )
    return f"{name}({', '.join(written)})"


def call_of(
    name: str, function: str, first: Sequence[str], options: Mapping[str, Any], settings: Sequence[str] = ()
) -> str:
    """Write a call whose result is called `name`: its first arguments, a line each, and its options.

    `settings`: names of options that are not known as code, which a comment names.
    """
    lines, line = [], ""
    for option, value in options.items():
        part = f"{option}={value},"
        if line and len(line) + len(part) >= _WIDEST:
            lines.append(line)
            line = ""
        line = f"{line} {part}" if line else part
    shown = "".join(f"    {each}\n" for each in (*first, *lines, *([line] if line else [])))
    more = f"  # and {' and '.join(settings)}, as in the settings above" if settings else ""
    return f"from accord import infer\n\n{name} = infer.{function}(\n{shown}){more}\n"


def begins_elsewhere(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the name of the option that says where to begin, if it was given."""
    return () if manifest["settings"].get("init") == _USUAL_START else ("init",)
