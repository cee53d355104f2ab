import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from seedbed.batching import Mask, Packed, cross_layout, pack
from seedbed.documents import Documents
from seedbed.models.attention import attention_weights
from seedbed.models.cross_attention import CrossAttention
from seedbed.models.heads import HeadLayout, cross_heads, self_heads
from seedbed.models.mixers.attention import Mixer as SelfAttention

CAUSAL = Mask.of(torch.ones(1, 3, 3, dtype=torch.bool).tril())


def column(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float)[None, :, None]


def attention(width: int, heads: int, seed: int = 0) -> SelfAttention:
    layer = SelfAttention(width, heads).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(generator=generator)
    return layer


def batch_of(lengths: list[int], heads: int, width: int) -> tuple[Tensor, Packed, HeadLayout]:
    batch = pack(Documents.of([range(length) for length in lengths]))
    hidden = torch.randn(
        sum(lengths), width, generator=torch.Generator().manual_seed(1), dtype=torch.double
    ).requires_grad_()
    return hidden, batch, self_heads(batch.layout, batch.positions, heads)


def test_causal_weights_equal_the_hand_computed_case() -> None:
    weights = attention_weights(column(5, 0, math.log(2)), column(0, 1, 2), CAUSAL)
    expected = torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 7, 2 / 7, 4 / 7]])
    torch.testing.assert_close(weights[0], expected)


def test_true_is_may_attend() -> None:
    only_last = Mask.of(torch.tensor([[[False, False, True]] * 3]))
    weights = attention_weights(column(1, 2, 3), column(1, 2, 3), only_last)
    assert weights[0].tolist() == [[0, 0, 1]] * 3


def test_scores_are_divided_by_the_root_of_the_width() -> None:
    query = torch.full((1, 1, 16), math.log(3) / 4)
    keys = torch.stack([torch.zeros(16), torch.ones(16)])[None]
    everything = Mask.of(torch.ones(1, 1, 2, dtype=torch.bool))
    torch.testing.assert_close(attention_weights(query, keys, everything)[0, 0], torch.tensor([0.25, 0.75]))


def test_heads_of_a_row_share_its_mask() -> None:
    masks = Mask.of(torch.stack([torch.eye(3), torch.ones(3, 3)]).bool())
    weights = attention_weights(torch.zeros(4, 3, 2), torch.zeros(4, 3, 2), masks)
    torch.testing.assert_close(weights[:2], torch.eye(3).expand(2, 3, 3))
    torch.testing.assert_close(weights[2:], torch.full((2, 3, 3), 1 / 3))


def test_rows_share_a_mask_that_differs_by_head() -> None:
    bias = torch.tensor([[0.0, -torch.inf], [-torch.inf, 0]])[None, :, None].expand(1, 2, 2, 2)
    weights = attention_weights(torch.zeros(6, 2, 1), torch.zeros(6, 2, 1), Mask(bias, None))
    assert weights[:, 0].tolist() == [[1, 0], [0, 1]] * 3


def test_a_mask_that_differs_by_row_and_head_is_read_heads_fastest() -> None:
    rows = Mask.of(torch.stack([torch.eye(2), torch.ones(2, 2)]).bool())
    mask = rows.plus(torch.tensor([0.0, -math.log(3)])[None, :, None, None] * torch.tensor([[0.0, 1], [1, 0]]))
    weights = attention_weights(torch.zeros(4, 2, 1), torch.zeros(4, 2, 1), mask)
    expected = [[1, 0], [1, 0], [1 / 2, 1 / 2], [3 / 4, 1 / 4]]
    torch.testing.assert_close(weights[:, 0], torch.tensor(expected))


def test_a_query_that_sees_nothing_has_zero_weights_and_gradients() -> None:
    mask = Mask.of(torch.tensor([[[False, False], [True, True]]]))
    queries = torch.randn(1, 2, 4, requires_grad=True)
    keys = torch.randn(1, 2, 4, requires_grad=True)
    weights = attention_weights(queries, keys, mask)
    (weights * torch.randn(2, 2)).sum().backward()
    assert weights[0, 0].tolist() == [0, 0]
    assert queries.grad is not None
    assert queries.grad[0, 0].tolist() == [0] * 4
    assert queries.grad.isfinite().all()
    assert keys.grad is not None
    assert keys.grad.isfinite().all()


def test_a_token_that_sees_nothing_gathers_zero_and_moves_nothing() -> None:
    hidden, batch, _ = batch_of([3], heads=2, width=4)
    (bucket,) = batch.layout.buckets
    allowed = torch.ones(1, bucket.queries, bucket.keys, dtype=torch.bool).tril()
    allowed[0, 1] = False
    layout = replace(batch.layout, buckets=(replace(bucket, mask=Mask.of(allowed)),))
    layer = attention(4, 2)
    result = layer(hidden, self_heads(layout, batch.positions, 2))
    torch.testing.assert_close(result[1], layer.output.bias)
    (gradient,) = torch.autograd.grad(result[1].sum(), hidden)
    assert not gradient.any()


