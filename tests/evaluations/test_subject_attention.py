from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.evaluations.subject_attention import Options, evaluate
from seedbed.languages.automaton import Language
from seedbed.log import Log
from seedbed.measuring.antecedent_attention import find_queries, head_of_largest_share, shares_of_antecedent
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models import recurrent, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.inspection import attention
from seedbed.objectives import flm
from seedbed.observations import Observation

WORDS = Options("tail possessive", "subject")
PROMPT = "I grow my pretty tulip from"


def trained(network: torch.nn.Module) -> TrainedModel:
    fill(network, torch.Generator().manual_seed(0))
    return TrainedModel(network, flm.Objective(flm.Options(), 100), Log(), lambda: Documents.of([]))


@pytest.fixture
def model() -> TrainedModel:
    # Large embeddings, so that an untrained head looks at some positions more than at others.
    options = transformer.Options(d_model=16, heads=2, d_ff=8, embedding_std=2.0, linear_std=0.5)
    return trained(unfilled(lambda: transformer.Model(options, 100)))


def named(observations: Iterator[Observation]) -> dict[tuple[object, ...], Observation]:
    return {(one.metric, *one.condition.values()): one for one in observations}


def by_hand(model: TrainedModel, context: Context) -> NDArray[np.float64]:
    """[layers, queries, heads], word by word."""
    vocabulary, found = context.language.vocabulary, []
    for document in context.test:
        words = [vocabulary.tokens[token] for token in document]
        weights = attention(model.network, pack(Documents.of([document])))
        for place, word in enumerate(words):
            if word not in ("from", "with"):
                continue
            begin = max(i for i in range(place) if words[i] in ("<bos>", ".")) + 1
            subject = [begin, begin + 1] if words[begin] == "the" else [begin]
            found.append(weights[:, place][..., subject].sum(-1))
    return torch.stack(found, 1).double().numpy()


def test_shares_equal_those_counted_word_by_word(model: TrainedModel, context: Context) -> None:
    found = shares_of_antecedent(model, find_queries(context, WORDS.slot, WORDS.antecedent))
    np.testing.assert_allclose(found, by_hand(model, context), atol=1e-6)
    assert found.std() > 0.01


def test_a_row_is_the_mean_of_its_head_and_the_largest_is_chosen_by_one_half_and_told_of_the_other(
    model: TrainedModel, context: Context
) -> None:
    found, asked = (
        named(evaluate(model, context, WORDS)),
        find_queries(context, WORDS.slot, WORDS.antecedent),
    )
    every = by_hand(model, context)
    expected = every.mean(1)
    for layer in (1, 2):
        for head in (1, 2):
            share = found["attention_share", layer, "subject", head]
            assert share.value == pytest.approx(expected[layer - 1, head - 1], abs=1e-6)
            assert share.n == len(asked.places)
    odd = asked.owners % 2 == 1
    layer, head = head_of_largest_share(every[:, ~odd])
    assert found["largest_share", "subject"].value == pytest.approx(every[layer, odd, head].mean(), abs=1e-6)


def test_the_words_of_a_subject_and_what_is_seen(garden: Language, model: TrainedModel) -> None:
    text = "<bos> she eats the fig . the children eat the ripe fig from their own yard . I eat the fig with my own"
    context = Context(garden, Documents.of([garden.encode(text), garden.encode("<bos> she eats the fig")]))
    asked = find_queries(context, WORDS.slot, WORDS.antecedent)
    assert (asked.places.tolist(), asked.first.tolist(), asked.last.tolist()) == ([12, 21], [6, 17], [7, 17])
    found = named(evaluate(model, context, WORDS))
    assert found["seen_positions",].value == (13 + 22) / 2
    assert found["uniform_share", "subject"].value == pytest.approx((2 / 13 + 1 / 22) / 2)
    assert (found["antecedent_words", "least"].value, found["antecedent_words", "most"].value) == (1, 2)


def test_a_head_that_compares_nothing_has_the_uniform_share(model: TrainedModel, context: Context) -> None:
    with torch.no_grad():
        for layer in model.network.layers:  # type: ignore[union-attr]
            layer.mixer.project.weight[:16] = 0
            layer.mixer.project.bias[:16] = 0
    found, asked = (
        named(evaluate(model, context, WORDS)),
        find_queries(context, WORDS.slot, WORDS.antecedent),
    )
    uniform = (asked.last - asked.first + 1) / asked.seen
    assert found["uniform_share", "subject"].value == pytest.approx(uniform.mean())
    odd = asked.owners % 2 == 1
    assert found["largest_share", "subject"].value == pytest.approx(uniform[odd].mean(), abs=1e-6)


def test_an_example_shows_the_weights_of_the_largest_head(model: TrainedModel, context: Context) -> None:
    found = named(evaluate(model, context, Options("tail possessive", "subject", (PROMPT, "she picks"))))
    asked = find_queries(context, WORDS.slot, WORDS.antecedent)
    layer, head = head_of_largest_share(shares_of_antecedent(model, asked)[:, asked.owners % 2 == 0])
    tokens = context.language.encode(f"<bos> {PROMPT}")
    weights = attention(model.network, pack(Documents.of([tokens])))[layer, -1, head]
    for position, word in enumerate(f"<bos> {PROMPT}".split()):
        assert found["example_share", PROMPT, position, word].value == pytest.approx(weights[position].item())
    assert sum(1 for name in found if name[0] == "example_share") == 7 + 3


def test_a_test_set_without_the_words_says_nothing_of_a_largest_head(
    garden: Language, model: TrainedModel
) -> None:
    context = Context(garden, Documents.of([garden.encode("<bos> she eats the fig . <eos>")]))
    found = named(evaluate(model, context, Options("tail possessive", "subject", (PROMPT,))))
    assert ("largest_share", "subject") not in found
    assert np.isnan(found["seen_positions",].value)


def test_a_model_without_attention_is_refused(context: Context) -> None:
    model = trained(unfilled(lambda: recurrent.Model(recurrent.Options(hidden=4), 100)))
    with pytest.raises(ValueError, match="no attention"):
        list(evaluate(model, context, WORDS))
