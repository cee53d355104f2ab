import pytest
import torch
from networks import VOCABULARY, Kind, close, random_documents, size
from torch import nn

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models import window
from seedbed.models.window import Options


def test_equals_the_concatenation_word_by_word() -> None:
    options = Options(words=3, embedding=4, hidden=7)
    model, documents = Kind(window, options).make(), random_documents([1, 2, 12])
    network, expected = nn.Sequential(model.expand, nn.Tanh(), model.output), []
    for tokens in documents:
        for end in range(1, len(tokens) + 1):
            vectors = [torch.zeros(4)] * 3 + [model.embedding.weight[token] for token in tokens[:end]]
            expected.append(network(torch.cat(vectors[-3:])))
    close(model(pack(documents)), torch.stack(expected), 1e-5)


def test_the_window_ends_after_its_words() -> None:
    model = Kind(window, Options()).make()
    tokens = list(range(12))
    before = model(pack(Documents.of([tokens])))
    after = model(pack(Documents.of([[50, *tokens[1:]]])))
    assert not torch.equal(before[:5], after[:5])
    assert not torch.equal(before[4], after[4])
    assert torch.equal(before[5:], after[5:])


def test_the_beginning_differs_from_any_token() -> None:
    model = Kind(window, Options()).make()
    (alone,) = model(pack(Documents.of([[3]])))
    for token in range(VOCABULARY):
        assert not torch.allclose(model(pack(Documents.of([[token] * 4 + [3]])))[-1], alone)


@pytest.mark.parametrize(
    ("options", "vocabulary"), [(Options(), 100), (Options(words=2, embedding=5, hidden=9), 11)]
)
def test_the_parameters_count_as_the_closed_formula(options: Options, vocabulary: int) -> None:
    e, h = options.embedding, options.hidden
    expected = vocabulary * e + options.words * e * h + h + h * vocabulary + vocabulary
    assert size(Kind(window, options).make(vocabulary)) == expected


def test_the_default_size_is_near_that_of_the_lectures_transformer() -> None:
    assert size(Kind(window, Options()).make()) == 106_698 == pytest.approx(106_496, rel=0.05)


@pytest.mark.parametrize("name", ["words", "embedding", "hidden"])
def test_a_size_below_one_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} 0: expected at least 1"):
        Options(**{name: 0})


def test_a_negative_deviation_is_refused() -> None:
    with pytest.raises(ValueError, match="embedding_std is at least 0, not -1"):
        Options(embedding_std=-1.0)
