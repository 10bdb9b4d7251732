"""Keep runs in a store that is not accord's: an interrupted run goes on to the draws of one that was not."""

import io
import itertools
import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from ctrl_c import is_heard
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.calibration import simulations
from accord.core.errors import StorageError
from accord.mcmc.draws import Draws
from accord.storage import AbstractRun, AbstractStore, Manifest, Phase, Segment, check_segment, to_json

OPTIONS: dict[str, Any] = dict(warmup=100, chains=2, seed=4, progress=False, quiet=True)
SHORT = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)


@dataclass(frozen=True)
class Database(AbstractStore):
    """Keep a run in a file of SQLite."""

    path: str

    @property
    def location(self) -> str:
        return self.path

    def create(self, manifest: Manifest) -> "DatabaseRun":
        if os.path.exists(self.path):
            raise StorageError(f"{self.path} is there already.")
        run = DatabaseRun(self.path, manifest)
        run.do("CREATE TABLE segments (chain, phase, start, stop, arrays, end_state)")
        run.do("CREATE TABLE records (name PRIMARY KEY, text)")
        run.record("manifest", dict(manifest))
        return run

    def load(self) -> "DatabaseRun":
        return DatabaseRun(self.path)

    def reopen(self) -> "DatabaseRun":
        return DatabaseRun(self.path)


class DatabaseRun(AbstractRun):
    """A run in a file of SQLite."""

    on_append = staticmethod(lambda count: None)
    """Action of a test once so many segments are there."""

    def __init__(self, path: str, manifest: Manifest | None = None):
        self.path, self.lock = path, threading.Lock()
        self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._manifest = manifest or Manifest(self.records["manifest"])  # type: ignore[arg-type]

    def do(self, statement: str, *values: Any) -> list[Any]:
        try:
            with self.lock:
                return self.database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StorageError(f"{self.path}: {error}.") from error

    @property
    def location(self) -> str:
        return self.path

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def records(self) -> dict[str, object]:
        return {name: json.loads(text) for name, text in self.do("SELECT * FROM records")}

    def record(self, name: str, value: object) -> None:
        self.do("INSERT OR REPLACE INTO records VALUES (?, ?)", name, to_json(value))

    def append(self, segment: Segment) -> None:
        check_segment(segment, self.manifest.chains, self.stored(segment.chain))
        row = segment.chain, segment.phase, segment.start, segment.stop
        self.do(
            "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)",
            *row,
            packed(segment.arrays),
            packed(segment.end_state),
        )
        self.on_append(self.do("SELECT count(*) FROM segments")[0][0])

    def segments(self, chain: int) -> list[Segment]:
        rows = self.do("SELECT * FROM segments WHERE chain = ? ORDER BY rowid", chain)
        return [Segment(*row[:4], unpacked(row[4]), unpacked(row[5])) for row in rows]

    def stored(self, chain: int) -> dict[Phase, int]:
        rows = self.do("SELECT phase, max(stop) FROM segments WHERE chain = ? GROUP BY phase", chain)
        return dict.fromkeys(self.manifest.phases, 0) | dict(rows)

    def cut(self, chain: int, num_draws: int) -> None:
        self.do("DELETE FROM segments WHERE chain = ? AND phase = 'sample' AND stop > ?", chain, num_draws)

    def close(self) -> None:
        pass

    def reopened(self) -> "DatabaseRun":
        return DatabaseRun(self.path)


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{f"of {name}": array for name, array in arrays.items()})  # type: ignore[arg-type]
    return file.getvalue()


def unpacked(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data)) as arrays:
        return {name.removeprefix("of "): arrays[name] for name in arrays}


@ac.model
def level(y: Any) -> None:
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, 1.0), obs=y)


MODEL = level(np.array([0.3, -0.1, 0.2]))


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(MODEL, draws=400, **OPTIONS)


@pytest.fixture
def store(tmp_path: Any) -> Database:
    return Database(str(tmp_path / "run.sqlite"))


def equal(one: Draws, other: Draws) -> None:
    np.testing.assert_array_equal(one["mean"], other["mean"])
    for part in ("stats", "tuning"):
        for name, array in getattr(one, part).items():
            np.testing.assert_array_equal(array, getattr(other, part)[name], err_msg=name)


