import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.documents import Documents, join_each, keep_tokens, repeat_token, split_each

sequences = st.lists(st.lists(st.integers(0, 99), max_size=6), max_size=6)
filled = st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=6), max_size=6)


@given(sequences)
def test_iterating_gives_back_the_sequences(texts: list[list[int]]) -> None:
    assert [one.tolist() for one in Documents.of(texts)] == texts


@given(sequences)
def test_positions_and_owners_count_each_document_from_zero(texts: list[list[int]]) -> None:
    documents = Documents.of(texts)
    expected = [(owner, place) for owner, text in enumerate(texts) for place in range(len(text))]
    assert list(zip(documents.owners.tolist(), documents.positions.tolist(), strict=True)) == expected


@given(sequences, st.data())
def test_take_gives_the_chosen_documents_in_order(texts: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)) if texts else []
    assert [one.tolist() for one in Documents.of(texts).take(chosen)] == [texts[index] for index in chosen]


@given(filled)
def test_without_first_and_last_are_inputs_and_targets(texts: list[list[int]]) -> None:
    documents = Documents.of(texts)
    assert [one.tolist() for one in documents.without_last()] == [text[:-1] for text in texts]
    assert [one.tolist() for one in documents.without_first()] == [text[1:] for text in texts]


def test_an_empty_document_has_no_token_to_drop() -> None:
    with pytest.raises(ValueError, match="empty document"):
        Documents.of([[1], []]).without_last()


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_outside_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match="of 2"):
        Documents(np.arange(3), np.array([0, 1, 3]))[index]


@given(sequences, st.data())
def test_splitting_cuts_each_document_and_joining_restores_it(texts: list[list[int]], data: st.DataObject) -> None:
    cuts = [data.draw(st.integers(0, len(text))) for text in texts]
    first, rest = split_each(Documents.of(texts), np.array(cuts, np.int64))
    assert [one.tolist() for one in first] == [text[:cut] for text, cut in zip(texts, cuts, strict=True)]
    assert [one.tolist() for one in rest] == [text[cut:] for text, cut in zip(texts, cuts, strict=True)]
    assert [one.tolist() for one in join_each(first, rest)] == texts


@given(sequences)
def test_selected_tokens_stay_in_their_documents(texts: list[list[int]]) -> None:
    documents = Documents.of(texts)
    found = keep_tokens(documents, documents.tokens % 2 == 0)
    assert [one.tolist() for one in found] == [[token for token in text if token % 2 == 0] for text in texts]


def test_documents_of_a_single_token() -> None:
    assert [one.tolist() for one in repeat_token(7, 3)] == [[7], [7], [7]]
