"""Predictions from a window, against counts over enumerated documents and over samples."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from seedbed.documents import Documents
from seedbed.languages import exact
from seedbed.languages.windows import NO_TOKEN, histories, next_token_distributions

if TYPE_CHECKING:
    from conftest import Case

    from seedbed.languages.automaton import Language


def counted(case: Case, window: int) -> dict[tuple[str, ...], Counter[str]]:
    """Expected counts of each token after each history, from all sentences and all pairs of them.

    A window no longer than the shortest sentence with its period reaches at most one sentence back.
    """
    begin, end = (case.content["tokens"][key] for key in ("begin", "end"))
    counts: dict[tuple[str, ...], Counter[str]] = {}

    def add(before: list[str], predicted: list[str], weight: float) -> None:
        text = [*before, *predicted]
        for place in range(len(before), len(text)):
            history = tuple(text[max(0, place - window) : place])
            counts.setdefault(history, Counter())[text[place]] += weight

    further = case.content["mean_sentences"] - 1
    for text, probability in case.oracle.full.items():
        sentence = [*text.split(), "."]
        add([begin], sentence, probability)
        if not further:
            add([begin, *sentence], [end], probability)
            continue
        add(sentence, [end], probability)
        for earlier, chance in case.oracle.full.items():
            add([*earlier.split(), "."], sentence, further * chance * probability)
    return counts


@pytest.mark.parametrize("window", [1, 2, 3])
def test_probabilities_equal_ratios_of_enumerated_counts(small: Case, window: int) -> None:
    language = small.language
    for history, counts in counted(small, window).items():
        known = np.full((1, window), NO_TOKEN)
        known[0, window - len(history) :] = language.encode(" ".join(history))
        expected = [counts[token] / counts.total() for token in language.vocabulary.tokens]
        np.testing.assert_allclose(next_token_distributions(language, known)[0], expected, atol=1e-12)


def test_probabilities_equal_those_of_samples_of_the_garden(garden: Language) -> None:
    documents = garden.sample(np.random.default_rng(0), 20_000)
    known = histories(documents.without_last(), 5)
    following = documents.without_first().tokens
    different, which, counts = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    for frequent in np.argsort(counts)[-300:]:
        expected = next_token_distributions(garden, different[[frequent]])[0]
        found = np.bincount(following[which == frequent], minlength=len(expected)) / counts[frequent]
        error = np.sqrt(expected * (1 - expected) / counts[frequent])
        assert (abs(found - expected) <= 5 * error + 1e-9).all()


def test_a_longer_window_never_loses_over_all_sentences(small: Case) -> None:
    sentences = exact.all_sentences(small.language)
    texts = sentences.texts
    inputs, targets = texts.without_last(), texts.without_first()
    losses = []
    for window in range(1, 12):
        predicted = next_token_distributions(small.language, histories(inputs, window))
        right = predicted[np.arange(len(targets.tokens)), targets.tokens]
        losses.append(-float(sentences.probability[targets.owners] @ np.log(right)))
    assert (np.diff(losses) <= 1e-12).all()
    # What is left is the language's own, the period's certainty after the last word included.
    assert losses[-1] == pytest.approx(sentences.entropy)


def test_histories_are_the_last_tokens_back_to_the_last_mark() -> None:
    found = histories(Documents.of([[0, 7, 8, 2, 9, 8], [0], [], [0, 2, 7]]), 3)
    x = NO_TOKEN
    assert found.tolist() == [
        [x, x, 0],
        [x, 0, 7],
        [0, 7, 8],
        [x, x, 2],
        [x, 2, 9],
        [2, 9, 8],
        [x, x, 0],
        [x, x, 0],
        [x, x, 2],
        [x, 2, 7],
    ]


def test_cutting_a_history_at_its_last_mark_loses_nothing(garden: Language) -> None:
    whole = garden.encode("tulip . I grow my")[None]
    cut = np.where(np.arange(5) < 1, NO_TOKEN, whole)
    np.testing.assert_allclose(
        next_token_distributions(garden, whole), next_token_distributions(garden, cut), atol=1e-15
    )


def test_nothing_follows_the_impossible_and_the_end(garden: Language) -> None:
    known = np.array([garden.encode("own own"), garden.encode(". <eos>"), garden.encode("<bos> <mask>")])
    assert (next_token_distributions(garden, known) == 0).all()


def test_no_history_gives_no_rows(garden: Language) -> None:
    assert next_token_distributions(garden, histories(Documents.of([]), 5)).shape == (0, 100)


@pytest.mark.parametrize("token", [-2, 100])
def test_token_ids_outside_the_vocabulary_are_refused(garden: Language, token: int) -> None:
    with pytest.raises(ValueError, match=f"token id {token}"):
        next_token_distributions(garden, np.array([[0, token]]))
