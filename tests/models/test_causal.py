"""The laws that hold for every causal model, whatever its options."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import LENGTHS, VOCABULARY, Kind, close, gradients, random_documents, singles
from torch import Tensor
from torch.nn import functional as F

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models import mixers, recurrent, transformer, window
from seedbed.objectives import flm

#: Every mixer that there is, and the position encodings that each can have.
POSITIONS = [
    (mixer, code)
    for mixer in mixers.names()
    for code in ("sinusoidal", "learned", "none", *mixers.load(mixer).encodings)
]
CELLS = ("rnn", "gru", "lstm")

TRANSFORMERS = [
    Kind(transformer, transformer.Options(d_model=24, heads=3, d_ff=20, **options))
    for options in [
        *(
            {"mixer": mixer, "positions": code, "norm": norm}
            for (mixer, code), norm in product(POSITIONS, ("pre", "post"))
        ),
        {"activation": "relu", "tied": False},
        {"layers": 1, "scale_embedding": False},
    ]
]
RECURRENT = [
    Kind(recurrent, recurrent.Options(cell=cell, embedding=12, hidden=12, **options))
    for cell in CELLS
    for options in [{}, {"two_biases": False, "layers": 2, "tied": True}]
]
WINDOWS = [
    Kind(window, window.Options(embedding=6, hidden=10)),
    Kind(window, window.Options(words=1, activation="gelu")),
]
KINDS = [
    Kind(transformer, transformer.Options()),
    *TRANSFORMERS,
    Kind(recurrent, recurrent.Options()),
    *RECURRENT,
    *WINDOWS,
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)

any_kind = st.one_of(
    st.builds(
        lambda mixer, **options: Kind(
            transformer,
            transformer.Options(d_model=24, d_ff=20, mixer=mixer[0], positions=mixer[1], **options),
        ),
        mixer=st.sampled_from(POSITIONS),
        heads=st.sampled_from([1, 2, 3, 4]),
        layers=st.integers(1, 3),
        norm=st.sampled_from(["pre", "post"]),
        activation=st.sampled_from(["gelu", "relu"]),
        tied=st.booleans(),
        scale_embedding=st.booleans(),
    ),
    st.builds(
        lambda tied, hidden, **options: Kind(
            recurrent, recurrent.Options(embedding=12, hidden=12 if tied else hidden, tied=tied, **options)
        ),
        cell=st.sampled_from(CELLS),
        tied=st.booleans(),
        hidden=st.integers(1, 20),
        layers=st.integers(1, 3),
        two_biases=st.booleans(),
    ),
    st.builds(
        lambda **options: Kind(window, window.Options(embedding=6, hidden=10, **options)),
        words=st.integers(1, 7),
        activation=st.sampled_from(["tanh", "gelu", "relu"]),
    ),
)


def stepped(model: torch.nn.Module, tokens: Tensor) -> Tensor:
    """Logits [batch, time, vocabulary], one step after another."""
    state, logits = model.start(len(tokens)), []
    for column in tokens.T:
        now, state = model.step(column, state)
        logits.append(now)
    return torch.stack(logits, 1)


def together(model: torch.nn.Module, tokens: Tensor) -> Tensor:
    """The same by the full forward."""
    return model(pack(Documents.of(tokens.tolist()))).unflatten(0, tokens.shape).detach()


def slopes(model: torch.nn.Module, logits: Tensor) -> tuple[Tensor, ...]:
    """The gradients of the logits' squares, summed up."""
    return torch.autograd.grad((logits**2).sum(), list(model.parameters()), materialize_grads=True)


def random_tokens(batch: int, length: int) -> Tensor:
    return torch.randint(VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(1))


@every_kind
def test_a_batch_equals_its_documents_one_by_one(kind: Kind) -> None:
    model, documents = kind.make(), random_documents(LENGTHS)
    close(model(pack(documents)), torch.cat([model(pack(one)) for one in singles(documents)]), 1e-5)


@every_kind
def test_a_model_says_whether_it_reads_more_than_the_past(kind: Kind) -> None:
    model, documents = kind.make(), random_documents(LENGTHS)
    alike = torch.equal(model(pack(documents)), model(pack(documents, documents.lengths)))
    assert alike == (model.reads == ("causal",))


WITHOUT_ATTENTION = [kind for kind in KINDS if getattr(kind.options, "mixer", None) != "attention"]


@pytest.mark.parametrize("kind", WITHOUT_ATTENTION, ids=str)
def test_a_model_without_attention_makes_no_layout_for_it(kind: Kind) -> None:
    batch = pack(random_documents(LENGTHS))
    kind.make()(batch)
    assert "layout" not in vars(batch)


@every_kind
def test_all_gradients_of_a_batch_equal_those_of_its_documents(kind: Kind) -> None:
    model, documents = kind.make().double(), random_documents([length + 1 for length in LENGTHS])
    for packed, alone in zip(gradients(model, [documents]), gradients(model, singles(documents)), strict=True):
        close(packed, alone, 1e-10)


