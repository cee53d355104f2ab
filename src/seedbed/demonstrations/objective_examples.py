"""What objectives make of a text, number by number: blocks, losses, masks and inputs (pretraining 12, 19, 20, 22).

Losses of ours are compared with the mean of -log p in NumPy. Networks are untrained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed, pack
from seedbed.demonstrations.numpy_layers import softmax
from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.messages import require_positive
from seedbed.models import transformer
from seedbed.models.embedding import select_rows
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.recurrence import Recurrence
from seedbed.objectives import flm, mlm
from seedbed.observations import Observation

NEEDS = ("language", "rng")

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """Sizes of the text and of the networks."""

    blocks: int = 4
    length: int = 16  # tokens of a block
    documents: int = 2000  # in which tokens are hidden
    width: int = 32
    heads: int = 4
    steps: int = 3  # of a training that is run twice

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or heads that do not divide the width.
        """
        require_positive(**vars(self))
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


def demonstrate(options: Options, *, language: Language, rng: np.random.Generator) -> Iterator[Observation]:
    """Of blocks ``block_shape`` and ``mismatches``, of losses ``loss`` and ``loss_difference`` by objective.

    ``mismatches`` counts tokens of blocks that are not those of the text, or of the block shifted by one.
    ``uniform_loss`` is ln V. ``sum_difference`` compares the objective's summed loss with minus the log
    probabilities of tokens that are read one by one. ``gradient`` is the largest one by a logit, at tokens that
    are hidden or not. ``context_share`` is the share of tokens on either ``side`` of a hidden one that change its
    logits. ``hidden_share`` is the share of hidden tokens; ``replaced_share`` of these, by what replaces them.
    ``input_difference`` compares the sum of three embeddings with one product, and ``segment_difference`` how the
    sum changes with the segment with the difference of the segments' rows. ``parts`` counts layers of a
    Transformer by kind. ``rerun_difference`` is the largest of weights after two trainings, with the ``seed`` the
    same or another.
    """
    seed = int(rng.integers(2**31))
    text = language.sample(rng, 1 + options.blocks * options.length // 2).tokens
    starts = rng.integers(0, len(text) - options.length, options.blocks)
    blocks = Documents.of([text[start : start + options.length + 1] for start in starts])
    network = _network(options, len(language.vocabulary), seed)
    objective = flm.Objective(flm.Options(), language.vocabulary)
    yield from _shifted(objective, blocks, text, starts, options.length)
    yield from _next_token(network, objective, blocks, len(language.vocabulary))
    yield from _masked(network, language, rng)
    yield from _rates(language, options.documents, rng)
    yield from _bert_input(options, rng)
    yield from _parts(network)
    trained = [
        _trained(options, objective, blocks, len(language.vocabulary), one) for one in (seed, seed, seed + 1)
    ]
    for which, weights in zip(("same", "another"), trained[1:], strict=True):
        yield Observation(
            "rerun_difference", float((trained[0] - weights).abs().max()), {"seed": which}, "deviation"
        )


def _network(options: Options, vocabulary: int, seed: int) -> transformer.Model:
    sizes = transformer.Options(options.width, options.heads, 2, 4 * options.width, embedding_std=0.02)
    network = unfilled(lambda: transformer.Model(sizes, vocabulary))
    fill(network, torch.Generator().manual_seed(seed))
    return network.double()


def _shifted(
    objective: flm.Objective, blocks: Documents, text: Tokens, starts: Tokens, length: int
) -> Iterator[Observation]:
    batch = objective.examples(blocks, np.random.default_rng(0))
    inputs = batch.inputs[0].tokens.numpy().reshape(len(blocks), -1)
    targets = batch.targets.numpy().reshape(len(blocks), -1)
    for name, array in (("inputs", inputs), ("targets", targets)):
        for axis, size in zip(("blocks", "tokens"), array.shape, strict=True):
            yield Observation("block_shape", size, {"of": name, "axis": axis}, "count")
    pairs = {
        "inputs and text": (inputs, np.stack([text[start : start + length] for start in starts])),
        "targets and text": (targets, np.stack([text[start + 1 : start + 1 + length] for start in starts])),
        "targets and next inputs": (targets[:, :-1], inputs[:, 1:]),
    }
    for name, (one, other) in pairs.items():
        yield Observation("mismatches", int((one != other).sum()), {"of": name}, "count")


@torch.no_grad()
def _next_token(
    network: transformer.Model, objective: flm.Objective, blocks: Documents, vocabulary: int
) -> Iterator[Observation]:
    batch = objective.examples(blocks, np.random.default_rng(0))
    total, scored = objective.loss(network, batch)
    by_hand = _mean_loss(network(*batch.inputs), batch.targets)
    yield Observation("loss", float(total) / scored, {"objective": "flm"}, "nat")
    yield Observation("loss_difference", abs(float(total) / scored - by_hand), {"objective": "flm"}, "nat")
    yield Observation("uniform_loss", math.log(vocabulary), unit="nat")
    one_by_one = sum(_log_probability(network, block) for block in blocks)
    yield Observation("sum_difference", abs(float(total) + one_by_one), unit="nat")


def _mean_loss(logits: Tensor, targets: Tensor) -> float:
    probabilities = softmax(logits.detach().numpy())
    return float(-np.log(probabilities[np.arange(len(targets)), targets.numpy()]).mean())


def _log_probability(network: transformer.Model, tokens: Tokens) -> float:
    """Of all tokens but the first, each given those before it, which are read one by one."""
    state, total = network.start(1), 0.0
    for token, after in pairwise(tokens):
        logits, state = network.step(torch.tensor([token]), state)
        total += math.log(softmax(logits.numpy())[0, after])
    return total


class _Logits(nn.Module):
    """A model whose logits are its weights, whatever it reads."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = nn.Parameter(logits)

    def forward(self, batch: Packed, scored: Tensor | None = None) -> Tensor:
        return select_rows(self.logits, scored)


def _masked(network: transformer.Model, language: Language, rng: np.random.Generator) -> Iterator[Observation]:
    """The loss of hidden tokens, and what their logits depend on."""
    objective, documents = mlm.Objective(mlm.Options(mask=1.0, random=0.0, keep=0.0), language.vocabulary), 8
    batch = objective.examples(language.sample(rng, documents), rng)
    assert batch.scored is not None
    read = batch.inputs[0]
    model = _Logits(torch.from_numpy(rng.standard_normal((len(read.tokens), len(language.vocabulary)))))
    total, scored = objective.loss(model, batch)
    total.backward()  # type: ignore[no-untyped-call]
    asked = torch.full((len(read.tokens),), -100)  # what PyTorch ignores
    asked[batch.scored] = batch.targets
    found = float(total.detach()) / scored
    difference = abs(found - float(F.cross_entropy(model.logits.detach(), asked)))
    yield Observation("loss_difference", difference, {"objective": "mlm"}, "nat")
    assert model.logits.grad is not None
    largest = model.logits.grad.abs().amax(1)
    for name, chosen in (("hidden", asked != -100), ("not hidden", asked == -100)):
        value = largest[chosen].min() if name == "hidden" else largest[chosen].max()
        yield Observation("gradient", float(value), {"at": name}, "ratio")
    hidden = read.tokens[batch.scored] == language.vocabulary.id("<mask>")
    yield Observation("mask_share", float(hidden.double().mean()), unit="share")
    tokens = language.encode("<bos> she picks her ripe plum from her own garden . <eos>")
    for side, share in _context(network, tokens, 5, language.vocabulary.id("<mask>")).items():
        yield Observation("context_share", share, {"side": side}, "share")


@torch.no_grad()
def _context(network: transformer.Model, tokens: Tokens, place: int, mask: int) -> dict[str, float]:
    """By side of the hidden token at a place, the share of tokens that change its logits."""

    def logits(given: Tokens) -> Tensor:
        found: Tensor = network(pack(Documents.of([given]), [len(given)]), torch.tensor([place]))
        return found

    text = tokens.copy()
    text[place] = mask
    changes = []
    for other in range(len(text)):
        changed = text.copy()
        changed[other] = (text[other] + 1) % network.embedding.weight.shape[0]
        changes.append(bool((logits(changed) != logits(text)).any()))
    return {"left": float(np.mean(changes[:place])), "right": float(np.mean(changes[place + 1 :]))}


def _rates(language: Language, number: int, rng: np.random.Generator) -> Iterator[Observation]:
    """How often a token is hidden, and by what; a random word may be the same again."""
    documents = language.sample(rng, number)
    batch = mlm.Objective(mlm.Options(), language.vocabulary).examples(documents, rng)
    assert batch.scored is not None
    read, targets = batch.inputs[0].tokens[batch.scored], batch.targets
    yield Observation("hidden_share", len(targets) / (len(documents.tokens) - number), unit="share")
    masked, same = read == language.vocabulary.id("<mask>"), read == targets
    for name, found in (("mask", masked), ("random", ~masked & ~same), ("same", same)):
        yield Observation("replaced_share", float(found.double().mean()), {"by": name}, "share")


def _bert_input(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """Rows of three tables, added, and one-hot vectors times all tables below each other."""
    sizes = {"token": 20, "segment": 2, "position": options.length}
    tables = {name: rng.standard_normal((size, options.width)) for name, size in sizes.items()}
    ids = {
        "token": rng.integers(0, 20, options.length),
        "segment": (np.arange(options.length) >= options.length // 2).astype(np.int64),
        "position": np.arange(options.length),
    }
    added = sum(tables[name][ids[name]] for name in sizes)
    onehot = np.concatenate([np.eye(size)[ids[name]] for name, size in sizes.items()], 1)
    product = onehot @ np.concatenate(list(tables.values()))
    yield Observation("input_difference", float(np.abs(added - product).max()), unit="deviation")
    onehot[:, 20:22] = onehot[:, [21, 20]]
    swapped = onehot @ np.concatenate(list(tables.values()))
    first, second = tables["segment"]
    expected = np.where(ids["segment"][:, None] == 0, second - first, first - second)
    yield Observation("segment_difference", float(np.abs(swapped - added - expected).max()), unit="deviation")


def _parts(network: nn.Module) -> Iterator[Observation]:
    kinds: dict[str, tuple[type, ...]] = {
        "recurrent": (nn.RNNBase, nn.RNNCellBase, Recurrence),
        "convolution": (nn.Conv1d, nn.Conv2d, nn.Conv3d),
        "attention": (SelfAttention,),
        "norm": (nn.LayerNorm,),
    }
    for name, kind in kinds.items():
        number = sum(isinstance(part, kind) for part in network.modules())
        yield Observation("parts", number, {"kind": name}, "count")


def _trained(options: Options, objective: flm.Objective, blocks: Documents, vocabulary: int, seed: int) -> Tensor:
    """All weights after some steps of gradient descent."""
    network = _network(options, vocabulary, seed)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(options.steps):
        total, scored = objective.loss(network, objective.examples(blocks, np.random.default_rng(0)))
        optimizer.zero_grad()
        (total / scored).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return nn.utils.parameters_to_vector(network.parameters()).detach()
