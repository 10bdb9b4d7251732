"""Follow run folders while they grow, shrink, are replaced and are damaged."""

import shutil

import numpy as np
import pytest
from growing import begin, grow, segment

from accord.core.errors import StorageError
from accord.storage import RunFolder
from accord.watch.follow import Follower, Records
from accord.watch.thinned import ThinnedRows, together


class Heard:
    """What a follower has said."""

    def __init__(self, folder):
        self.begun, self.taken, self.restarted = [], [], []
        self.follower = Follower(
            folder,
            lambda manifest: self.begun.append(manifest.run_id),
            lambda segment, at: self.taken.append(
                (segment.chain, segment.phase, segment.start, segment.stop)
            ),
            self.restarted.append,
        )

    def advance(self, most=10**9):
        """Take up to `most` more segments; those that were new."""
        before = len(self.taken)
        self.follower.advance(lambda: len(self.taken) - before >= most)
        return self.taken[before:]


def test_each_segment_is_read_once_and_chains_take_turns(tmp_path):
    run = begin(tmp_path / "run")
    heard = Heard(tmp_path / "run")
    assert heard.advance() == [] and heard.begun == [run.manifest.run_id]
    grow(run, [0, 1], "warmup", 0, 100)
    grow(run, [0, 1], "sample", 0, 40, 20)
    assert heard.advance(3) == [(0, "warmup", 0, 100), (1, "warmup", 0, 100), (0, "sample", 0, 20)]
    assert heard.advance() == [(0, "sample", 20, 40), (1, "sample", 0, 20), (1, "sample", 20, 40)]
    assert heard.advance() == []
    run.append(segment(1, "sample", 40, 50))
    assert heard.advance() == [(1, "sample", 40, 50)]
    assert heard.restarted == [] and heard.follower.problems == []


def test_a_chain_whose_segments_were_taken_away_is_read_again(tmp_path):
    run = begin(tmp_path / "run")
    grow(run, [0, 1], "sample", 0, 60, 20)
    heard = Heard(tmp_path / "run")
    heard.advance()
    run.cut(0, 40)
    assert heard.advance() == [(0, "sample", 0, 20), (0, "sample", 20, 40)]
    assert heard.restarted == [0]
    # Cut and grown again between two looks: the number of segments is the same.
    run.cut(0, 20)
    run.append(segment(0, "sample", 20, 35))
    assert heard.advance() == [(0, "sample", 0, 20), (0, "sample", 20, 35)]
    assert heard.follower.problems == []


def test_a_run_in_the_place_of_another_is_a_new_one(tmp_path):
    run = begin(tmp_path / "run")
    grow(run, [0], "sample", 0, 20)
    heard = Heard(tmp_path / "run")
    heard.advance()
    run.close()
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(StorageError, match="there is no folder"):
        heard.advance()
    other = begin(tmp_path / "run", chains=1)
    grow(other, [0], "sample", 0, 10)
    assert heard.advance() == [(0, "sample", 0, 10)]
    assert heard.begun == [run.manifest.run_id, other.manifest.run_id]


def test_damage_is_told_once_and_mended_when_the_file_is(tmp_path):
    run = begin(tmp_path / "run")
    grow(run, [0, 1], "sample", 0, 60, 20)
    run.close()
    damaged = tmp_path / "run" / "chain-0000" / "segment-000001.npz"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1])
    heard = Heard(tmp_path / "run")
    heard.advance()
    assert [each for each in heard.taken if each[0] == 1] == [
        (1, "sample", at, at + 20) for at in (0, 20, 40)
    ]
    assert len(heard.follower.problems) == 1 and "segment-000001.npz is damaged" in heard.follower.problems[0]
    num_read = len(heard.taken)
    assert heard.advance() == [] and len(heard.taken) == num_read
    damaged.write_bytes(whole)
    heard.advance()
    assert heard.taken[-2:] == [(0, "sample", 20, 40), (0, "sample", 40, 60)]
    assert heard.follower.problems == []


def test_of_very_many_chains_some_are_followed(tmp_path):
    run = begin(tmp_path / "run", chains=1000)
    grow(run, [0, 999, 1], "sample", 0, 5)
    heard = Heard(tmp_path / "run")
    assert sorted(heard.advance()) == [(0, "sample", 0, 5), (999, "sample", 0, 5)]


def test_what_is_no_run_is_an_error(tmp_path):
    with pytest.raises(StorageError, match="there is no folder"):
        Heard(tmp_path / "none")
    with pytest.raises(StorageError, match="is no run folder: it has no manifest"):
        Heard(tmp_path)


def test_records_are_read_again_when_they_change(tmp_path):
    run = begin(tmp_path / "run")
    records = Records(tmp_path / "run")
    assert records.get("timings") is None
    run.record("timings", {"total": 1.0})
    assert records.get("timings") == {"total": 1.0}
    run.record("timings", {"total": 22.5})
    assert records.get("timings") == {"total": 22.5}
    (tmp_path / "run" / "record-timings.json").write_text("{")
    assert records.get("timings") is None


@pytest.mark.parametrize("most", [2, 5, 64])
def test_thinned_rows_are_every_nth_row_whatever_the_pieces(most):
    rng = np.random.default_rng(most)
    for _ in range(20):
        rows, kept = np.arange(rng.integers(1, 700))[:, None] * np.ones(2), ThinnedRows(2, most)
        place = 0
        while place < len(rows):
            size = int(rng.integers(1, 90))
            kept.add(rows[place : place + size])
            place += size
            assert len(kept.rows) <= most
        assert kept.num_seen == len(rows)
        np.testing.assert_array_equal(kept.rows, rows[:: kept.stride])
        assert kept.stride == 1 or len(rows) > most * kept.stride // 2


def test_chains_that_are_thinned_otherwise_are_compared_at_the_same_draws():
    one, other = ThinnedRows(1, 64), ThinnedRows(1, 64)
    one.add(np.arange(60.0)[:, None])
    other.add(np.arange(200.0)[:, None])
    rows, stride = together([one, other])
    assert stride == 4 and rows.shape == (2, 15, 1)
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(together([one, other], columns=[0, 0])[0], np.repeat(rows, 2, axis=2))
    early, _ = together([one, other], before=9)
    np.testing.assert_array_equal(early[:, :, 0], [[0, 4, 8]] * 2)


def test_a_run_that_is_read_holds_nothing_back_from_its_writer(tmp_path):
    run = begin(tmp_path / "run")
    grow(run, [0, 1], "sample", 0, 20)
    Heard(tmp_path / "run").advance()
    run.close()
    RunFolder(tmp_path / "run").reopen().close()
