from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from networks import VOCABULARY, Kind, close, random_documents
from torch import Tensor, nn

from seedbed.batching import Mask, pack
from seedbed.documents import Documents
from seedbed.models import recurrent, transformer
from seedbed.models.heads import self_heads
from seedbed.models.inspection import (
    Forbidden,
    ablated,
    attention,
    cut,
    longest_document,
    restricted,
    weights,
    without,
)
from seedbed.models.mixers.attention import Mixer as SelfAttention

LENGTHS = [1, 12, 30, 2, 9]
OPTIONS = [
    transformer.Options(d_model=24, heads=3, d_ff=20, positions=code, norm=norm)
    for code, norm in product(("sinusoidal", "none", "rope", "alibi"), ("pre", "post"))
]
every_kind = pytest.mark.parametrize("options", OPTIONS, ids=lambda one: f"{one.positions} {one.norm}")


def network(options: transformer.Options = OPTIONS[0]) -> transformer.Model:
    return Kind(transformer, options).make()  # type: ignore[return-value]


def causal(query: Tensor, key: Tensor) -> Tensor:
    return (key > query)[None]


def logits(model: nn.Module, documents: Documents, forbidden: dict[int, Forbidden] | None = None) -> Tensor:
    with torch.no_grad(), restricted(model, forbidden or {}):
        return model(pack(documents))  # type: ignore[no-any-return]


def everywhere(model: transformer.Model, rule: Forbidden) -> dict[int, Forbidden]:
    return dict.fromkeys(range(len(model.layers)), rule)


@every_kind
def test_attention_is_a_distribution_over_what_came_before(options: transformer.Options) -> None:
    batch = pack(random_documents(LENGTHS))
    found = attention(network(options), batch)
    assert found.shape == (2, sum(LENGTHS), 3, 32)
    close(found.sum(-1), torch.ones(2, sum(LENGTHS), 3), 1e-6)
    later = torch.arange(32) > batch.positions[:, None]
    assert not (found * later[None, :, None]).any()


@every_kind
def test_attention_asked_for_at_some_tokens_is_theirs_of_all(options: transformer.Options) -> None:
    model, batch, asked = network(options), pack(random_documents(LENGTHS)), torch.tensor([50, 0, 3, 44, 3])
    assert torch.equal(attention(model, batch, asked), attention(model, batch)[:, asked])


@every_kind
def test_values_weighted_by_attention_are_what_the_layer_gathers(options: transformer.Options) -> None:
    model, (document,) = network(options), random_documents([12])
    batch = pack(Documents.of([document]))
    inputs: list[Tensor] = []
    hook = model.layers[1].mixer.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    model(batch)
    hook.remove()
    layer = model.layers[1].mixer
    values = layer.project(inputs[0]).view(12, 3, 3, 8)[:, 2]
    gathered = torch.einsum("qhk,khw->qhw", attention(model, batch)[1][:, :, :12], values).flatten(1)
    close(layer.output(gathered), layer(inputs[0], layer.arrange(batch)), 1e-5)


def test_looking_leaves_the_network_as_it_was() -> None:
    model, documents = network(), random_documents(LENGTHS)
    before = logits(model, documents)
    attention(model, pack(documents))
    assert torch.equal(logits(model, documents), before)
    assert not any(layer._forward_pre_hooks for layer in model.modules())


def test_a_restriction_ends_with_its_block_even_after_an_error() -> None:
    model, documents = network(), random_documents(LENGTHS)
    before = logits(model, documents)
    with pytest.raises(RuntimeError, match="inside"), restricted(model, everywhere(model, cut([0]))):
        raise RuntimeError("inside")
    assert torch.equal(logits(model, documents), before)


@every_kind
def test_forbidding_what_is_hidden_anyway_changes_nothing(options: transformer.Options) -> None:
    model, documents = network(options), random_documents(LENGTHS)
    close(logits(model, documents, everywhere(model, causal)), logits(model, documents), 1e-6)


@every_kind
def test_a_token_that_is_cut_changes_no_later_logits(options: transformer.Options) -> None:
    model, document = network(options), random_documents([12])[0]
    other = document.copy()
    other[2] = (other[2] + 1) % VOCABULARY
    rule = everywhere(model, cut([2]))
    one, two = (logits(model, Documents.of([tokens]), rule) for tokens in (document, other))
    assert torch.equal(one[3:], two[3:])
    assert torch.equal(one[:2], two[:2])
    assert not torch.equal(one[2], two[2])


