"""Say after how many draws a rule is looked at."""

FIRST = 100  # draws per chain; fewer judge nothing


def looks(num_kept: int) -> tuple[int, ...]:
    """Kept draws per chain at which a rule is looked at: 100, then each half as many again, and at last `num_kept`.

    Growing intervals keep the looks few, twelve for ten thousand draws: a rule that holds by luck has as many chances
    to as there are looks, and each costs time.
    """
    found, at = [], FIRST
    while at < num_kept:
        found.append(at)
        at = (3 * at + 1) // 2
    return (*found, num_kept)
