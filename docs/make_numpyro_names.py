"""Write docs/numpyro_names.md, the table of NumPyro's names: `python docs/make_numpyro_names.py`."""

from pathlib import Path

from accord.numpyro.names.tables import TABLES

HEAD = """# Names of NumPyro

Every public name of NumPyro 0.22, and what [`accord.numpyro`](numpyro_scripts.md) makes of it. This page is
written from the table by which errors are raised.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    counts = dict.fromkeys(("same", "adapted", "missing"), 0)
    for rows in TABLES.values():
        for row in rows.values():
            counts[row.mark] += 1
    parts.append(
        f"{counts['same']} names have NumPyro's meaning, {counts['adapted']} one that differs as is said, and "
        f"{counts['missing']} are not there.\n"
    )
    for module, rows in sorted(TABLES.items()):
        parts.append(f"## `{module}`\n")
        alike = sorted(name for name, row in rows.items() if row.mark == "same")
        if alike:
            parts.append(f"As in NumPyro: {', '.join(f'`{name}`' for name in alike)}.\n")
        others = [(name, row) for name, row in sorted(rows.items()) if row.mark != "same"]
        if others:
            parts.append("| name | | |\n|---|---|---|")
            parts += [f"| `{name}` | {row.mark} | {_cell(row.said)} |" for name, row in others]
            parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _cell(said: str) -> str:
    return said.replace("|", "\\|")


if __name__ == "__main__":
    (Path(__file__).parent / "numpyro_names.md").write_text(page(), encoding="utf-8")
