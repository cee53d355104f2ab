import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import VOCABULARY, Kind, close, random_documents, singles, size
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed, pack
from seedbed.documents import Documents
from seedbed.models import encoder_decoder
from seedbed.models.encoder_decoder import Model, Options

SOURCES, TARGETS = [3, 40, 0, 1, 9, 25, 2, 64], [7, 1, 2, 0, 30, 8, 25, 3]
SMALL = Options(d_model=24, heads=3, encoder_layers=1, decoder_layers=3, d_ff=20, scale_embedding=False)
every_size = pytest.mark.parametrize("options", [Options(), SMALL], ids=["default", "small"])


def model_of(options: Options = Options(), vocabulary: int = VOCABULARY) -> Model:  # noqa: B008 - frozen
    return Kind(encoder_decoder, options).make(vocabulary)  # type: ignore[return-value]


def two_streams(sources: list[int], targets: list[int]) -> tuple[Documents, Documents]:
    return random_documents(sources, seed=1), random_documents(targets, seed=2)


def read(sources: Documents) -> Packed:
    return pack(sources, sources.lengths)


def logits(model: Model, sources: Documents, targets: Documents) -> Tensor:
    return model(read(sources), pack(targets))  # type: ignore[no-any-return]


def alone(model: Model, sources: Documents, targets: Documents) -> list[Tensor]:
    return [logits(model, *pair) for pair in zip(singles(sources), singles(targets), strict=True)]


@every_size
def test_a_batch_equals_its_documents_one_by_one(options: Options) -> None:
    model, streams = model_of(options), two_streams(SOURCES, TARGETS)
    close(logits(model, *streams), torch.cat(alone(model, *streams)), 1e-5)


@every_size
def test_all_gradients_of_a_batch_equal_those_of_its_documents(options: Options) -> None:
    model, streams = model_of(options).double(), two_streams(SOURCES, TARGETS)
    weights = torch.randn(sum(TARGETS), VOCABULARY, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    together, apart = (
        torch.autograd.grad((outcome.log_softmax(-1) * weights).sum(), list(model.parameters()))
        for outcome in (logits(model, *streams), torch.cat(alone(model, *streams)))
    )
    for one, other in zip(together, apart, strict=True):
        close(one, other, 1e-9)


@every_size
def test_logits_asked_for_at_some_tokens_are_theirs_of_all_with_their_gradients(options: Options) -> None:
    model, (sources, targets) = model_of(options).double(), two_streams(SOURCES, TARGETS)
    asked = torch.tensor([5, 3, 60, 3])
    some = model(read(sources), pack(targets), asked)
    of_all = logits(model, sources, targets)[asked]
    close(some, of_all, 1e-12)
    slopes = (torch.autograd.grad((each**2).sum(), list(model.parameters())) for each in (some, of_all))
    for one, other in zip(*slopes, strict=True):
        close(one, other, 1e-10)


@settings(max_examples=20)
@given(lengths=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=8))
def test_documents_of_any_lengths_equal_themselves_alone(lengths: list[tuple[int, int]]) -> None:
    model, streams = model_of(SMALL), two_streams([pair[0] for pair in lengths], [pair[1] for pair in lengths])
    close(logits(model, *streams), torch.cat(alone(model, *streams)), 1e-5)


