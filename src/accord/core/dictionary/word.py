"""Define an entry of the dictionary."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["option", "parameter", "distribution", "name", "attribute"]


@dataclass(frozen=True)
class Word:
    """Word of another library, and the code to write in accord.

    **Fields**
    - `library`: the library that uses the word, such as "PyMC".
    - `kind`: an `option` of a function, a `parameter` of a distribution, a `distribution`, another `name` in a
      module or a language, or an `attribute` of a run's result.
    - `theirs`: the other library's word. `ours`: the code to write in accord; for options and parameters it begins with
      the argument's name. Empty if accord has no equivalent yet.
    - `where`: accord's function or distribution with the option or parameter, such as `infer.sample`; empty for other
      kinds, and for parameters that every distribution of the other library has.
    - `note`: a difference besides the word, or empty.
    """

    library: str
    kind: Kind
    theirs: str
    ours: str
    where: str = ""
    note: str = ""

    @property
    def code(self) -> str:
        """Return the code to write, with the function or distribution around an argument."""
        if not self.where or "." in self.ours.split("=")[0]:
            return self.ours
        return f"{self.where}({self.ours if '=' in self.ours else f'{self.ours}=...'})"
