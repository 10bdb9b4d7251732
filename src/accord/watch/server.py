"""Serve the page of a run to browsers of this machine: one page, and what changed since the page last asked.

Only the loopback address listens, and only paths that begin with a random word are answered, since others may use the
machine too. A request that names another host is refused: a page from elsewhere could have its own name point here.
Nothing is ever written, and nothing of a request becomes a path of a file.
"""

import hmac
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from .watcher import Watcher

_PAGE = Path(__file__).with_name("page.html")
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_ATTENTION = 30.0  # seconds after a request for which the folder is read
_PERIOD = 1.0  # seconds between steps; pages ask every two
_SOON = 0.05  # seconds, while there is more to read
_LEAVE = 600.0  # seconds without a request and without a writer, after which the page is closed


class PageServer:
    """Serves the page of one run.

    **Arguments**: `watcher` of the run; `port`, 0 for one that is free.

    **Raises** `OSError` for a port that is taken.
    """

    def __init__(self, watcher: Watcher, port: int = 0, leave: float = _LEAVE):
        self._watcher = watcher
        self._leave = leave
        self._asked = time.monotonic()
        self._token = secrets.token_urlsafe(18)
        self._state = self._encoded()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.page = self

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self._token}/"

    def serve(self, ended: threading.Event) -> None:
        """Serve until `ended`, or until ten minutes without a request have passed after the end of the run.

        **Raises** `StorageError` if the run is no longer there.
        """
        thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        written = self._asked
        try:
            while not ended.is_set():
                now, has_more = time.monotonic(), False
                if now - self._asked < _ATTENTION:
                    has_more = self._watcher.step()
                    self._state = self._encoded()
                # Asked of the folder, since nothing is read of a run that no browser looks at.
                if self._watcher.is_written:
                    written = now
                if now - max(self._asked, written) > self._leave:
                    return
                ended.wait(_SOON if has_more else _PERIOD)
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def answer(self, path: str) -> tuple[int, str, bytes, str]:
        """Return status, type of content, content and policy for the path of a request."""
        parts = urlsplit(path)
        word, _, rest = parts.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(word.encode(), self._token.encode()):
            return _refusal(404)
        self._asked = time.monotonic()
        if rest == "":
            page, policy = _page()
            return 200, "text/html; charset=utf-8", page, policy
        if rest == "state":
            version, state = self._state
            since = parse_qs(parts.query).get("since", [""])[0]
            body = b'{"is_same":true}' if since == str(version) else state
            return 200, "application/json", body, _NO_CONTENT
        return _refusal(404)

    def _encoded(self) -> tuple[int, bytes]:
        version = self._watcher.version
        return version, json.dumps({"version": version, **self._watcher.view}, allow_nan=False).encode()


_NO_CONTENT = "default-src 'none'; frame-ancestors 'none'"


def _page() -> tuple[bytes, str]:
    """Return the page, and the policy that lets nothing run or load in it but its own script and style."""
    nonce = secrets.token_urlsafe(18)
    text = _PAGE.read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text.replace("{{nonce}}", nonce).encode(), policy


def _refusal(status: int) -> tuple[int, str, bytes, str]:
    return status, "text/plain; charset=utf-8", b"", _NO_CONTENT


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    page: PageServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone away."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 10.0
    server_version, sys_version = "accord", ""

    def do_GET(self) -> None:
        host = (self.headers.get("Host") or "").rsplit(":", 1)
        is_ours = host[0] in _HOSTS and (len(host) == 1 or host[1].isdecimal())
        self._reply(*(cast(_Server, self.server).page.answer(self.path) if is_ours else _refusal(403)))

    def _refuse(self) -> None:
        self._reply(*_refusal(405))

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse  # noqa: N815

    def _reply(self, status: int, kind: str, body: bytes, policy: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            **({"Allow": "GET"} if status == 405 else {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""
