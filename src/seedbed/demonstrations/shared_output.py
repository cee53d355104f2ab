"""What recurrent networks and Transformers share as language models: the output and the loss (recurrence 4.1).

A network makes a hidden vector of what it has read. The rest is the same: a linear map to the vocabulary, softmax,
and the cross-entropy of the next token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.demonstrations import numpy_layers
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models import recurrent, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.mixers import attention
from seedbed.objectives import scoring
from seedbed.observations import Observation

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the networks, and what they read."""

    width: int = 16
    heads: int = 2
    vocabulary: int = 20
    lengths: tuple[int, ...] = (5, 1, 9)  # tokens of the documents

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or no document.
        """
        require_positive(
            width=self.width, heads=self.heads, vocabulary=self.vocabulary, length=min(self.lengths, default=0)
        )


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By network, how far it is from softmax(h W' + b) and the cross-entropy, both by NumPy.

    ``logit_difference`` is the largest difference of logits, h being what its output layer is given.
    ``probability_deviation`` is how far the probabilities of a token's successors are from a sum of 1.
    ``loss_difference`` is the difference of the loss of one function for all networks from the mean of −log p.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    documents = Documents.of([rng.integers(options.vocabulary, size=length) for length in options.lengths])
    targets = rng.integers(options.vocabulary, size=sum(options.lengths))
    everything = torch.arange(len(targets))
    batch = scoring.Batch((pack(documents),), torch.from_numpy(targets), everything)
    for name, make in _networks(options).items():
        network = unfilled(make)
        fill(network, generator)
        for metric, value in _compared(network.double(), batch).items():
            unit = "share" if metric == "probability_deviation" else "nat"
            yield Observation(metric, value, {"network": name}, unit)


def _networks(options: Options) -> Mapping[str, Callable[[], nn.Module]]:
    width, vocabulary = options.width, options.vocabulary
    mixer = attention.__name__.rpartition(".")[2]  # imported, so that the fingerprint covers it
    sizes = transformer.Options(width, options.heads, layers=2, d_ff=4 * width, tied=False, mixer=mixer)
    return {
        "rnn": lambda: recurrent.Model(recurrent.Options("rnn", width, width), vocabulary),
        "lstm": lambda: recurrent.Model(recurrent.Options("lstm", width, width), vocabulary),
        "transformer": lambda: transformer.Model(sizes, vocabulary),
    }


@torch.no_grad()
def _compared(network: nn.Module, batch: scoring.Batch) -> dict[str, float]:
    given: list[Tensor] = []
    output = network.get_submodule("output")
    assert isinstance(output, nn.Linear)
    hook = output.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    logits = scoring.logits(network, batch).numpy()
    hook.remove()
    expected = given[0].numpy() @ output.weight.numpy().T + (0 if output.bias is None else output.bias.numpy())
    total, number = scoring.loss(network, batch)
    probabilities = numpy_layers.softmax(expected)
    loss = -np.log(probabilities[np.arange(number), batch.targets.numpy()]).mean()
    sums = np.exp(scoring.log_probabilities(network, [batch])).sum(1)
    return {
        "logit_difference": float(np.abs(logits - expected).max()),
        "probability_deviation": float(np.abs(sums - 1).max()),
        "loss_difference": abs(float(total) / number - float(loss)),
    }