def test_the_written_gradient_is_the_numeric_one() -> None:
    hidden, _, slots = batch_of([5, 1, 20, 2], heads=2, width=4)
    assert torch.autograd.gradcheck(lambda vectors: attention(4, 2)(vectors, slots), (hidden,))


@pytest.mark.parametrize("lengths", [[7], [1], [1, 40, 3, 12, 100]])
def test_equals_torch_multihead_attention(lengths: list[int]) -> None:
    hidden, _, slots = batch_of(lengths, heads=4, width=8)
    layer = attention(8, 4)
    theirs = torch.nn.MultiheadAttention(8, 4, batch_first=True, dtype=torch.double)
    names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    theirs.load_state_dict(dict(zip(names, layer.parameters(), strict=True)))
    expected = [
        theirs(part, part, part, attn_mask=torch.ones(len(part), len(part)).triu(1).bool(), need_weights=False)[0]
        for part in hidden.split(lengths)
    ]
    torch.testing.assert_close(layer(hidden, slots), torch.cat(expected))


def test_rotary_scores_depend_on_the_distance_only() -> None:
    hidden, batch, slots = batch_of([7, 2, 20], heads=2, width=8)
    layer = attention(8, 2)
    near, far = (layer(hidden, slots.rotated(batch.positions + shift, 4)) for shift in (0, 100))
    torch.testing.assert_close(near, far, rtol=0, atol=1e-4)
    assert not torch.allclose(near, layer(hidden, slots), atol=1e-2)


@pytest.mark.parametrize("heads", [2, 3])
def test_the_gradient_with_positions_is_the_numeric_one(heads: int) -> None:
    hidden, batch, slots = batch_of([5, 1, 9], heads, width=4 * heads)
    layer = attention(4 * heads, heads)
    for code in (slots.rotated(batch.positions, 4), slots.biased()):
        assert torch.autograd.gradcheck(lambda vectors, code=code: layer(vectors, code), (hidden,))


TARGETS, SOURCES = [5, 0, 2, 1, 20, 9], [3, 4, 0, 1, 2, 40]


def cross_attention(width: int, heads: int) -> CrossAttention:
    layer = CrossAttention(width, heads).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(parameter.numel()))
    return layer


def two_streams(
    targets: list[int], sources: list[int], width: int, heads: int
) -> tuple[Tensor, Tensor, HeadLayout]:
    hidden, target, _ = batch_of(targets, heads, width)
    seen, source, _ = batch_of(sources, heads, width)
    slots = cross_heads(cross_layout(target, source), target.positions, source.positions, heads)
    return hidden, seen, slots


def test_equals_torch_multihead_attention_to_a_source() -> None:
    hidden, seen, slots = two_streams(TARGETS, SOURCES, width=8, heads=4)
    layer = cross_attention(8, 4)
    theirs = torch.nn.MultiheadAttention(8, 4, batch_first=True, dtype=torch.double)
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat([layer.query.weight, layer.memory.weight]),
            "in_proj_bias": torch.cat([layer.query.bias, layer.memory.bias]),
            "out_proj.weight": layer.output.weight,
            "out_proj.bias": layer.output.bias,
        }
    )
    expected = [
        theirs(part, source, source, need_weights=False)[0]
        if len(source)
        else layer.output.bias.expand(len(part), 8)
        for part, source in zip(hidden.split(TARGETS), seen.split(SOURCES), strict=True)
    ]
    torch.testing.assert_close(layer(hidden, seen, slots), torch.cat(expected))


def test_the_written_gradient_to_a_source_is_the_numeric_one() -> None:
    hidden, seen, slots = two_streams(TARGETS[:4], SOURCES[:4], width=4, heads=2)
    layer = cross_attention(4, 2)
    assert torch.autograd.gradcheck(lambda *vectors: layer(*vectors, slots), (hidden, seen))


def test_a_token_without_a_source_gathers_zero_and_moves_nothing() -> None:
    hidden, seen, slots = two_streams([2, 3], [0, 2], width=4, heads=2)
    layer = cross_attention(4, 2)
    result = layer(hidden, seen, slots)
    torch.testing.assert_close(result[:2], layer.output.bias.expand(2, 4))
    for gradient in torch.autograd.grad(result[:2].sum(), (hidden, seen)):
        assert not gradient.any()


@pytest.mark.parametrize("layer", [SelfAttention, CrossAttention])
def test_heads_that_do_not_divide_the_width_are_refused(layer: type[SelfAttention | CrossAttention]) -> None:
    with pytest.raises(ValueError, match="3 heads do not divide a width of 64"):
        layer(64, 3)


def test_the_private_function_of_torch_is_that_of_the_version_it_was_chosen_in() -> None:
    """`attention` calls `torch._softmax_backward_data`. After an upgrade check it, and name the version here."""
    assert torch.__version__.partition("+")[0] == "2.13.0"
    weights = torch.randn(3, 5, dtype=torch.double).requires_grad_()
    gradient, result = torch.randn(3, 5, dtype=torch.double), weights.softmax(-1)
    (expected,) = torch.autograd.grad(result, weights, gradient)
    found = torch._softmax_backward_data(gradient, result.detach(), -1, torch.double)
    torch.testing.assert_close(found, expected)
