"""Run `accord check` as a user would: what it prints, and its exit status."""

import pytest

PLATED = """
import accord as ac
import accord.distributions as dist


@ac.model
def slope(x, y):
    b = ac.sample("b", dist.Normal(0, 10))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(b * x, 1.0), obs=y)
"""


@pytest.mark.parametrize(
    ("options", "expected", "words"),
    [
        ((), 0, "slope: nothing wrong was found"),
        (("--shard", "x=0,y=0"), 0, "3 rows of 'x', 'y', on 1 device, it is the whole model's"),
        (("--shard", "row"), 0, "3 rows of 'x', 'y', on 1 device, it is the whole model's"),
        (("--shard", "x=0", "--precision", "float32"), 1, "named in shard"),
    ],
)
def test_check_ends_with_status_one_where_something_is_wrong(folder, accord, options, expected, words):
    (folder / "plated.py").write_text(PLATED)
    status, out, _ = accord("check", "plated.py", "--data", "data.json", *options)
    assert status == expected and words in out


def test_columns_that_the_model_does_not_take_are_named_and_passed_over(folder, accord):
    (folder / "wide.csv").write_text(
        "x,y,day,Scale\n1,2.1,2020-01-01,1\n2,3.9,2020-01-02,\n3,6.2,2020-01-03,2\n"
    )
    (folder / "plated.py").write_text(PLATED)
    status, out, err = accord("check", "plated.py", "--data", "wide.csv")
    assert status == 0 and "slope: nothing wrong was found" in out
    assert "note: wide.csv: the model 'slope' takes no 'day', 'Scale'" in err
    status, _, err = accord("check", "one.py", "--data", "wide.csv")  # whose `scale` has a default
    assert status == 2 and "nothing gives the argument 'scale', and the column 'Scale' is not used" in err
    _, _, err = accord("check", "plated.py", "--data", "data.json")
    assert "note:" not in err


DOUBTFUL = """
import accord as ac
import accord.distributions as dist


@ac.model
def slope(x, y):
    b = ac.sample("b", dist.Normal(0, 10))
"""


def test_what_is_doubtful_is_printed_and_is_no_failure(folder, accord):
    (folder / "doubtful.py").write_text(DOUBTFUL)
    status, out, _ = accord("check", "doubtful.py", "--data", "data.json")
    assert status == 0 and out.startswith("slope: 2 warnings\nwarning: ")
    assert "Nothing in the model depends on argument 'x'" in out and "info: One gradient takes" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--shard", "x=0,y"), "--shard x=0,y is not understood"),
        (("--devices", "2"), "needs to know what to share out"),
    ],
)
def test_a_request_that_is_not_understood_ends_with_status_two(folder, accord, options, words):
    (folder / "plated.py").write_text(PLATED)
    status, _, err = accord("check", "plated.py", "--data", "data.json", *options)
    assert status == 2 and words in err
