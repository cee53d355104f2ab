import math

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.configuration.configuration import ROOT
from seedbed.observations import COLUMNS, Observation, condition_text, mean, read_condition, rows
from seedbed.statistics.intervals import wilson_interval

words = st.text(st.characters(exclude_characters="=;", categories=["L", "P"]), min_size=1, max_size=8)
values = st.one_of(st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False), words)


def test_a_condition_is_sorted_by_key() -> None:
    assert condition_text({"layer": 2, "distance": 50}) == "distance=50;layer=2"


@given(st.dictionaries(words, values, max_size=4))
def test_a_condition_reads_back(condition: dict[str, str | int | float]) -> None:
    back = read_condition(condition_text(condition))
    assert back == {key: read_condition(f"x={value}")["x"] for key, value in condition.items()}


def test_a_value_that_reads_as_a_number_is_one() -> None:
    assert read_condition("a=5;b=0.5;c=all;d=nan") == {"a": 5, "b": 0.5, "c": "all", "d": "nan"}


@pytest.mark.parametrize("condition", [{"a": "b=c"}, {"a;": 1}, {"": 1}])
def test_a_condition_that_could_not_be_read_back_is_refused(condition: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="neither may hold"):
        condition_text(condition)


def test_a_mean_has_the_standard_error_over_its_items() -> None:
    one = mean("m", [1.0, 2.0, 3.0, 6.0])
    assert (one.value, one.n) == (3.0, 4)
    assert one.item_error == pytest.approx(np.std([1, 2, 3, 6], ddof=1) / 2)


def test_items_in_clusters_of_one_have_the_plain_standard_error() -> None:
    numbers = [1.0, 2.0, 3.0, 6.0]
    assert mean("m", numbers, clusters=[7, 3, 9, 1]).item_error == pytest.approx(mean("m", numbers).item_error)


def test_copies_of_an_item_in_one_cluster_add_no_certainty() -> None:
    numbers = np.array([1.0, 2.0, 3.0, 6.0])
    copied = mean("m", np.repeat(numbers, 5), clusters=np.repeat(np.arange(4), 5))
    assert copied.item_error == pytest.approx(mean("m", numbers).item_error)


def test_the_clustered_error_is_that_of_repeated_sampling() -> None:
    rng = np.random.default_rng(0)
    means, errors = [], []
    for _ in range(400):
        sizes = rng.integers(1, 6, 60)
        numbers = np.repeat(rng.normal(size=60), sizes) + rng.normal(size=sizes.sum())
        one = mean("m", numbers, clusters=np.repeat(np.arange(60), sizes))
        means.append(one.value)
        errors.append(one.item_error)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)


@pytest.mark.parametrize("value", [0, 1])
def test_a_share_of_none_or_all_has_the_error_of_wilsons_interval_at_one_standard_error(value: int) -> None:
    level = math.erf(1 / math.sqrt(2))
    wilson = wilson_interval(value, 20, 1, level)
    clustered = mean("m", np.full(60, value), unit="share", clusters=np.arange(60) // 3)
    assert clustered.item_error == pytest.approx((wilson.high - wilson.low) / 2)
    assert mean("m", np.full(20, value), unit="share").item_error == pytest.approx(clustered.item_error)


def test_no_items_have_no_mean_and_one_item_no_error() -> None:
    assert math.isnan(mean("m", []).value)
    assert math.isnan(mean("m", [1.0]).item_error or 0)


def test_rows_have_every_column_of_the_table() -> None:
    row = rows([Observation("m", 1.0)], study="s", run="r", seed=0, recipe="a", fingerprint="b")[0]
    assert set(row) == set(COLUMNS)


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "k=1"), (1, "k=1"), (0.5, "k=0.5"), ("a 07", "k=a 07"), ("7", "k=7")]
)
def test_a_number_has_one_form(value: str | float, text: str) -> None:
    assert condition_text({"k": value}) == text
    assert condition_text(read_condition(text)) == text


@pytest.mark.parametrize("word", ["07", "1.0", "1e3", "1_000", "+1", " 1"])
def test_a_word_that_would_be_read_as_a_number_of_another_form_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="it would be read as the number"):
        condition_text({"k": word})


def test_every_condition_of_the_references_has_that_form() -> None:
    for path in (ROOT / "results/reference").glob("*.parquet"):
        for text in set(pq.read_table(path, columns=["condition"])["condition"].to_pylist()):
            assert condition_text(read_condition(text)) == text
