"""Set how much work a run does at a time, and how long it waits.

No number here changes a draw: draws are a function of the seed, the chain and the draw. An executor may use another
pace than the usual one, for instance if its workers are far away.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Sizes of blocks and tasks, and the longest waits.

    **Fields**
    - `first_block`: gradients of the first block of a chain, before their cost is known. `growth`: the largest ratio of
      a block to the one before.
    - `block_seconds`: seconds of a block. Progress is shown and interrupts are noticed between blocks.
    - `most_rows`: most draws of a segment or block. `most_numbers`: most numbers in the positions of a block with very
      many lanes (2**24 are 128 MB).
    - `unsaved_seconds`: seconds of work that may be lost with a worker; more for more than `few_lanes` lanes, in
      proportion, since collecting and storing takes a millisecond for each chain.
    - `task_seconds`: seconds of a task; None is short in threads, and one second across a process boundary.
    - `patience`: seconds that a task may take, or ten times the usual duration. `patience_at_first`: seconds for the
      first task of a worker, which may compile.
    - `look_seconds`: seconds that workers may wait while a stopping rule is checked. `look_numbers`: size of the sample
      of numbers that is checked first.
    - `explain_seconds`: seconds for explaining divergences and non-finite values at the end of a run.
    - `most_compared`: most bytes of rows in files that are read to compare their sum with the whole model. The process
      that starts a run may not have memory for more.
    - `predicted_rows`: most draws that are used for predictions at a time; `least_predicted`: fewest, if there are as
      many.
    """

    first_block: int = 64
    growth: int = 8
    block_seconds: float = 0.5
    most_rows: int = 4096
    most_numbers: int = 2**24
    unsaved_seconds: float = 2.0
    few_lanes: float = 200.0
    task_seconds: float | None = None
    patience: float = 60.0
    patience_at_first: float = 1800.0
    look_seconds: float = 0.05
    look_numbers: int = 2**19
    explain_seconds: float = 10.0
    most_compared: int = 2**30
    predicted_rows: int = 1024
    least_predicted: int = 16


USUAL = Pace()
