"""Check what people read in a browser for accessibility: `python docs/accessibility.py`.

Report pages, the page of `accord watch` and pages of the site are opened in Chromium, which reaches no other machine,
at two widths, light and dark, with all that folds unfolded. axe-core looks for faults of WCAG 2.2, levels A and AA.
Messages of the browser and what it does not find are faults too, and a page that is wider than the window. Pictures go
to `build/accessibility`. The command prints a line for each fault, and ends with status 1 if there is one.

Needs the site (`python docs/build.py --no-serve`), `pip install playwright`, npm, from which it asks axe-core, and
Chromium: `apt-get install chromium`, or `--chromium PATH`.
"""

import argparse
import contextlib
import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from accessibility_runs import write_reports, write_runs
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
AXE = "4.14.1"
"""Version of axe-core."""
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
SITE_PAGES = (
    "",
    "getting_started/",
    "tutorials/hierarchy/",
    "distributions/",
    "examples/",
    "gallery/nile/",
    "reference/sampling/",
    "performance/",
    "known_averages/",
)
"""Pages of each kind: words, pictures, formulas, wide tables, code, and the reference."""


def main() -> int:
    """Return 0 where no page has a fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="where Chromium is")
    parser.add_argument("--only", choices=KINDS, help="pages of this kind")
    options = parser.parse_args()
    axe, pictures = _axe(), BUILD / "accessibility"
    shutil.rmtree(pictures, ignore_errors=True)
    faults: list[str] = []
    count = 0
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = stack.enter_context(_chromium(options.chromium))
        for kind in [options.only] if options.only else KINDS:
            for name, address in KINDS[kind](folder, stack):
                looks = [_look(browser, axe, name, address, pictures, *look) for look in _ways()]
                found = sorted({line for look in looks for line in look})
                print(f"{name}: {len(found)} faults", flush=True)
                faults += found
                count += 1
    print(*faults, f"{count} pages, {len(faults)} faults; pictures in {os.path.relpath(pictures)}", sep="\n")
    return int(bool(faults))


def _axe() -> str:
    """Return the code of axe-core, from npm where it is not there yet."""
    home = BUILD / "axe" / AXE
    code = home / "node_modules" / "axe-core" / "axe.min.js"
    if not code.exists():
        home.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--prefix", str(home), f"axe-core@{AXE}"], check=True)
    return code.read_text(encoding="utf-8")


@contextlib.contextmanager
def _chromium(path: str | None) -> Iterator[Browser]:
    """Chromium that finds no host but this machine."""
    arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def _ways() -> Iterator[tuple[int, str]]:
    return ((width, scheme) for width in WIDTHS for scheme in SCHEMES)


def _reports(folder: Path, _: contextlib.ExitStack) -> Iterator[tuple[str, str]]:
    for name, file in write_reports(folder).items():
        yield f"report, {name}", file.as_uri()


def _watching(folder: Path, stack: contextlib.ExitStack) -> Iterator[tuple[str, str]]:
    for name, run in write_runs(folder).items():
        yield f"watch, {name}", stack.enter_context(_watched(run))


def _of_site(_: Path, stack: contextlib.ExitStack) -> Iterator[tuple[str, str]]:
    site = stack.enter_context(_site())
    for place in SITE_PAGES:
        yield f"site, {place.strip('/') or 'start'}", site + place


KINDS: dict[str, Callable[[Path, contextlib.ExitStack], Iterator[tuple[str, str]]]] = {
    "report": _reports,
    "watch": _watching,
    "site": _of_site,
}
"""Names and addresses of pages, by kind; their servers end with the stack."""


@contextlib.contextmanager
def _watched(run: Path) -> Iterator[str]:
    """Address of the page of a run."""
    command = [str(Path(sys.executable).with_name("accord")), "watch", str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
        yield words
        process.terminate()


@contextlib.contextmanager
def _site() -> Iterator[str]:
    """Address of the site, which was built before."""
    place = BUILD / "site"
    if not (place / "dev" / "index.html").exists():
        raise SystemExit("There is no site: python docs/build.py --no-serve")
    handler = functools.partial(_Quiet, directory=str(place))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/dev/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""


def _look(
    browser: Browser, axe: str, name: str, address: str, pictures: Path, width: int, scheme: str
) -> list[str]:
    """Return the faults of a page in one of the ways it is shown, and keep a picture of it."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    found: list[str] = []
    page.on("console", lambda message: found.append(f"{name}: the browser says: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"{name}: an error of the page's script: {error}"))
    page.on("requestfailed", lambda request: found.append(f"{name}: not there: {request.url}"))
    page.goto(address)
    page.wait_for_load_state("networkidle") if "site" in name else page.wait_for_timeout(3500)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    place = pictures / f"{name.replace(', ', '-').replace('/', '-').replace(' ', '_')}-{width}-{scheme}.png"
    page.screenshot(path=place, full_page=True)
    found += [f"{name}: {line}" for line in (*_violations(page, axe), *_overflow(page))]
    context.close()
    return found


def _violations(page: Page, axe: str) -> Iterator[str]:
    """Yield what axe-core finds, a line for each rule and each kind of element."""
    page.evaluate(axe)
    rules = {"runOnly": LEVELS, "resultTypes": ["violations"]}
    result = page.evaluate("(rules) => axe.run(document, rules)", rules)
    for rule in result["violations"]:
        for node in rule["nodes"]:
            why = " ".join(each["message"] for each in node["any"] or node["all"] or node["none"])
            yield f"{rule['id']} ({', '.join(rule['tags'][1:3])}): {node['target'][0]}: {why}"


def _overflow(page: Page) -> Iterator[str]:
    """Yield a line where the page is wider than the window (WCAG 1.4.10, which axe-core leaves to people)."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        yield f"reflow (wcag21aa): the page is {wide} pixels wider than the window"


if __name__ == "__main__":
    sys.exit(main())
