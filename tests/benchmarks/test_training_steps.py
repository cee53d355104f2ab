"""How fast training steps are, in one process on one thread: the Transformer packed and padded, and every model.

    pytest -m benchmark -s tests/benchmarks

Passes over the batches alternate, and of each batch the fastest step counts, so that what else the machine does
falls on all ways alike.
"""

import time
from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed
from seedbed.documents import Documents
from seedbed.models import recurrent, transformer, window
from seedbed.models.embedding import select_rows
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.layers import Layer
from seedbed.models.positions import sinusoidal
from seedbed.models.transformer import Model, Options
from seedbed.objectives import flm, scoring

BATCHES, DOCUMENTS, PASSES, VOCABULARY = 30, 32, 8, 100
IGNORED = -100  # the target at padding

Batch = scoring.Batch | tuple[Tensor, Tensor]


def garden_like(rng: np.random.Generator) -> Documents:
    """Documents of a geometric number of short sentences between two marks: 25 tokens on average."""
    lengths = [
        2 + int(rng.choice([5, 6, 8, 9, 10], rng.geometric(1 / 3), p=[0.2, 0.2, 0.3, 0.2, 0.1]).sum())
        for _ in range(DOCUMENTS)
    ]
    return Documents.of([rng.integers(0, VOCABULARY, length) for length in lengths])


def padded(documents: Documents) -> tuple[Tensor, Tensor]:
    """Inputs and targets [documents, longest], as everyone makes them."""
    inputs, targets = (
        nn.utils.rnn.pad_sequence([torch.from_numpy(one) for one in part], batch_first=True, padding_value=value)
        for part, value in ((documents.without_last(), 0), (documents.without_first(), IGNORED))
    )
    return inputs, targets


def packed_loss(model: nn.Module, batch: Batch) -> Tensor:
    assert isinstance(batch, scoring.Batch)
    total, count = flm.Objective(flm.Options(), VOCABULARY).loss(model, batch)
    return total / count


def padded_loss(model: Model, batch: Batch) -> Tensor:
    """The same network on padded rows; causal, so that padding on the right needs no mask of its own."""
    assert isinstance(batch, tuple)
    inputs, targets = batch
    width = model.embedding.weight.shape[1]
    hidden = model.embedding(inputs) + sinusoidal(inputs.shape[1], width)
    for layer in model.layers:
        assert isinstance(layer, Layer)
        hidden = hidden + layer.mixer.output(_causal(layer.mixer.project(layer.mixer_norm(hidden)), model))
        hidden = hidden + layer.feed_forward(layer.feed_forward_norm(hidden))
    logits = model.embedding.logits(model.norm(hidden))
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def _causal(projected: Tensor, model: Model) -> Tensor:
    heads = projected.unflatten(2, (3, model.heads, -1)).permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)


class Encoder(nn.Module):
    """PyTorch's own layers with a causal and a padding mask: the textbook way."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            options.d_model, options.heads, options.d_ff, 0.0, "gelu", batch_first=True, norm_first=True
        )
        norm = nn.LayerNorm(options.d_model)
        self.layers = nn.TransformerEncoder(layer, options.layers, norm, enable_nested_tensor=False)
        self.embedding = nn.Embedding(VOCABULARY, options.d_model)

    def loss(self, inputs: Tensor, targets: Tensor) -> Tensor:
        longest = inputs.shape[1]
        hidden = self.embedding(inputs) + sinusoidal(longest, self.embedding.embedding_dim)
        hidden = self.layers(
            hidden, torch.ones(longest, longest).triu(1).bool(), src_key_padding_mask=targets == IGNORED
        )
        logits = F.linear(hidden, self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def step_of(model: nn.Module, loss: Callable[..., Tensor]) -> Callable[[Batch], None]:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)

    def step(batch: Batch) -> None:
        optimizer.zero_grad()
        loss(model, batch).backward()
        optimizer.step()

    return step


def model_of() -> Model:
    return filled(transformer, Options())  # type: ignore[return-value]


def filled(module: ModuleType, options: object) -> nn.Module:
    model: nn.Module = unfilled(lambda: module.Model(options, VOCABULARY))
    fill(model, torch.Generator().manual_seed(0))
    return model


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def fastest(ways: dict[str, tuple[Callable[[Batch], None], Sequence[Batch]]]) -> tuple[dict[str, float], float]:
    """Seconds of all batches by each way, and the core's peak in floating-point operations a second."""
    best = {name: np.full(BATCHES, np.inf) for name in ways}
    matrix, product = torch.randn(1024, 1024), np.inf
    for _ in range(PASSES):
        product = min(product, *(seconds(lambda: matrix @ matrix) for _ in range(20)))
        for name, (step, batches) in ways.items():
            taken = [seconds(lambda step=step, batch=batch: step(batch)) for batch in batches]
            best[name] = np.minimum(best[name], taken)
    return {name: float(times.sum()) for name, times in best.items()}, 2 * 1024**3 / product


