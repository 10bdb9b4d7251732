"""Say how much a run does at a time, and how long it waits.

No number here changes a draw: what is drawn is a function of the seed, the chain and the draw. An executor may have
another pace than the usual one, where its workers are far away, say.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """How much is done at a time, and how long is waited for it.

    **Fields**
    - `first_block`: gradients of the first block of a chain, before anything is known of their cost. `growth`: how many
      times longer than the one before a block may be, at most.
    - `block_seconds`: seconds that the program takes for a block: so often there is progress, and an interrupt heard.
    - `most_rows`: draws of a segment at most, and of a block. `most_numbers`: numbers of the positions of a block of
      very many lanes (2**24 are 128 MB).
    - `unsaved_seconds`: seconds of work that are lost with a worker, or a little more; `few_lanes`: with more
      lanes it is longer in proportion, since to gather and store takes a millisecond for each chain.
    - `task_seconds`: seconds of a task; None is short in threads, and one second where a task is a journey.
    - `patience`: seconds that a task may take, or ten times what tasks take. `patience_at_first`: seconds for the first
      task of a worker, which may compile.
    - `look_seconds`: seconds that workers may be kept waiting while a stopping rule is looked at. `look_numbers`: how
      many numbers stand for all when it is looked at first.
    - `explain_seconds`: seconds that the end of a run may take to explain bad ends.
    - `most_compared`: bytes of rows in files that are read to compare their sum with the whole model: of more, the
      process that starts a run may not have the memory.
    - `predicted_rows`: draws that are predicted from at a time at most; `least_predicted`: at least, where there are
      as many.
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