def test_a_run_is_kept_and_made_longer(drawn: Draws, store: Database) -> None:
    first = infer.sample(MODEL, draws=150, store=store, **OPTIONS)
    np.testing.assert_array_equal(first["mean"], drawn["mean"][:, :150])
    equal(first.extend(250), drawn)
    there = store.load()
    assert there.stored(0) == {"warmup": 100, "sample": 400} and there.problems == [] and there.mend() == []
    last = there.last(1)
    assert last is not None and last.stop == 400
    np.testing.assert_array_equal(
        np.concatenate([each.arrays["site/mean"] for each in there.segments(1) if each.phase == "sample"]),
        drawn["mean"][1],
    )


def test_an_interrupted_run_goes_on(drawn: Draws, store: Database, monkeypatch: Any) -> None:
    def press(count: int) -> None:
        if count == 6:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(DatabaseRun, "on_append", staticmethod(press))
    with is_heard():
        first = infer.sample(MODEL, draws=300, store=store, executor=SHORT, **OPTIONS)
    assert not first.complete and first["mean"].shape[1] < 300
    equal(first.extend(100), drawn)


def test_a_run_is_loaded_and_resumed_from_its_store_alone(drawn: Draws, store: Database) -> None:
    infer.sample(MODEL, draws=150, store=store, **OPTIONS)
    np.testing.assert_array_equal(infer.load(store)["mean"], drawn["mean"][:, :150])
    equal(infer.resume(Database(store.path), MODEL, quiet=True).extend(250), drawn)


def test_a_store_that_refuses_stops_the_run_which_goes_on_later(
    drawn: Draws, store: Database, monkeypatch: Any
) -> None:
    def refuse(run: DatabaseRun, segment: Segment, append: Any = DatabaseRun.append) -> None:
        if run.do("SELECT count(*) FROM segments")[0][0] == 5:
            raise StorageError("the disk is full.")
        append(run, segment)

    with monkeypatch.context() as patch:
        patch.setattr(DatabaseRun, "append", refuse)
        first = infer.sample(MODEL, draws=300, store=store, executor=SHORT, **OPTIONS)
    assert not first.complete and any("the disk is full" in each.message for each in first.notices)
    equal(first.extend(100), drawn)


def test_a_rule_ends_it_and_what_is_beyond_is_cut(drawn: Draws, store: Database) -> None:
    found = infer.sample(MODEL, draws=2000, store=store, until=infer.ESS(100), **OPTIONS)
    assert found["mean"].shape[1] < 2000
    count = min(found["mean"].shape[1], 400)
    np.testing.assert_array_equal(found["mean"][:, :count], drawn["mean"][:, :count])


def test_an_interrupted_calibration_goes_on(store: Database, monkeypatch: Any) -> None:
    options: dict[str, Any] = dict(simulations=5, draws=10, warmup=50, thinning=1, progress=False, quiet=True)
    whole = infer.calibrate(MODEL, **options)

    attach, calls = simulations.attach, itertools.count()

    def interrupted(order: Any, interrupts: Any) -> Any:
        if next(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            until = time.monotonic() + 60
            while not interrupts.is_stopped():
                assert time.monotonic() < until, "nobody has heard it"
                time.sleep(0.01)
        return attach(order, interrupts)

    with monkeypatch.context() as patch, is_heard():
        patch.setattr(simulations, "attach", interrupted)
        first = infer.calibrate(MODEL, store=store, executor=infer.Serial(), **options)
    assert not first.complete and first.notices[0].code == "incomplete"
    found = infer.resume(Database(store.path), MODEL, quiet=True)
    for name, ranks in whole.ranks.items():
        np.testing.assert_array_equal(found.ranks[name], ranks)
    assert str(infer.load(store)) == str(found) == str(whole)


def test_a_second_run_is_refused(store: Database) -> None:
    infer.sample(MODEL, draws=20, store=store, **OPTIONS)
    with pytest.raises(StorageError, match="is there already"):
        infer.sample(MODEL, draws=20, store=store, **OPTIONS)
