"""State what an entry of the dictionary is."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["option", "parameter", "distribution", "name", "attribute"]


@dataclass(frozen=True)
class Word:
    """A word of another library, and what is written here.

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
        """What to write, with the function or distribution around an argument."""
        if not self.where or "." in self.ours.split("=")[0]:
            return self.ours
        return f"{self.where}({self.ours if '=' in self.ours else f'{self.ours}=...'})"
