"""Define an entry of the dictionary."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["option", "parameter", "distribution", "name", "attribute"]


@dataclass(frozen=True)
class Word:
    """Word of another library, and the code to write in accord.

    **Fields**
    - `library`: whose word it is, such as "PyMC".
    - `kind`: an `option` of a function, a `parameter` of a distribution, a `distribution`, another `name` in a
      module or a language, or an `attribute` of what a run returns.
    - `theirs`: their word. `ours`: the code to write; of options and parameters it begins with the argument's name.
      Empty where there is nothing of the kind yet.
    - `where`: the function or distribution of ours that has the option or parameter, as `infer.sample`; empty for what
      else there is, and for parameters that every distribution has there.
    - `note`: what is different beside the word, or empty.
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