class Independent:
    """The same network of PyTorch's own layers, one document at a time."""

    def __init__(self, model: Model, options: Options) -> None:
        self.model, self.options = model, options
        sizes = (options.d_model, options.heads, options.d_ff, 0.0, "gelu")
        self.encoder = [
            self._filled(nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=True), layer)
            for layer in model.encoder
        ]
        self.decoder = [
            self._filled(nn.TransformerDecoderLayer(*sizes, batch_first=True, norm_first=True), layer)
            for layer in model.decoder
        ]

    def _filled(self, theirs: nn.Module, ours: nn.Module) -> nn.Module:
        """Their parameters come in another order: attentions, feed-forward, norms."""
        if hasattr(ours, "mixer"):
            attention, norms = [*ours.mixer.parameters()], [*ours.mixer_norm.parameters()]
        else:
            attention, norms = [*ours.attention.parameters()], [*ours.attention_norm.parameters()]
            query, memory = ours.cross.query, ours.cross.memory
            attention += [torch.cat([query.weight, memory.weight]), torch.cat([query.bias, memory.bias])]
            attention += [*ours.cross.output.parameters()]
            norms += [*ours.cross_norm.parameters()]
        values = [*attention, *ours.feed_forward.parameters(), *norms, *ours.feed_forward_norm.parameters()]
        for parameter, value in zip(theirs.parameters(), values, strict=True):
            parameter.data = value.data
        return theirs.train()  # evaluation would take the fast path, which rounds differently

    def __call__(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self._placed(source)
        for layer in self.encoder:
            memory = layer(memory)
        memory = F.layer_norm(memory, memory.shape[-1:], *self.model.encoder_norm.parameters())
        hidden, mask = self._placed(target), nn.Transformer.generate_square_subsequent_mask(len(target))
        for layer in self.decoder:
            hidden = layer(hidden, memory, tgt_mask=mask)
        hidden = F.layer_norm(hidden, hidden.shape[-1:], *self.model.decoder_norm.parameters())
        return hidden[0] @ self.model.embedding.weight.T

    def _placed(self, tokens: Tensor) -> Tensor:
        width = self.options.d_model
        frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        turn = torch.outer(torch.arange(len(tokens)).float(), frequency)
        factor = math.sqrt(width) if self.options.scale_embedding else 1
        return (
            self.model.embedding.weight[tokens] * factor + torch.stack([turn.sin(), turn.cos()], 2).flatten(1)
        )[None]


@every_size
def test_equals_an_independent_implementation(options: Options) -> None:
    model, (sources, targets) = model_of(options), two_streams([3, 40, 1, 9], [7, 1, 30, 9])
    theirs = Independent(model, options)
    expected = [theirs(*map(torch.from_numpy, pair)) for pair in zip(sources, targets, strict=True)]
    close(logits(model, sources, targets), torch.cat(expected), 2e-5)


@every_size
def test_steps_equal_the_full_forward(options: Options) -> None:
    model, sources = model_of(options), random_documents([3, 40, 0, 1], seed=1)
    targets = random_documents([20] * 4, seed=2)
    state, stepped = model.start(read(sources)), []
    for column in torch.from_numpy(targets.tokens).view(4, 20).T:
        now, state = model.step(column, state)
        stepped.append(now)
    close(torch.stack(stepped, 1).flatten(0, 1), logits(model, sources, targets).detach(), 1e-5)


def test_a_state_may_be_continued_in_two_ways() -> None:
    model, sources = model_of(), random_documents([3, 9])
    _, state = model.step(torch.tensor([1, 2]), model.start(read(sources)))
    endings = [torch.tensor([3, 4]), torch.tensor([5, 6])]
    after = [model.step(ending, state)[0] for ending in endings]
    for ending, found in zip(endings, after, strict=True):
        targets = Documents.of([[1, int(ending[0])], [2, int(ending[1])]])
        close(found, logits(model, sources, targets)[1::2].detach(), 1e-5)


def changed(documents: Documents, place: int) -> Documents:
    tokens = documents.tokens.copy()
    tokens[place] = (tokens[place] + 1) % VOCABULARY
    return Documents(tokens, documents.offsets)


def test_every_source_token_reaches_every_target_position() -> None:
    model, (sources, targets) = model_of(Options(encoder_layers=3, decoder_layers=3)), two_streams([6], [4])
    before = logits(model, sources, targets)
    for place in range(6):
        assert (logits(model, changed(sources, place), targets) != before).any(1).all()


def test_a_target_token_reaches_its_own_and_later_positions_only() -> None:
    model, (sources, targets) = model_of(Options(encoder_layers=3, decoder_layers=3)), two_streams([6], [4])
    before = logits(model, sources, targets)
    for place in range(4):
        moved = (logits(model, sources, changed(targets, place)) != before).any(1)
        assert moved.tolist() == [position >= place for position in range(4)]


def test_documents_of_a_batch_do_not_see_each_other() -> None:
    model, (sources, targets) = model_of(), two_streams(SOURCES, TARGETS)
    before = logits(model, sources, targets)
    for index in range(len(sources)):
        others = [np.where(stream.owners == index, stream.tokens, 7) for stream in (sources, targets)]
        after = logits(model, Documents(others[0], sources.offsets), Documents(others[1], targets.offsets))
        mine = torch.from_numpy(targets.owners == index)
        assert torch.equal(before[mine], after[mine])


@pytest.mark.parametrize(
    ("options", "vocabulary", "expected"),
    [
        (Options(), 100, 240_128),  # objectives 6.4
        (Options(encoder_layers=1, decoder_layers=1), 100, 6_400 + 49_984 + 66_752 + 256),
    ],
)
def test_the_parameters_count_as_the_lecture_says(options: Options, vocabulary: int, expected: int) -> None:
    assert size(model_of(options, vocabulary)) == expected


@pytest.mark.parametrize(("d_model", "inner", "block", "decoder_block"), [(512, 2048, 3_152_384, 4_204_032)])
def test_blocks_count_as_the_lecture_says(d_model: int, inner: int, block: int, decoder_block: int) -> None:
    model = model_of(Options(d_model=d_model, heads=8, d_ff=inner, encoder_layers=1, decoder_layers=1), 8)
    assert (size(model.encoder[0]), size(model.decoder[0])) == (block, decoder_block)  # objectives 4.4, exercise 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 63, "heads": 3}, "even d_model, not 63"),
        ({"heads": 5}, "heads: 5 do not divide d_model, 64"),
        ({"decoder_layers": 0}, "decoder_layers 0: expected at least 1"),
        ({"embedding_std": -1.0}, "embedding_std is at least 0, not -1"),
    ],
)
def test_options_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**changes)
