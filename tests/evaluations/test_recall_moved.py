from __future__ import annotations

import pytest
from recalling import CONTEXT, TRANSFORMER, Answers, find_key, trained

from seedbed.evaluations.recall_by_distance import Options as Unmoved
from seedbed.evaluations.recall_by_distance import evaluate as unmoved
from seedbed.evaluations.recall_moved import Options, evaluate
from seedbed.measuring.context import Predictor

SMALL = Options(distractors=(3, 20, 40))


def accuracies(predictor: Predictor) -> dict[tuple[object, object], float]:
    return {
        (one.condition["distractors"], one.condition["before"]): one.value
        for one in evaluate(predictor, CONTEXT, SMALL)
        if one.metric == "moved_accuracy"
    }


def test_the_key_stands_behind_equal_parts_of_the_distractors() -> None:
    places = {(3, 0), (3, 1), (3, 2), (3, 3), *((20, part) for part in (0, 5, 10, 15, 20))}
    assert accuracies(Answers(find_key)).keys() == places | {(40, part) for part in (0, 10, 20, 30, 40)}


def test_fewer_distractors_than_parts_have_each_place_once() -> None:
    rows = list(evaluate(Answers(find_key), CONTEXT, Options(distractors=(2,), parts=4)))
    assert [one.condition["before"] for one in rows if one.metric == "moved_accuracy"] == [0, 1, 2]


def test_whoever_looks_for_a_key_finds_it_anywhere() -> None:
    assert set(accuracies(Answers(find_key)).values()) == {1}


def test_whoever_trusts_the_first_token_is_right_only_where_training_had_the_key() -> None:
    found = accuracies(Answers(lambda document: int(document[0])))
    assert {place for place, value in found.items() if value} == {(3, 0), (20, 0), (40, 0)}


def test_a_key_that_is_not_moved_is_that_of_recall() -> None:
    model = trained(TRANSFORMER)
    (expected,) = (one for one in unmoved(model, CONTEXT, Unmoved((20,))) if one.metric == "recall_loss")
    (found,) = (
        one
        for one in evaluate(model, CONTEXT, SMALL)
        if (one.metric, one.condition) == ("moved_loss", {"distractors": 20, "before": 0})
    )
    assert found.value == expected.value


def test_what_ends_behind_the_position_table_has_no_row() -> None:
    assert {distractors for distractors, _ in accuracies(trained(TRANSFORMER))} == {3, 20}


def test_no_part_is_refused() -> None:
    with pytest.raises(ValueError, match="parts 0: expected at least 1"):
        Options(parts=0)
