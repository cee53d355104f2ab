from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.documents import Documents
from seedbed.tasks.recall import DISTRACTORS, KEYS, QUERY, VOCABULARY, Options, Task, balanced_sequences, sequences


def sampled_distances(distances: str, documents: int, batch: int = 64) -> np.ndarray:
    """[documents], the distance of each."""
    task = Task(Options(tuple(distances.split()), batch))
    return task.sample(np.random.default_rng(0), documents).lengths - 3


def test_the_vocabulary_has_8_keys_8_distractors_the_query_and_one_more() -> None:
    assert len(VOCABULARY) == 18
    assert VOCABULARY.decode([0, KEYS - 1, KEYS, KEYS + DISTRACTORS - 1, QUERY]) == "k0 k7 x0 x7 ?"
    assert VOCABULARY.id("?") == QUERY


def test_a_sequence_is_key_distractors_query_and_the_key_again() -> None:
    found = sequences(np.random.default_rng(0), 500, 7)
    assert found.shape == (500, 10)
    assert set(found[:, 0]) == set(range(KEYS))
    assert set(found[:, 1:8].ravel()) == set(range(KEYS, QUERY))
    assert (found[:, 8] == QUERY).all()
    assert (found[:, 9] == found[:, 0]).all()


@given(distance=st.integers(0, 9), data=st.data())
def test_a_moved_key_has_its_distractors_on_both_sides(distance: int, data: st.DataObject) -> None:
    before = data.draw(st.integers(0, distance))
    found = sequences(np.random.default_rng(0), 20, distance, before)
    assert ((found[:, : distance + 1] < KEYS) == (np.arange(distance + 1) == before)).all()
    assert (found[:, before] == found[:, -1]).all()


def test_the_key_cannot_come_after_the_query() -> None:
    with pytest.raises(ValueError, match="before: 4 of 3 distractors"):
        sequences(np.random.default_rng(0), 1, 3, before=4)


def test_distractors_tell_nothing_of_the_key() -> None:
    found = sequences(np.random.default_rng(0), 64_000, 2)
    for place in (1, 2):
        table = np.zeros((KEYS, DISTRACTORS))
        np.add.at(table, (found[:, 0], found[:, place] - KEYS), 1)
        assert np.abs(table - 1000).max() < 5 * np.sqrt(1000)


@pytest.mark.parametrize("before", [0, 2, 5])
def test_balanced_sequences_have_every_key_equally_often(before: int) -> None:
    found, drawn = (make(np.random.default_rng(0), 40, 5, before) for make in (balanced_sequences, sequences))
    assert np.bincount(found[:, before]).tolist() == [5] * KEYS
    assert (found[:, -1] == found[:, before]).all()
    found[:, [before, -1]] = drawn[:, [before, -1]]
    np.testing.assert_array_equal(found, drawn)


def test_sequences_of_a_batch_share_a_distance() -> None:
    found = sampled_distances("1-100", 640).reshape(10, 64)
    assert (found == found[:, :1]).all()
    assert len(set(found[:, 0])) > 5


def test_every_distance_of_the_range_is_as_likely() -> None:
    counts = np.bincount(sampled_distances("3-7", 5000, batch=1))
    assert counts[:3].tolist() == [0, 0, 0]
    assert np.abs(counts[3:] - 1000).max() < 5 * np.sqrt(1000)


def test_ranges_follow_one_another_in_equal_parts() -> None:
    found = sampled_distances("1-20 50-100", 64_000)
    assert found[:32_000].max() <= 20
    assert found[32_000:].min() >= 50


def test_an_odd_batch_belongs_to_the_earlier_range() -> None:
    assert sampled_distances("1-1 2-2", 3, batch=1).tolist() == [1, 1, 2]


def test_the_last_batch_holds_what_is_left() -> None:
    assert sampled_distances("4-4", 70).tolist() == [4] * 70
    assert len(sampled_distances("1-2 3-4", 0)) == 0


@pytest.mark.parametrize("documents", [0, 1, 70, 200])
def test_documents_are_the_sequences_of_the_batches_one_after_another(documents: int) -> None:
    task, rng = Task(Options(("1-20", "50-100"), batch=16)), np.random.default_rng(5)
    found = task.sample(np.random.default_rng(5), documents)
    expected = Documents.of(
        sequence for size, distance in task._batches(rng, documents) for sequence in sequences(rng, size, distance)
    )
    for name in ("tokens", "offsets"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), strict=True)


def test_nothing_is_kept_from_training() -> None:
    task = Task(Options())
    assert task.training() is task


def test_the_same_stream_gives_the_same_sequences() -> None:
    first, second = (Task(Options()).sample(np.random.default_rng(3), 200) for _ in range(2))
    np.testing.assert_array_equal(first.tokens, second.tokens)


@pytest.mark.parametrize("distances", [(), ("",), ("5",), ("9-3",), ("1 - 4",), ("-1-4",), ("1-2", " ")])
def test_what_is_no_range_is_refused_with_an_example(distances: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"expected (at least one|a) range,? such as '1-20'"):
        Options(distances=distances)


def test_a_batch_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="batch 0: expected at least 1"):
        Options(batch=0)


def test_an_unknown_token_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no token 'k8' in this vocabulary; known: <pad>, "):
        VOCABULARY.encode("k1 k8")
