"""Name the site or argument that the axes of an array belong to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Axes:
    """The axes of the value of a site, or of an argument: `dims` names them, `plates` are those that are plates."""

    name: str
    dims: tuple[str, ...]
    plates: frozenset[str] = frozenset()
    is_data: bool = False

    def describe(self, axis: int, size: int) -> str:
        """Say which axis this is, in words."""
        if self.is_data:
            return f"axis {axis}, of size {size}, of argument {self.name!r}"
        dim = self.dims[axis] if axis < len(self.dims) else ""
        if dim in self.plates:
            return f"plate {dim!r} of size {size} (axis {axis} of site {self.name!r})"
        return f"axis {axis}, of size {size}, of site {self.name!r}"