def test_a_cut_in_one_layer_leaves_a_way_through_the_other() -> None:
    model, document = network(), random_documents([12])[0]
    other = document.copy()
    other[2] = (other[2] + 1) % VOCABULARY
    one, two = (logits(model, Documents.of([tokens]), {1: cut([2])}) for tokens in (document, other))
    assert not torch.equal(one[3:], two[3:])


def test_a_cut_takes_attention_from_the_places_and_shares_it_out_among_the_others() -> None:
    model, batch = network(), pack(random_documents([12]))
    before = attention(model, batch)[0]
    with restricted(model, {0: cut([2, 5])}):
        after = attention(model, batch)[0]
    expected = before.clone()
    for query in range(12):
        hidden = [place for place in (2, 5) if place < query]
        expected[query, :, hidden] = 0
    close(after, expected / expected.sum(-1, keepdim=True), 1e-6)


def test_an_ablated_head_adds_nothing() -> None:
    model, documents = network(), random_documents(LENGTHS)
    found = logits(model, documents, {0: ablated([1], 3)})
    with torch.no_grad():
        model.layers[0].mixer.output.weight[:, 8:16] = 0
    close(found, logits(model, documents), 1e-5)


def test_a_layer_without_any_head_adds_its_bias_alone() -> None:
    model, documents = network(), random_documents(LENGTHS)
    found = logits(model, documents, {1: ablated(range(3), 3)})
    with torch.no_grad():
        model.layers[1].mixer.output.weight[:] = 0
    close(found, logits(model, documents), 1e-5)


def test_an_ablated_head_attends_to_nothing() -> None:
    model, batch = network(), pack(random_documents(LENGTHS))
    with restricted(model, {0: ablated([0, 2], 3)}):
        found = attention(model, batch)[0].sum(-1)
    close(found, torch.tensor([0.0, 1, 0]).expand(sum(LENGTHS), 3), 1e-6)


def test_what_sees_nothing_has_no_gradient() -> None:
    model = network()
    with restricted(model, {0: ablated([1], 3)}):
        model(pack(random_documents(LENGTHS))).sum().backward()
    rows = model.layers[0].mixer.project.weight.grad.view(3, 3, 8, 24)
    assert not rows[:, 1].any()
    assert rows[:, [0, 2]].any()
    assert torch.isfinite(rows).all()


def test_a_query_that_saw_nothing_before_still_sees_nothing() -> None:
    mask = Mask.of(torch.tensor([[[False, False], [True, True]]]))
    found = without(mask, torch.tensor([[[True, False], [True, False]]]))
    assert found.sees is not None
    assert found.sees.flatten().tolist() == [0, 1]
    assert found.bias[0, 0].softmax(-1)[1].tolist() == [0, 1]
    assert torch.isfinite(found.bias[0, 0].softmax(-1)).all()


def test_a_model_without_attention_is_refused_with_the_remedy() -> None:
    model = Kind(recurrent, recurrent.Options(hidden=4)).make()
    with pytest.raises(ValueError, match="name only runs that have"):
        attention(model, pack(Documents.of([[1]])))


def test_attention_of_one_layer_equals_the_softmax_of_its_scores() -> None:
    layer, width = SelfAttention(4, 1), 4
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.from_numpy(np.random.default_rng(0).normal(size=parameter.shape)))
    hidden = torch.from_numpy(np.random.default_rng(1).normal(size=(5, width))).float()
    query, key, _ = layer.project(hidden).view(5, 3, width).unbind(1)
    scores = (query @ key.T / 2).masked_fill(~torch.ones(5, 5).tril().bool(), -torch.inf)
    batch = pack(random_documents([5]))
    found = weights(layer, hidden, self_heads(batch.layout, batch.positions, 1), torch.arange(5))
    close(found[:, 0, :5], scores.softmax(-1), 1e-6)


def test_a_network_reads_as_many_tokens_as_its_position_table_has_rows() -> None:
    assert longest_document(network(transformer.Options(positions="learned", max_positions=7))) == 7
    assert longest_document(network()) is None
    assert longest_document(Kind(recurrent, recurrent.Options()).make()) is None
