"""Build the site of the documentation, check it, and show it: `python docs/build.py`.

The pages are those in `docs`, as they are. The site is static, in `build/site`, a folder for each version, and asks
nothing of another host. `--no-serve` builds and checks only; `--version 0.2` names the version. The highest one
is the latest. Needs `pip install accord[docs]`.
"""

import argparse
import functools
import http.server
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from building import finish, links, pages

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def main(arguments: list[str] | None = None) -> int:
    """Return 0 where the site is built and whole, else 1, after the reasons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-serve", action="store_true", help="build and check, and end")
    parser.add_argument("--version", default="dev", help="the folder of this version, dev by default")
    parser.add_argument("--port", type=int, default=8000, help="where the site is served on this machine")
    chosen = parser.parse_args(arguments)
    pages.prepare(ROOT / "build" / "pages")
    folder = SITE / chosen.version
    if not _build(folder):
        return 1
    finish.finish(folder)
    _name_versions(chosen.version)
    if faults := links.faults(folder):
        print(*faults, f"{len(faults)} faults", sep="\n")
        return 1
    print(f"{sum(1 for _ in folder.rglob('*.html'))} pages in {os.path.relpath(folder)}")
    if not chosen.no_serve:
        _serve(chosen.port)
    return 0


def _build(folder: Path) -> bool:
    """Build the pages in strict mode: a link that leads nowhere ends it."""
    plan = ROOT / "build" / "zensical.toml"
    text = (ROOT / "zensical.toml").read_text(encoding="utf-8").replace('"build/', '"')
    plan.write_text(text.replace('"site/dev"', json.dumps(f"site/{folder.name}")), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", str(plan)]
    built = subprocess.run(command, capture_output=True, text=True, cwd=plan.parent)
    if built.returncode:
        print(COLOURS.sub("", built.stdout + built.stderr))
    return built.returncode == 0


def _name_versions(version: str) -> None:
    """List the versions that are there, for the menu, and lead to the latest from the root."""
    released = sorted(
        (path.name for path in SITE.iterdir() if path.is_dir() and path.name != "dev"),
        key=lambda name: [int(part) if part.isdigit() else -1 for part in re.split(r"[.]", name)],
        reverse=True,
    )
    latest = (released or [version])[0]
    listed = [
        {"version": name, "title": name, "aliases": ["latest"] if name == latest else []}
        for name in [*released, *(["dev"] if (SITE / "dev").is_dir() else [])]
    ]
    (SITE / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (SITE / "index.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>accord</title>'
        f'<meta http-equiv="refresh" content="0; url={latest}/"><a href="{latest}/">accord {latest}</a></html>\n',
        encoding="utf-8",
    )


def _serve(port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    sys.exit(main())
