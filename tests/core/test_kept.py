"""Check that what is kept beside a value is worked out once, and stays behind when the value is copied."""

import pickle
import threading

import pytest

from accord.core.kept import Kept


def test_a_question_is_worked_out_once_whatever_asks_for_it():
    kept, counts = Kept(), []
    gate = threading.Barrier(4)

    def ask() -> None:
        gate.wait(timeout=60)
        assert kept.get("a", lambda: counts.append(1) or "answer") == "answer"

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert counts == [1]


def test_what_raises_is_not_kept():
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 / 0)
    assert kept.get("a", lambda: 2) == 2


def test_old_results_make_room():
    kept, made = Kept(), []
    for question in range(100):
        kept.get(question, lambda: made.append(1) or 1)
    kept.get(99, lambda: made.append(1) or 1)
    kept.get(0, lambda: made.append(1) or 1)
    assert len(made) == 101


def test_a_pickle_has_none_of_it():
    kept = Kept()
    kept.get("a", lambda: 1)
    assert pickle.loads(pickle.dumps(kept)).get("a", lambda: 2) == 2
