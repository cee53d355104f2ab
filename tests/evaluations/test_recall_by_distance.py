"""Recall of predictors whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from recalling import CONTEXT, LSTM, TRANSFORMER, Answers, find_key, trained

from seedbed.documents import Documents, Tokens
from seedbed.evaluations.recall_by_distance import Options, evaluate, information
from seedbed.measuring.context import Predictor, TaskContext
from seedbed.measuring.recall_questions import ask
from seedbed.references import guess
from seedbed.tasks.recall import VOCABULARY

SMALL = Options(distances=(1, 20, 30))
GUESS = guess.Reference(guess.Options(tuple(f"k{index}" for index in range(8))), CONTEXT.task)


def found(predictor: Predictor, options: Options = SMALL) -> dict[tuple[str, object], float]:
    return {(one.metric, one.condition["distance"]): one.value for one in evaluate(predictor, CONTEXT, options)}


@pytest.mark.parametrize(
    ("choose", "accuracy", "bits"),
    [
        (find_key, 1, 3),
        (lambda document: 5, 1 / 8, 0),
        (lambda document: (find_key(document) + 1) % 8, 0, 3),
        (lambda document: find_key(document) // 2 * 2, 1 / 2, 2),
        (lambda document: find_key(document) // 4 * 4, 1 / 4, 1),
    ],
)
def test_a_predictor_that_is_known_has_what_it_must(
    choose: Callable[[Tokens], int], accuracy: float, bits: float
) -> None:
    rows, loss = found(Answers(choose)), -accuracy * math.log(0.83) - (1 - accuracy) * math.log(0.01)
    for distance in (1, 20, 30):
        assert rows["recall_accuracy", distance] == accuracy
        assert rows["recall_loss", distance] == pytest.approx(loss)
        assert rows["recall_information", distance] == pytest.approx(bits, abs=1e-12)


def test_guessing_is_right_in_one_of_eight_and_tells_nothing() -> None:
    rows = found(GUESS)
    assert rows["recall_accuracy", 20] == 1 / 8
    assert rows["recall_loss", 20] == pytest.approx(math.log(8))
    assert rows["recall_information", 20] == pytest.approx(0, abs=1e-12)


def test_chance_is_exact_and_never_above_what_there_is_to_know() -> None:
    rng = np.random.default_rng(0)
    keys = np.arange(1000) % 8
    drawn = [information(keys, rng.integers(0, 8, 1000)) for _ in range(300)]
    plain = 49 / (2 * 1000 * math.log(2))  # what chance alone gives without a correction
    assert abs(np.mean(drawn)) < plain / 20
    assert information(keys, keys) == pytest.approx(3, abs=1e-12)


def test_the_correction_is_that_of_three_entropies() -> None:
    rng = np.random.default_rng(1)
    keys = np.arange(400) % 8
    given = np.where(rng.random(400) < 0.3, keys, rng.integers(0, 18, 400))

    def entropy(outcomes: np.ndarray) -> float:
        shares = np.unique(outcomes, return_counts=True)[1] / len(outcomes)
        return float(-(shares * np.log2(shares)).sum() + (len(shares) - 1) / (2 * len(outcomes) * math.log(2)))

    expected = entropy(keys) + entropy(given) - entropy(keys * 18 + given)
    assert information(keys, given) == pytest.approx(expected, abs=1e-12)


def test_what_ends_behind_the_position_table_has_no_row() -> None:
    assert {distance for _, distance in found(trained(TRANSFORMER))} == {1, 20}
    assert {distance for _, distance in found(trained(LSTM))} == {1, 20, 30}


def test_every_run_is_asked_the_same_and_every_key_as_often() -> None:
    first, second = ask(CONTEXT, 7, 40), ask(CONTEXT, 7, 40)
    np.testing.assert_array_equal(first.tokens, second.tokens)
    assert np.bincount(first.keys).tolist() == [5] * 8
    assert first.tokens.shape == (40, 9)
    assert (first.tokens[:, -1] == VOCABULARY.id("?")).all()


@pytest.mark.parametrize(("documents", "questions"), [(0, 8), (7, 8), (8, 8), (1000, 1000), (1007, 1000)])
def test_there_are_as_many_questions_as_test_documents_but_every_key_alike(documents: int, questions: int) -> None:
    context = TaskContext(CONTEXT.task, Documents.of([[0]] * documents))
    accuracy, *_ = evaluate(GUESS, context, Options(distances=(1,)))
    assert (accuracy.n, accuracy.value) == (questions, 1 / 8)


def test_another_task_is_refused() -> None:
    other = TaskContext(type("Reversal", (), {"__module__": "seedbed.tasks.reversal"})(), Documents.of([]))
    with pytest.raises(ValueError, match="this measures recall, not reversal"):
        list(evaluate(Answers(find_key), other, SMALL))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(distances=(-1, 2)), r"distances \[-1, 2\]: expected at least one number"),
        (lambda: Options(distances=(2, 1)), r"distances \[2, 1\]: expected at least one number, each above"),
        (lambda: Options(distances=(1, 1)), "each above"),
        (lambda: Options(distances=()), "at least one number"),
    ],
)
def test_options_out_of_range_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
