from __future__ import annotations

import pytest

from seedbed.languages.vocabulary import BEGIN, END, PERIOD, Vocabulary

VOCABULARY = Vocabulary(("<bos>", "<eos>", "."), ("apple", "eat"), ("<mask>",))


def test_ids_run_from_marks_over_words_to_structural_tokens() -> None:
    assert VOCABULARY.tokens == ("<bos>", "<eos>", ".", "apple", "eat", "<mask>")
    assert [VOCABULARY.id(mark) for mark in VOCABULARY.marks] == [BEGIN, END, PERIOD]
    assert VOCABULARY.word_ids.tolist() == [3, 4]
    assert len(VOCABULARY) == 6


@pytest.mark.parametrize("text", ["", "<bos> eat apple . <eos>", "<mask>"])
def test_decoding_undoes_encoding(text: str) -> None:
    assert VOCABULARY.decode(VOCABULARY.encode(text)) == text


def test_unknown_tokens_are_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(ValueError, match="no token 'aple' in this vocabulary; did you mean apple"):
        VOCABULARY.encode("eat aple")


def test_ids_outside_are_refused() -> None:
    with pytest.raises(ValueError, match="token id -1: expected 0 to 5"):
        VOCABULARY.decode([-1])


def test_tokens_that_occur_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="twice: eat"):
        Vocabulary(("<bos>", "<eos>", "."), ("eat",), ("eat",))
