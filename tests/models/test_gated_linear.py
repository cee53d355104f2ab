"""Gated linear attention equals its definition, a plain loop over tokens."""

from __future__ import annotations

import pytest
import torch
from networks import Kind, close
from torch import Tensor

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models import transformer
from seedbed.models.inspection import attention
from seedbed.models.mixers.gated_linear import Mixer

LENGTHS = [[5], [0, 1, 16, 17, 200, 0, 33, 1, 15, 32], [0], [], [1]]
every_batch = pytest.mark.parametrize("lengths", LENGTHS, ids=str)


def mixer(width: int = 12, heads: int = 3, scale: float = 0.5) -> Mixer:
    layer = Mixer(width, heads).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(0, scale, generator=generator)
    return layer


def vectors(lengths: list[int], width: int = 12, scale: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randn(sum(lengths), width, generator=generator, dtype=torch.double)
    return (scale * drawn).requires_grad_()


def mixed(layer: Mixer, hidden: Tensor, lengths: list[int]) -> Tensor:
    return layer(hidden, layer.arrange(pack(Documents.of([range(length) for length in lengths]))))  # type: ignore[no-any-return]


def plain(layer: Mixer, hidden: Tensor, lengths: list[int]) -> Tensor:
    """The definition: head by head, document by document, token by token."""
    width, heads = hidden.shape[1], layer.heads
    query, key, value, gate, low = (hidden @ layer.project.weight.T).split(
        [width // 2, width // 2, width, width, layer.decay.in_features], 1
    )
    decay = (low @ layer.decay.weight.T + layer.decay.bias).sigmoid() ** (1 / 16)
    documents = []
    for rows in torch.arange(len(hidden)).split(lengths):
        columns = []
        for head in range(heads):
            keys = slice(head * width // 2 // heads, (head + 1) * width // 2 // heads)
            values = slice(head * width // heads, (head + 1) * width // heads)
            state, read = hidden.new_zeros(width // 2 // heads, width // heads), []
            for row in rows:
                state = decay[row, keys, None] * state + torch.outer(key[row, keys], value[row, values])
                read.append(query[row, keys] @ state / (width // 2 // heads) ** 0.5)
            columns.append(torch.stack(read) if read else hidden.new_zeros(0, width // heads))
        documents.append(torch.stack(columns, 1))
    read = torch.cat(documents) if documents else hidden.new_zeros(0, heads, width // heads)
    centred = read - read.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + layer.norm.eps).sqrt()
    gated = (normed * layer.norm.weight + layer.norm.bias).flatten(1) * gate * gate.sigmoid()
    return gated @ layer.output.weight.T


def slopes(layer: Mixer, hidden: Tensor, result: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(
        (result * torch.linspace(-1, 2, result.shape[1], dtype=result.dtype)).sum(),
        [hidden, *layer.parameters()],
        materialize_grads=True,
    )


@every_batch
@pytest.mark.parametrize("decay", [0.0, -55.0, 20.0], ids="bias {}".format)
def test_documents_in_chunks_equal_a_plain_loop_with_all_gradients(lengths: list[int], decay: float) -> None:
    layer, hidden = mixer(), vectors(lengths)
    with torch.no_grad():
        layer.decay.bias += decay
    chunked, expected = mixed(layer, hidden, lengths), plain(layer, hidden, lengths)
    close(chunked, expected, 1e-11)
    for one, other in zip(slopes(layer, hidden, chunked), slopes(layer, hidden, expected), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_steps_equal_a_plain_loop() -> None:
    layer, hidden = mixer(), vectors([50])
    memory, found = layer.start(1), []
    for row in hidden.split(1):
        result, memory = layer.step(row, memory)
        found.append(result)
    close(torch.cat(found), plain(layer, hidden, [50]), 1e-11)


def test_the_gradient_is_the_numeric_one() -> None:
    layer = mixer(4, 1)
    assert torch.autograd.gradcheck(lambda hidden: mixed(layer, hidden, [3, 0, 20]), (vectors([3, 0, 20], 4),))


@pytest.mark.parametrize("decay", [-1e4, -60.0, 0.0, 60.0, 1e4])
def test_single_precision_holds_for_any_decay_over_long_documents(decay: float) -> None:
    double, lengths = mixer(), [200, 3]
    with torch.no_grad():
        double.decay.bias += decay
    single, hidden = mixer().float(), vectors(lengths)
    single.load_state_dict(double.state_dict())
    rounded = hidden.detach().float().requires_grad_()
    expected, found = mixed(double, hidden, lengths), mixed(single, rounded, lengths)
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-3)
    for one in slopes(single, rounded, found):
        assert one.isfinite().all()


def test_only_the_last_chunk_of_a_document_has_padding() -> None:
    lengths = [0, 1, 16, 17, 200]
    chunks = Mixer(4, 1).arrange(pack(Documents.of([range(length) for length in lengths])))
    assert len(chunks.token_of_slot) == 16 * (0 + 1 + 1 + 2 + 13)
    assert (chunks.token_of_slot == sum(lengths)).sum() == 15 + 0 + 15 + 8
    assert torch.equal(chunks.token_of_slot[chunks.slot_of_token], torch.arange(sum(lengths)))


def test_a_memory_decays_at_first_slowly() -> None:
    model = Kind(transformer, transformer.Options(mixer="gated_linear", positions="none")).make()
    decay = model._layers()[0].mixer._project(torch.zeros(1, 64))[4].exp()  # type: ignore[operator]
    assert (decay > 0.9).all()
    assert (decay < 1).all()


@pytest.mark.parametrize("positions", ["rope", "alibi"])
def test_positions_that_need_scores_are_refused(positions: str) -> None:
    with pytest.raises(
        ValueError, match=f"positions: {positions} works inside attention.*expected one of sinusoid"
    ):
        transformer.Options(mixer="gated_linear", positions=positions)  # type: ignore[arg-type]


def test_heads_that_do_not_divide_the_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="4 heads do not divide 6, half the width"):
        transformer.Options(mixer="gated_linear", d_model=12, heads=4)


def test_there_is_no_attention_to_inspect() -> None:
    model = Kind(transformer, transformer.Options(mixer="gated_linear")).make()
    with pytest.raises(ValueError, match="the model has no attention: name only runs"):
        attention(model, pack(Documents.of([[1]])))


def test_an_unknown_mixer_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"no models/mixers/linear.py; known are attention, gated_linear"):
        transformer.Options(mixer="linear")


def test_the_mixer_says_what_the_model_reads() -> None:
    assert transformer.Model(transformer.Options(mixer="gated_linear"), 9).reads == ("causal",)
    assert "bidirectional" in transformer.Model(transformer.Options(), 9).reads
