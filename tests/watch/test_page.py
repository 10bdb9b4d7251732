"""Ask the server of the page as browsers and strangers do."""

import http.client
import json
import re
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from growing import begin, grow

from accord.core.errors import StorageError
from accord.watch import server as server_module
from accord.watch.server import PageServer
from accord.watch.watcher import Watcher

HOSTILE = "<script>alert(1)</script>"


@contextmanager
def served(folder, **options):
    """A server of a folder, with its address and what it raised."""
    ended, raised = threading.Event(), []
    server = PageServer(Watcher(folder, share=1e9), **options)

    def serve():
        try:
            server.serve(ended)
        except StorageError as error:
            raised.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield urlsplit(server.url), thread, raised
    finally:
        ended.set()
        thread.join()


def ask(address, path, method="GET", **headers):
    """Ask once; the answer and its content."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


@pytest.fixture
def folder(tmp_path):
    run = begin(tmp_path / "run", names={HOSTILE: (), "mu": ()}, model=HOSTILE)
    grow(run, [0, 1], "sample", 0, 200, 50, names={HOSTILE: (), "mu": ()})
    run.record("notices", [])
    run.close()
    return tmp_path / "run"


def test_the_page_asks_no_other_host_and_runs_no_script_but_its_own(folder):
    with served(folder) as (address, *_):
        assert address.hostname == "127.0.0.1" and len(address.path) > 20
        answer, page = ask(address, address.path)
    text = page.decode()
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)[1]
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    assert text.count(f'nonce="{nonce}"') == len(re.findall(r"<(?:script|style)\b", text)) == 2
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", text)
    assert "innerHTML" not in text and "url(" not in text and HOSTILE not in text
    assert re.findall(r"https?://[^\s\"'`]+", text) == ["http://www.w3.org/2000/svg"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"  # the address is the secret


def test_the_state_is_sent_when_it_has_changed(folder):
    with served(folder) as (address, *_):
        state = wait_for(address, lambda state: state["history"])
        assert state["model"] == HOSTILE and HOSTILE in [row["name"] for row in state["worst"]]
        _, again = ask(address, f"{address.path}state?since={state['version']}")
        assert json.loads(again) == {"is_same": True}
        for since in ("", "-1", "x", "9" * 5000):
            assert "model" in json.loads(ask(address, f"{address.path}state?since={since}")[1])


def wait_for(address, is_there):
    """The state once it is so; the time only keeps a failure from hanging."""
    end = time.monotonic() + 60
    while not is_there(state := json.loads(ask(address, f"{address.path}state?since=")[1])):
        assert time.monotonic() < end, state
        time.sleep(0.02)
    return state


STRANGERS = {
    "another host": (403, "GET", "{path}", {"Host": "attacker.example"}),
    "another host with the port": (403, "GET", "{path}", {"Host": "attacker.example:{port}"}),
    "a name that begins as ours": (403, "GET", "{path}", {"Host": "127.0.0.1.attacker.example"}),
    "no host": (403, "GET", "{path}", {"Host": ""}),
    "another word": (404, "GET", "/guess/", {}),
    "no word": (404, "GET", "/", {}),
    "letters beyond ASCII": (404, "GET", "/%C3%A4/", {}),
    "a file": (404, "GET", "{path}../manifest.json", {}),
    "a file by its path": (404, "GET", "{path}/etc/passwd", {}),
    "another method": (405, "POST", "{path}", {}),
    "another method for a stranger": (405, "DELETE", "/", {"Host": "attacker.example"}),
    "a head": (405, "HEAD", "{path}", {}),
}


def test_strangers_are_refused(folder):
    with served(folder) as (address, *_):
        for name, (status, method, path, headers) in STRANGERS.items():
            filled = {key: value.format(port=address.port) for key, value in headers.items()}
            answer, body = ask(address, path.format(path=address.path), method, **filled)
            assert (answer.status, body) == (status, b""), name
        ours = {"Host": "localhost:8888"}  # through a tunnel, from another port
        assert ask(address, address.path, **ours)[0].status == 200


def test_the_server_ends_when_nobody_looks_at_a_run_that_has_ended(folder):
    with served(folder, leave=0.0) as (_, thread, _):
        thread.join(60)
        assert not thread.is_alive()


def test_the_server_ends_after_a_run_that_ended_while_nobody_looked(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "_ATTENTION", 0.0)  # every browser has gone away
    run = begin(tmp_path / "run")
    with served(tmp_path / "run", leave=0.0) as (_, thread, _):
        thread.join(1.5)
        assert thread.is_alive()
        run.close()
        thread.join(60)
        assert not thread.is_alive()


def test_the_server_ends_with_an_error_when_the_folder_is_gone(folder):
    with served(folder) as (address, thread, raised):
        wait_for(address, lambda state: state["history"])
        folder.rename(folder.with_name("elsewhere"))
        thread.join(60)
        assert "there is no folder" in str(raised[0])


def test_a_port_that_is_taken_is_an_error(folder):
    with served(folder) as (address, *_), pytest.raises(OSError, match="in use"):
        PageServer(Watcher(folder), address.port)
