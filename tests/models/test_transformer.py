import math
from itertools import product

import numpy as np
import pytest
import torch
from networks import VOCABULARY, Kind, close, gradients, random_documents, size
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models import transformer
from seedbed.models.positions import position_vectors
from seedbed.models.transformer import Model, Options
from seedbed.tasks import recall
from seedbed.training.loop import snapshot


def model_of(options: Options = Options(), vocabulary: int = VOCABULARY) -> Model:  # noqa: B008 - frozen
    return Kind(transformer, options).make(vocabulary)  # type: ignore[return-value]


def test_long_documents_are_accepted() -> None:
    logits = model_of()(pack(random_documents([700, 3])))
    assert logits.shape == (703, VOCABULARY)
    assert logits.isfinite().all()


class Independent:
    """The same network of PyTorch's own layers, one document at a time, with its own positions."""

    def __init__(self, model: Model, options: Options) -> None:
        self.options, self.model = options, model
        self.layers = [self._copy(layer) for layer in model.layers]

    def _copy(self, layer: nn.Module) -> nn.TransformerEncoderLayer:
        copy = nn.TransformerEncoderLayer(
            self.options.d_model,
            self.options.heads,
            self.options.d_ff,
            dropout=0.0,
            activation=self.options.activation,
            batch_first=True,
            norm_first=self.options.norm == "pre",
        )
        theirs = ["norm1", "self_attn.in_proj_", "self_attn.out_proj", "norm2", "linear1", "linear2"]
        ours = [
            *("mixer_norm", "mixer.project", "mixer.output"),
            *("feed_forward_norm", "feed_forward.expand", "feed_forward.contract"),
        ]
        for their, our in zip(theirs, ours, strict=True):
            for kind in ("weight", "bias"):
                name = their + kind if their.endswith("_") else f"{their}.{kind}"
                copy.get_parameter(name).data = layer.get_parameter(f"{our}.{kind}").data
        return copy.train()  # evaluation would take the fast path, which has rounded and reshaped differently

    def __call__(self, tokens: Tensor, allowed: Tensor) -> Tensor:
        table = self.model.embedding.weight
        factor = math.sqrt(self.options.d_model) if self.options.scale_embedding else 1
        hidden = (table[tokens] * factor + self._positions(len(tokens)))[None]
        for layer in self.layers:
            hidden = self._layer(layer, hidden, allowed)
        if self.options.norm == "pre":
            norm = self.model.norm
            hidden = F.layer_norm(hidden, (self.options.d_model,), norm.weight, norm.bias)
        return hidden[0] @ (table if self.options.tied else self.model.output.weight).T

    def _positions(self, length: int) -> Tensor:
        width, positions = self.options.d_model, torch.zeros(length, self.options.d_model)
        if self.options.positions == "sinusoidal":
            frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
            turn = torch.outer(torch.arange(length).float(), frequency)
            positions[:, 0::2], positions[:, 1::2] = turn.sin(), turn.cos()
        if self.options.positions == "learned":
            positions = self.model.table.weight[:length]
        return positions

    def _layer(self, layer: nn.TransformerEncoderLayer, hidden: Tensor, allowed: Tensor) -> Tensor:
        if self.options.positions == "rope":
            return rotary_layer(layer, hidden[0], allowed)[None]
        mask = torch.zeros(self.options.heads, *allowed.shape).masked_fill(~allowed, -math.inf)
        if self.options.positions == "alibi":
            for head, query, key in product(*map(range, mask.shape)):
                mask[head, query, key] -= 2 ** (-8 * (head + 1) / self.options.heads) * abs(query - key)
        return layer(hidden, src_mask=mask)  # type: ignore[no-any-return]