@pytest.mark.benchmark
def test_a_packed_step_against_a_padded_one() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    objective, corpus = flm.Objective(flm.Options(), VOCABULARY), [garden_like(rng) for _ in range(BATCHES)]
    packing = seconds(lambda: [objective.examples(documents, rng) for documents in corpus])
    packed, rows = [objective.examples(documents, rng) for documents in corpus], [*map(padded, corpus)]
    torch.testing.assert_close(packed_loss(model_of(), packed[0]), padded_loss(model_of(), rows[0]))
    times, peak = fastest(
        {
            "packed": (step_of(model_of(), packed_loss), packed),
            "padded, same network": (step_of(model_of(), padded_loss), rows),
            "padded, nn.TransformerEncoder": (
                step_of(Encoder(Options()), lambda model, batch: model.loss(*batch)),
                rows,
            ),
        }
    )
    torch.set_num_threads(threads)
    report(times, peak, sum(len(batch.targets) for batch in packed), packing)


def report(times: dict[str, float], peak: float, tokens: int, packing: float) -> None:
    parameters = sum(parameter.numel() for parameter in model_of().parameters())
    print(f"\npeak {peak / 1e9:.1f} GFLOP/s; {tokens / BATCHES:.0f} tokens a batch, packed in {_ms(packing)} ms")
    for name, taken in times.items():
        share = 6 * parameters * tokens / taken / peak
        ratio = taken / times["packed"]
        print(
            f"{name:30} {_ms(taken)} ms a step  {ratio:4.2f} x packed"
            f"  {tokens / taken:7.0f} tokens/s  {share:4.0%} of peak"
        )


def _ms(taken: float) -> str:
    return f"{1e3 * taken / BATCHES:5.2f}"


#: About as many parameters each as the garden's Transformer.
NETWORKS = {
    "window": (window, window.Options()),
    "rnn": (recurrent, recurrent.Options(cell="rnn", hidden=244)),
    "gru": (recurrent, recurrent.Options(cell="gru", hidden=140)),
    "lstm": (recurrent, recurrent.Options(cell="lstm", hidden=119)),
    **{
        f"transformer, {code}": (transformer, Options(positions=code))
        for code in ("sinusoidal", "learned", "none", "rope", "alibi")
    },
    "transformer, gated linear": (transformer, Options(mixer="gated_linear", positions="none")),
    "transformer, post-norm": (transformer, Options(norm="post")),
    "transformer, one layer": (transformer, Options(layers=1)),
}


class TorchRecurrent(nn.Module):
    """PyTorch's own recurrent layer on a PackedSequence: the textbook way."""

    def __init__(self, kind: type[nn.RNNBase], hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 64)
        self.layer, self.output = kind(64, hidden), nn.Linear(hidden, VOCABULARY)

    def forward(self, batch: Packed, scored: Tensor | None = None) -> Tensor:
        data = self.embedding(batch.tokens[batch.time_steps.order])
        hidden, _ = self.layer(nn.utils.rnn.PackedSequence(data, torch.tensor(batch.time_steps.sizes)))
        return self.output(select_rows(hidden.data[batch.time_steps.inverse], scored))


@pytest.mark.benchmark
def test_a_step_of_every_model() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    objective = flm.Objective(flm.Options(), VOCABULARY)
    batches = [objective.examples(garden_like(rng), rng) for _ in range(BATCHES)]
    models: dict[str, nn.Module] = {name: filled(*network) for name, network in NETWORKS.items()}
    for kind, hidden in ((nn.RNN, 244), (nn.GRU, 140), (nn.LSTM, 119)):
        models[f"torch.nn.{kind.__name__}, packed"] = TorchRecurrent(kind, hidden)
    times, _ = fastest({name: (step_of(model, packed_loss), batches) for name, model in models.items()})
    torch.set_num_threads(threads)
    print()
    for name, taken in times.items():
        parameters = sum(parameter.numel() for parameter in models[name].parameters())
        print(f"{name:30} {_ms(taken)} ms a step  {parameters:7} parameters")
