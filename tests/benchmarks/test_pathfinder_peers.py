"""Hold the bench of Pathfinder beside other libraries to its section of a page."""

import pytest
from folders import BENCHMARKS, importable


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    """The folder of the command."""
    with importable(monkeypatch, BENCHMARKS):
        yield


def run(library, seed, k, error="", **more):
    head = {"library": library, "posterior": "a-b", "seed": seed, "versions": {"blackjax": "1.2"}}
    if error:
        return head | {"error": error}
    found = {"pareto_k": k, "scalars": 3, "mean_error": 0.1, "sd_error": 0.25, "cpu_seconds": 4.0}
    return head | {"error": ""} | found | more


def test_a_section_of_medians_takes_the_place_of_the_one_before(tmp_path):
    from pathfinder_peers import TITLE, write

    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\nbefore\n\n{TITLE}\n\nold\n\n## Next\n\nafter\n")
    runs = [
        *(run("accord", seed, k) for seed, k in enumerate((0.2, 0.3, 0.9))),
        *(run("BlackJAX", seed, k) for seed, k in enumerate((0.8, None))),
        run("BlackJAX", 2, 0, "over 9 s"),
        run("Stan", 0, 0.4, compile_seconds=12.0, own_starts=True),
        run("PyMC", 0, 0.5, compile_seconds=0.0) | {"posterior": "c-d"},
        run("PyMC", 1, 0.5, compile_seconds=17.0),
    ]
    write(page, runs)
    text = page.read_text()
    assert text.startswith("# Page\n\nbefore\n") and text.endswith("## Next\n\nafter\n")
    assert "old" not in text and "BlackJAX** 1.2" in text and "Medians of 3 seeds" in text
    assert "| a-b (3) | 0.30 | 0.40 | 0.50 | inf (1 of 3 failed) | not run |" in text
    assert "| c-d (3) | not run | not run | 0.50 | not run | not run |" in text
    assert "except on a-b, where" in text and "in 12 s" in text and "in 17 s" in text