def rotary_layer(layer: nn.TransformerEncoderLayer, hidden: Tensor, allowed: Tensor) -> Tensor:
    """A pre-norm layer whose scores are ``q' R(j - i) k`` with a rotation matrix for every distance."""
    attention, width = layer.self_attn, layer.self_attn.head_dim
    projected = F.linear(layer.norm1(hidden), attention.in_proj_weight, attention.in_proj_bias)
    queries, keys, values = projected.unflatten(1, (3, attention.num_heads, width)).permute(1, 2, 0, 3)
    length = len(hidden)
    rotations = torch.stack([rotation(distance, width) for distance in range(1 - length, length)])
    place = torch.arange(length)
    turned = torch.einsum("ijab,hjb->hija", rotations[place - place[:, None] + length - 1], keys)
    scores = torch.einsum("hia,hija->hij", queries, turned) / math.sqrt(width)
    weights = scores.masked_fill(~allowed, -math.inf).softmax(-1)
    hidden = hidden + attention.out_proj((weights @ values).transpose(0, 1).flatten(1))
    return hidden + layer.linear2(layer.activation(layer.linear1(layer.norm2(hidden))))  # type: ignore[no-any-return]


def rotation(distance: int, width: int) -> Tensor:
    blocks = []
    for pair in range(width // 2):
        angle = distance * 10000 ** (-2 * pair / width)
        blocks.append(torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]))
    return torch.block_diag(*blocks)


