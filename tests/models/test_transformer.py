import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.transformer import Model, Options
from seedbed.objectives import flm

VOCABULARY = 100
LENGTHS = [1, 2, 30, 1, 9, 2, 150, 31, 8, 64]


def model_of(options: Options = Options(), vocabulary: int = VOCABULARY) -> Model:  # noqa: B008 - frozen
    model = unfilled(lambda: Model(options, vocabulary))
    fill(model, torch.Generator().manual_seed(0))
    return model


def random_documents(lengths: list[int], vocabulary: int = VOCABULARY, seed: int = 0) -> Documents:
    rng = np.random.default_rng(seed)
    return Documents.of([rng.integers(0, vocabulary, length) for length in lengths])


def singles(documents: Documents) -> list[Documents]:
    return [documents.take([index]) for index in range(len(documents))]


def gradients(model: Model, batches: list[Documents]) -> list[Tensor]:
    objective = flm.Objective(flm.Options(), VOCABULARY)
    rng = np.random.default_rng(0)
    losses = [objective.loss(model, objective.examples(batch, rng))[0] for batch in batches]
    return list(torch.autograd.grad(torch.stack(losses).sum(), list(model.parameters())))


def close(actual: Tensor, expected: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def test_a_batch_equals_its_documents_one_by_one() -> None:
    model, documents = model_of(), random_documents(LENGTHS)
    close(model(pack(documents)), torch.cat([model(pack(one)) for one in singles(documents)]), 1e-5)


def test_all_gradients_of_a_batch_equal_those_of_its_documents() -> None:
    model, documents = model_of().double(), random_documents([length + 1 for length in LENGTHS])
    for packed, alone in zip(gradients(model, [documents]), gradients(model, singles(documents)), strict=True):
        close(packed, alone, 1e-10)


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_documents_of_any_lengths_equal_themselves_alone(lengths: list[int]) -> None:
    model, documents = model_of(), random_documents(lengths)
    close(model(pack(documents)), torch.cat([model(pack(one)) for one in singles(documents)]), 1e-5)


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(len(LENGTHS))))
def test_the_order_of_documents_does_not_matter(order: list[int]) -> None:
    model, documents = model_of(), random_documents(LENGTHS)
    straight = model(pack(documents)).split(LENGTHS)
    permuted = model(pack(documents.take(order))).split([LENGTHS[index] for index in order])
    for place, index in enumerate(order):
        close(permuted[place], straight[index], 1e-5)


def test_empty_documents_take_no_part() -> None:
    model = model_of()
    close(model(pack(Documents.of([[], [1, 2], []]))), model(pack(Documents.of([[1, 2]]))), 0)
    assert model(pack(Documents.of([[]]))).shape == (0, VOCABULARY)


@pytest.mark.parametrize("lengths", [[40], LENGTHS])
def test_later_tokens_leave_earlier_logits_bit_identical(lengths: list[int]) -> None:
    model, documents = model_of(), random_documents(lengths)
    before = model(pack(documents))
    for cut in (1, 7, 29):
        changed = np.where(documents.positions >= cut, (documents.tokens + 1) % VOCABULARY, documents.tokens)
        after = model(pack(Documents(changed, documents.offsets)))
        early = torch.from_numpy(documents.positions < cut)
        assert torch.equal(before[early], after[early])
        assert not torch.equal(before[~early], after[~early])


def test_documents_of_a_batch_do_not_see_each_other() -> None:
    model, documents = model_of(), random_documents(LENGTHS)
    before = model(pack(documents))
    for index in range(len(documents)):
        mine = documents.owners == index
        after = model(pack(Documents(np.where(mine, documents.tokens, 7), documents.offsets)))
        assert torch.equal(before[torch.from_numpy(mine)], after[torch.from_numpy(mine)])


def test_long_documents_are_accepted() -> None:
    logits = model_of()(pack(random_documents([700, 3])))
    assert logits.shape == (703, VOCABULARY)
    assert logits.isfinite().all()


