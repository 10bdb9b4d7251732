"""Hold the bench of guides on posteriordb together: errors of moments, and its page."""

import numpy as np
import pytest
from folders import BENCHMARKS, importable

MODELS = BENCHMARKS / "pdb"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    """The folders of the command and of its models, where they import one another."""
    with importable(monkeypatch, BENCHMARKS, MODELS):
        yield


def test_errors_are_those_of_the_worst_scalar_in_units_of_the_posterior():
    from against_reference import compared

    x = np.array([-1.0, 1.0])
    reference = {"a": np.stack([x, np.zeros(2)], axis=1), "b": 10 * x, "unknown": x}
    draws = {"a": np.stack([x + 0.5, np.zeros(2)], axis=1)[None], "b": 5 * x[None]}
    found = compared(draws, reference)
    assert (found["mean_error"], found["mean_at"]) == (0.5, "a[0]")
    assert (found["sd_error"], found["sd_at"]) == (0.5, "b")
    assert found["scalars"] == 2  # what a support fixes is no scalar


def run(posterior, k, sd_error, error=""):
    return {
        "guide": "MeanField",
        "posterior": posterior,
        "error": error,
        "bound": -1.0,
        "pareto_k": k,
        "effective": 500.0,
        "mean_error": 0.1,
        "mean_at": "a",
        "sd_error": sd_error,
        "sd_at": "b[1]",
        "cpu_seconds": 2.0,
    }


def test_the_page_names_what_k_does_not_tell(tmp_path):
    from guides_page import write

    runs = [
        run("fine", 0.2, 0.1),
        run("told", 0.9, 0.5),
        run("not-told", 0.4, 0.45),
        run("lost", 0, 0, "over 9 s"),
    ]
    write(tmp_path / "page.md", runs)
    page = (tmp_path / "page.md").read_text()
    assert "- not-told, MeanField: k 0.40, mean of `a` off by 0.10, sd of `b[1]` by 0.45." in page
    assert "- told" not in page and "| MeanField | 3 | 2 | 1 | 1 | 1 | 2.0 | 1 |" in page
    assert "| told | -1.0 | **0.90** | 50% | 0.10 | `a` | **0.50** | `b[1]` | 2.0 |" in page
    assert "| lost | over 9 s |" in page