VARIANTS = [
    Options(),
    Options(d_model=32, heads=2, layers=3, d_ff=48, scale_embedding=False),
    *(
        Options(d_model=24, heads=4 if code == "alibi" else 3, norm=norm, activation=activation, positions=code)
        for code in ("sinusoidal", "learned", "none", "alibi")
        for norm, activation in (("pre", "relu"), ("post", "gelu"), ("post", "relu"))
    ),
    Options(d_model=24, heads=3, positions="rope"),
    Options(d_model=32, heads=2, positions="rope", activation="relu", tied=False),
    Options(tied=False, position_std=1.0, positions="learned"),
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: str(Kind(transformer, options)))
def test_equals_an_independent_implementation(options: Options) -> None:
    lengths = [1, 2, 30, 9, 40]
    model, documents = model_of(options), random_documents(lengths)
    theirs, weights = (
        Independent(model, options),
        torch.randn(sum(lengths), VOCABULARY, generator=torch.Generator().manual_seed(3)),
    )
    expected = torch.cat(
        [
            theirs(torch.from_numpy(tokens), torch.ones(len(tokens), len(tokens)).tril().bool())
            for tokens in documents
        ]
    )
    ours, table = model(pack(documents)), model.embedding.weight
    close(ours, expected, 2e-5)
    (gradient,), (other,) = (torch.autograd.grad((each * weights).sum(), table) for each in (ours, expected))
    torch.testing.assert_close(gradient, other, rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize("code", ["sinusoidal", "learned", "none", "rope", "alibi"])
def test_prefixes_equal_an_independent_implementation(code: str) -> None:
    options = Options(d_model=32, positions=code)
    lengths, prefixes = [1, 2, 30, 9, 40], [0, 2, 17, 1, 40]
    model, documents = model_of(options), random_documents(lengths)
    theirs, expected = Independent(model, options), []
    for tokens, prefix in zip(documents, prefixes, strict=True):
        allowed = torch.ones(len(tokens), len(tokens)).tril().bool()
        allowed[:, :prefix] = True
        expected.append(theirs(torch.from_numpy(tokens), allowed))
    close(model(pack(documents, prefixes)), torch.cat(expected), 2e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("code", ["sinusoidal", "learned", "none", "rope", "alibi"])
def test_the_parameters_count_as_the_closed_formula(norm: str, tied: bool, code: str) -> None:
    options = Options(d_model=32, heads=8, layers=3, d_ff=70, norm=norm, tied=tied, positions=code)
    d, f, vocabulary = 32, 70, 11
    attention, feed_forward, norms = 4 * d * d + 4 * d, 2 * d * f + f + d, 4 * d
    expected = (1 if tied else 2) * vocabulary * d + 3 * (attention + feed_forward + norms)
    expected += (2 * d if norm == "pre" else 0) + (512 * d if code == "learned" else 0)
    assert size(model_of(options, vocabulary)) == expected


@pytest.mark.parametrize(
    ("options", "vocabulary", "expected"),
    [
        (Options(), 100, 106_496),
        (Options(layers=1), 100, 56_512),
        (Options(positions="learned"), 100, 106_496 + 32_768),
        (Options(positions="learned", max_positions=120), 56, 111_360),
        (Options(), 56, 103_680),
        (Options(positions="none"), 56, 103_680),
        (Options(positions="learned", max_positions=64, tied=False), 56, 111_360),
        (Options(d_model=32, heads=2, d_ff=128, positions="learned", max_positions=120), 18, 29_888),
    ],
    ids=str,
)
def test_the_parameters_count_as_the_lectures_say(options: Options, vocabulary: int, expected: int) -> None:
    assert size(model_of(options, vocabulary)) == expected


def test_positions_that_no_document_reaches_never_move() -> None:
    model = model_of(Options(positions="learned"))
    before = snapshot(model)["table.weight"]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    for seed in range(3):
        documents = random_documents([60, 3, 21], seed=seed)
        for parameter, gradient in zip(model.parameters(), gradients(model, [documents]), strict=True):
            parameter.grad = gradient
        assert not model.table.weight.grad[59:].any()
        optimizer.step()
    assert torch.equal(model.table.weight[59:], before[59:])
    assert (model.table.weight[:59] != before[:59]).any(1).all()


def test_a_document_beyond_the_learned_positions_is_refused() -> None:
    model = model_of(Options(positions="learned", max_positions=4))
    model(pack(random_documents([4])))
    with pytest.raises(ValueError, match="raise max_positions"):
        model(pack(random_documents([2, 5])))
    state = model.start(1)
    for _ in range(4):
        _, state = model.step(torch.tensor([0]), state)
    with pytest.raises(ValueError, match="raise max_positions"):
        model.step(torch.tensor([0]), state)


def test_the_recall_table_of_120_rows_ends_at_distance_118() -> None:
    model = model_of(Options(d_model=32, heads=2, d_ff=128, positions="learned", max_positions=120))
    rng = np.random.default_rng(0)
    farthest, farther = (Documents.of(recall.sequences(rng, 2, distance)) for distance in (118, 119))
    assert len(model(pack(farthest.without_last()))) == 2 * 120
    with pytest.raises(ValueError, match="a document of 121 tokens is longer"):
        model(pack(farther.without_last()))


def test_sinusoids_of_scale_0_are_no_positions() -> None:
    batch = pack(random_documents([30, 2]))
    flat, none = model_of(Options(position_scale=0.0)), model_of(Options(positions="none"))
    assert torch.equal(flat(batch), none(batch))


def test_the_scale_multiplies_the_sinusoids() -> None:
    model, batch = model_of(Options(position_scale=0.1)), pack(random_documents([30, 2]))
    added = model._embed(batch.tokens, batch.positions) - model.embedding(batch.tokens)
    close(added, 0.1 * position_vectors(batch.positions, 64), 1e-6)


def test_the_code_of_positions_changes_no_other_initial_weight() -> None:
    plain = snapshot(model_of())
    for code in ("learned", "none", "rope", "alibi"):
        weights = snapshot(model_of(Options(positions=code)))
        assert all(torch.equal(weights[name], value) for name, value in plain.items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 63, "heads": 3}, "even d_model, not 63"),
        ({"heads": 5}, "heads: 5 do not divide d_model, 64"),
        ({"d_model": 12, "heads": 4, "positions": "rope"}, "heads of an even width, not 3"),
        ({"heads": 0}, "heads 0: expected at least 1"),
        ({"max_positions": 0}, "max_positions 0: expected at least 1"),
        ({"embedding_std": -1.0}, "embedding_std is at least 0, not -1"),
        ({"position_std": -0.1}, "position_std is at least 0, not -0.1"),
        ({"linear_std": -0.02}, "linear_std is at least 0, not -0.02"),
    ],
)
def test_options_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**changes)


def test_an_odd_width_without_sinusoids_is_accepted() -> None:
    logits = model_of(Options(d_model=9, heads=3, positions="none"))(pack(random_documents([5])))
    assert np.isfinite(logits.detach().numpy()).all()
