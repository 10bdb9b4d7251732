"""List the range of normal variables over an estimated scale, for which every law is tested."""

import numpy as np
from table_case import Case

import accord.distributions as dist

UNIVARIATE = {
    "StudentizedRange": Case(
        lambda: dist.StudentizedRange(7.5, 3),
        None,
        lambda: dist.StudentizedRange(np.array([0.1, 1.0, 1e3, 1e6]), 20),
    ),
    "StudentizedRange, of two": Case(lambda: dist.StudentizedRange(5.5, 2)),
}

BATCHED = {
    "StudentizedRange, batch": Case(lambda: dist.StudentizedRange(np.array([[3.0], [30.0]]), 4)),
}

OUTSIDE = {
    "StudentizedRange": (lambda df: dist.StudentizedRange(df, 3), (7.5,), -1.0),
}