@every_kind
@pytest.mark.parametrize("asked", [[5, 3, 200, 3], []], ids=["some, one twice", "none"])
def test_logits_asked_for_at_some_tokens_are_theirs_of_all_with_their_gradients(
    kind: Kind, asked: list[int]
) -> None:
    model, batch = kind.make().double(), pack(random_documents(LENGTHS))
    some, of_all = model(batch, torch.tensor(asked, dtype=torch.long)), model(batch)[asked]
    close(some, of_all, 1e-12)
    for one, other in zip(slopes(model, some), slopes(model, of_all), strict=True):
        close(one, other, 1e-10)


@settings(max_examples=40)
@given(kind=any_kind, lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8))
def test_documents_of_any_lengths_equal_themselves_alone(kind: Kind, lengths: list[int]) -> None:
    model, documents = kind.make(), random_documents(lengths)
    close(model(pack(documents)), torch.cat([model(pack(one)) for one in singles(documents)]), 1e-5)


@every_kind
@settings(max_examples=3)
@given(order=st.permutations(range(len(LENGTHS))))
def test_the_order_of_documents_does_not_matter(kind: Kind, order: list[int]) -> None:
    model, documents = kind.make(), random_documents(LENGTHS)
    straight = model(pack(documents)).split(LENGTHS)
    permuted = model(pack(documents.take(order))).split([LENGTHS[index] for index in order])
    for place, index in enumerate(order):
        close(permuted[place], straight[index], 1e-5)


@every_kind
def test_empty_documents_take_no_part(kind: Kind) -> None:
    model = kind.make()
    close(model(pack(Documents.of([[], [1, 2], []]))), model(pack(Documents.of([[1, 2]]))), 0)
    assert model(pack(Documents.of([[]]))).shape == (0, VOCABULARY)


@every_kind
@pytest.mark.parametrize("lengths", [[40], LENGTHS], ids=["one document", "a batch"])
def test_later_tokens_leave_earlier_logits_bit_identical(kind: Kind, lengths: list[int]) -> None:
    model, documents = kind.make(), random_documents(lengths)
    before = model(pack(documents))
    for cut in (1, 7, 29):
        changed = np.where(documents.positions >= cut, (documents.tokens + 1) % VOCABULARY, documents.tokens)
        after = model(pack(Documents(changed, documents.offsets)))
        early = torch.from_numpy(documents.positions < cut)
        assert torch.equal(before[early], after[early])
        assert not torch.equal(before[~early], after[~early])


@every_kind
def test_documents_of_a_batch_do_not_see_each_other(kind: Kind) -> None:
    model, documents = kind.make(), random_documents(LENGTHS)
    before = model(pack(documents))
    for index in range(len(documents)):
        mine = documents.owners == index
        after = model(pack(Documents(np.where(mine, documents.tokens, 7), documents.offsets)))
        assert torch.equal(before[torch.from_numpy(mine)], after[torch.from_numpy(mine)])


@settings(max_examples=60)
@given(kind=any_kind, batch=st.integers(1, 4), length=st.integers(1, 50))
def test_steps_equal_the_full_forward(kind: Kind, batch: int, length: int) -> None:
    model, tokens = kind.make(), random_tokens(batch, length)
    close(stepped(model, tokens), together(model, tokens), 1e-5)


@every_kind
def test_steps_equal_the_full_forward_of_long_documents(kind: Kind) -> None:
    model, tokens = kind.make(), random_tokens(2, 270)
    close(stepped(model, tokens), together(model, tokens), 2e-5)


@every_kind
@pytest.mark.parametrize("length", [0, 3, 15, 16, 32])
def test_a_state_may_be_continued_in_two_ways(kind: Kind, length: int) -> None:
    model, begun, endings = kind.make(), random_tokens(2, length), torch.arange(8).view(2, 2, 2)
    state = model.start(2)
    for column in begun.T:
        _, state = model.step(column, state)
    branches = [model.step(ending[:, 0], state)[1] for ending in endings]
    for ending, branch in zip(endings, branches, strict=True):
        expected = stepped(model, torch.cat([begun, ending], 1))[:, -1]
        assert torch.equal(model.step(ending[:, 1], branch)[0], expected)


SMALL = Kind(transformer, transformer.Options(d_model=32, heads=2, layers=1, d_ff=64))


@pytest.mark.parametrize(
    ("kind", "options", "leaks"),
    [
        (SMALL, flm.Options(), False),
        (SMALL, flm.Options(architecture="bidirectional"), True),
        (Kind(recurrent, recurrent.Options(embedding=16, hidden=32)), flm.Options(), False),
        (Kind(window, window.Options(embedding=16, hidden=32)), flm.Options(), False),
    ],
    ids=["transformer", "a leak", "recurrent", "window"],
)
def test_random_tokens_cannot_be_predicted_below_their_entropy(
    kind: Kind, options: flm.Options, leaks: bool
) -> None:
    symbols, rng = 8, np.random.default_rng(1)
    task, model = flm.Objective(options, symbols), kind.make(symbols)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for seed in range(120):
        batch = task.examples(random_documents([12] * 32, symbols, seed), rng)
        total, count = task.loss(model, batch)
        optimizer.zero_grad()
        (total / count).backward()
        optimizer.step()
    test = task.examples(random_documents([12] * 300, symbols, 999), rng)
    losses = F.cross_entropy(model(*test.inputs), test.targets, reduction="none").detach()
    floor = math.log(symbols) - 3 * losses.std() / math.sqrt(len(losses))
    assert (losses.mean() < floor) == leaks