class Independent(nn.Module):
    """The same network of PyTorch's own layers, one document at a time, with its own positions."""

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__()
        self.options, self.model = options, model
        self.layers = nn.ModuleList(self._copy(layer) for layer in model.layers)

    def _copy(self, layer: nn.Module) -> nn.TransformerEncoderLayer:
        copy = nn.TransformerEncoderLayer(
            self.options.d_model,
            self.options.heads,
            self.options.d_ff,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        theirs = ["norm1", "self_attn.in_proj_", "self_attn.out_proj", "norm2", "linear1", "linear2"]
        ours = [
            *("attention_norm", "attention.project", "attention.output"),
            *("feed_forward_norm", "expand", "contract"),
        ]
        for their, our in zip(theirs, ours, strict=True):
            for kind in ("weight", "bias"):
                name = their + kind if their.endswith("_") else f"{their}.{kind}"
                copy.get_parameter(name).data = layer.get_parameter(f"{our}.{kind}").data
        return copy.train()  # evaluation would take the fast path, which has rounded and reshaped differently

    def forward(self, tokens: Tensor, allowed: Tensor) -> Tensor:
        width = self.options.d_model
        place = torch.arange(len(tokens)).float()
        turn = torch.outer(place, torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width)))
        positions = torch.zeros(len(tokens), width)
        positions[:, 0::2], positions[:, 1::2] = turn.sin(), turn.cos()
        table = self.model.embedding.weight
        hidden = (table[tokens] * math.sqrt(width) + positions)[None]
        for layer in self.layers:
            hidden = layer(hidden, src_mask=~allowed)
        return F.layer_norm(hidden[0], (width,), self.model.norm.weight, self.model.norm.bias) @ table.T


@pytest.mark.parametrize("options", [Options(), Options(d_model=32, heads=2, layers=3, d_ff=48)])
def test_equals_an_independent_implementation(options: Options) -> None:
    model, documents = model_of(options), random_documents(LENGTHS)
    theirs = Independent(model, options)
    expected = [
        theirs(torch.from_numpy(tokens), torch.ones(len(tokens), len(tokens)).tril().bool())
        for tokens in documents
    ]
    close(model(pack(documents)), torch.cat(expected), 1e-5)


def test_prefixes_equal_an_independent_implementation() -> None:
    model, documents = model_of(), random_documents(LENGTHS)
    prefixes = [0, 2, 17, 1, 9, 1, 20, 0, 4, 64]
    theirs, expected = Independent(model, Options()), []
    for tokens, prefix in zip(documents, prefixes, strict=True):
        allowed = torch.ones(len(tokens), len(tokens)).tril().bool()
        allowed[:, :prefix] = True
        expected.append(theirs(torch.from_numpy(tokens), allowed))
    close(model(pack(documents, prefixes)), torch.cat(expected), 1e-5)


@pytest.mark.parametrize(
    ("options", "vocabulary"),
    [(Options(), 100), (Options(d_model=32, heads=8, layers=3, d_ff=70), 11), (Options(layers=1), 57)],
)
def test_the_parameters_count_as_the_closed_formula(options: Options, vocabulary: int) -> None:
    d, f = options.d_model, options.d_ff
    attention, feed_forward, norms = 4 * d * d + 4 * d, 2 * d * f + f + d, 4 * d
    expected = vocabulary * d + options.layers * (attention + feed_forward + norms) + 2 * d
    assert sum(parameter.numel() for parameter in model_of(options, vocabulary).parameters()) == expected


def test_the_default_size_is_that_of_the_lecture() -> None:
    assert sum(parameter.numel() for parameter in model_of().parameters()) == 106_496


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="even d_model, not 63"):
        Model(Options(d_model=63, heads=3), 10)
    with pytest.raises(ValueError, match="heads: 5 do not divide d_model, 64"):
        Model(Options(heads=5), 10)


class Bidirectional(flm.Objective):
    """A leak on purpose: every token sees the whole input, what it must predict included."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> flm.Batch:
        batch = super().examples(documents, rng)
        inputs = documents.without_last()
        return flm.Batch(pack(inputs, inputs.lengths), batch.targets)


@pytest.mark.parametrize(("kind", "leaks"), [(flm.Objective, False), (Bidirectional, True)])
def test_random_tokens_cannot_be_predicted_below_their_entropy(kind: type[flm.Objective], leaks: bool) -> None:
    symbols, rng = 8, np.random.default_rng(1)
    objective = kind(flm.Options(), symbols)
    model = model_of(Options(d_model=32, heads=2, layers=1, d_ff=64), symbols)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for seed in range(120):
        batch = objective.examples(random_documents([12] * 32, symbols, seed), rng)
        total, count = objective.loss(model, batch)
        optimizer.zero_grad()
        (total / count).backward()
        optimizer.step()
    test = objective.examples(random_documents([12] * 300, symbols, 999), rng)
    losses = F.cross_entropy(model(test.inputs), test.targets, reduction="none").detach()
    floor = math.log(symbols) - 3 * losses.std() / math.sqrt(len(losses))
    assert (losses.mean() < floor) == leaks
