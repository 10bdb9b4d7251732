"""Draw the pictures of the page on reports: `python docs/report_pictures.py`."""

from pathlib import Path

from reference_setup import centred_schools, sigma, y

from accord import infer

TO = Path(__file__).parent / "pictures" / "report"


def main() -> None:
    """Draw them from one run."""
    TO.mkdir(parents=True, exist_ok=True)
    draws = infer.sample(centred_schools(sigma, y), draws=300, seed=1, quiet=True)
    for kind in ("trace", "rank_ecdf"):
        draws.plot(kind, ["mu", "tau"]).save(TO / f"{kind}.svg")


if __name__ == "__main__":
    main()
