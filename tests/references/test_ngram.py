"""Kneser-Ney against an example by hand and against its definition, written as a recursion."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import Vocabulary
from seedbed.randomness import stream
from seedbed.references.ngram import Options, Reference


@pytest.fixture(scope="module")
def corpus(garden: Language) -> Documents:
    return garden.training().sample(stream(0, "n-gram tests"), 60)


def two_words() -> Language:
    """A vocabulary of two words; an n-gram model asks a language for nothing else."""
    vocabulary = Vocabulary(("<bos>", "<eos>", "."), ("a", "b"), ("<pad>",))
    return Language(vocabulary, np.zeros((0, 6), dtype=np.int64), np.zeros((0, 6)), ())


def after(reference: Reference, prefix: str) -> dict[str, float]:
    language = reference.language
    row = np.exp(reference.log_probabilities(Documents.of([language.encode(prefix)]))[-1])
    return {token: float(row[index]) for index, token in enumerate(language.vocabulary.tokens) if row[index] > 0}


def test_bigrams_of_two_documents_by_hand() -> None:
    language = two_words()
    texts = ("<bos> a b . <eos>", "<bos> a a . <eos>")
    reference = Reference(Options(order=2), language, Documents.of(language.encode(text) for text in texts))
    # Single tokens come after 2 (a), 1 (b), 2 (.), 1 (<eos>) different ones: discount 2/(2 + 2 * 2) = 1/3, which
    # leaves 4/3 of 6, spread evenly over the four. Pairs: <bos> a and . <eos> twice, ab, b., aa and a. once:
    # discount 4/(4 + 2 * 2) = 1/2.
    alone = {"a": 1 / 3, "b": 1 / 6, ".": 1 / 3, "<eos>": 1 / 6}
    assert after(reference, "<pad>") == pytest.approx(alone)
    assert after(reference, "a") == pytest.approx({"a": 1 / 3, "b": 1 / 4, ".": 1 / 3, "<eos>": 1 / 12})
    assert after(reference, "b") == pytest.approx({"a": 1 / 6, "b": 1 / 12, ".": 2 / 3, "<eos>": 1 / 12})
    assert after(reference, "<bos>")["a"] == pytest.approx(3 / 4 + 1 / 4 * alone["a"])


def recursion(corpus: Documents, order: int, even: float, tokens: list[int]) -> dict[tuple[int, ...], float]:
    """Every n-gram's probability after every history that the corpus holds, by the definition."""
    counts = [Counter[tuple[int, ...]]() for _ in range(order + 1)]
    before: dict[tuple[int, ...], set[int]] = {}
    for document in corpus:
        text = [int(token) for token in document]
        for end in range(1, len(text) + 1):
            for length in range(1, min(order, end) + 1):
                gram = tuple(text[end - length : end])
                counts[length][gram] += 1
                if end > length:
                    before.setdefault(gram, set()).add(text[end - length - 1])

    def count(gram: tuple[int, ...]) -> int:
        if gram[-1] == 0:
            return 0
        kept = len(gram) == order or gram[0] == 0
        return counts[len(gram)][gram] if kept else len(before.get(gram, ()))

    @cache
    def discount(length: int) -> float:
        numbers = Counter(count(gram) for gram in counts[length])
        return numbers[1] / (numbers[1] + 2 * numbers[2]) if numbers[1] else 0.5

    def probability(history: tuple[int, ...], token: int) -> float:
        shorter = probability(history[1:], token) if history else even
        seen = [count((*history, other)) for other in tokens]
        if not sum(seen):
            return shorter
        taken = discount(len(history) + 1)
        left = taken * sum(1 for one in seen if one)
        return (max(count((*history, token)) - taken, 0) + left * shorter) / sum(seen)

    histories = {()} | {gram[:-1] for length in range(2, order + 1) for gram in counts[length]}
    return {(*history, token): probability(history, token) for history in histories for token in tokens}


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_equal_the_recursive_definition(garden: Language, corpus: Documents, order: int) -> None:
    few, size = corpus.take(range(5)), len(garden.vocabulary)
    reference = Reference(Options(order=order), garden, few)
    possible = [token for token in range(1, size) if token not in garden.vocabulary.structural_ids]
    expected = recursion(few, order, 1 / len(possible), possible)
    for document in few:
        predicted = np.exp(reference.log_probabilities(Documents.of([document])))
        for place in range(len(document) - 1):
            history = tuple(int(token) for token in document[max(0, place + 2 - order) : place + 1])
            row = [expected[(*history, token)] for token in possible]
            np.testing.assert_allclose(predicted[place][possible], row, rtol=1e-9)


@given(st.lists(st.lists(st.integers(0, 99), max_size=6), max_size=3), st.integers(1, 6))
def test_predictions_are_distributions_after_any_history(histories: list[list[int]], order: int) -> None:
    words, structural = tuple(f"w{index}" for index in range(87)), tuple("0123456789")
    language = replace(two_words(), vocabulary=Vocabulary(("<bos>", "<eos>", "."), words, structural))
    # Documents of four tokens: there are no longer n-grams to count.
    corpus = Documents.of([[0, 3, 2, 1], [0, 4, 2, 1], [0, 3, 2, 1]])
    predicted = np.exp(Reference(Options(order), language, corpus).log_probabilities(Documents.of(histories)))
    assert predicted.sum(1) == pytest.approx(1, abs=1e-12)
    assert (predicted[:, 1:90] > 0).all()
    assert (predicted[:, [0, *range(90, 100)]] == 0).all()


def test_only_the_last_tokens_matter(garden: Language, corpus: Documents) -> None:
    reference = Reference(Options(order=4), garden, corpus)
    long, short = (
        reference.log_probabilities(Documents.of([garden.encode(text)]))[-1]
        for text in ("<bos> she picks the plum from her", "<bos> we cook plum from her")
    )
    assert (long == short).all()


def test_more_data_predict_better_and_never_better_than_the_language(garden: Language) -> None:
    test = garden.sample(stream(0, "n-gram tests, held out"), 300)
    inputs, targets = test.without_last(), test.without_first().tokens
    losses = []
    for size in (100, 1000):
        corpus = garden.training().sample(stream(1, "n-gram tests"), size)
        predicted = Reference(Options(order=4), garden, corpus).log_probabilities(inputs)
        losses.append(-predicted[np.arange(len(targets)), targets].mean())
    floor = -garden.token_log_probabilities(test).mean()
    assert losses[0] > losses[1] > floor


@pytest.mark.parametrize("option", ["order", "corpus_seed"])
def test_a_negative_option_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} -1"):
        Options(**{option: -1})
