"""Documents whose first part is given and whose rest is asked, laid out for each architecture (objectives 4.1).

``a b | c d`` with ``a b`` given, where brackets see each other:

    causal           reads a b c,           is scored on c d behind b
    prefix           reads [a b] c,         is scored on c d behind b
    encoder_decoder  reads [a b] in the encoder and <bos> c in the decoder, is scored on c d
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seedbed.batching import pack
from seedbed.decoding.following import Following, rectangle
from seedbed.decoding.steps import Steps
from seedbed.documents import Documents, Tokens, joined, single, split
from seedbed.languages.vocabulary import BEGIN, END, Vocabulary
from seedbed.objectives.scoring import Batch, Numbers, chunks, log_probabilities, of_targets

Architecture = Literal["causal", "prefix", "encoder_decoder"]


def conditional(documents: Documents, given: NDArray[np.int64], architecture: Architecture) -> Batch:
    """Examples in which the first ``given`` tokens of each document are the condition, and the others are scored.

    Raises:
        ValueError: a document is empty, or does not hold as much as is given, which is at least one token.
    """
    if (given < 1).any() or (given > documents.lengths).any():
        raise ValueError("one token or more is given of each document, at most all; an empty document has none")
    if architecture == "encoder_decoder":
        return _two_streams(*split(documents, given))
    inputs = documents.without_last()
    scored = np.flatnonzero(inputs.positions >= given[inputs.owners] - 1)
    asked = documents.tokens[documents.positions >= given[documents.owners]]
    return Batch(
        (pack(inputs, np.minimum(given, inputs.lengths) if architecture == "prefix" else None),),
        torch.from_numpy(asked),
        None if len(scored) == len(inputs.tokens) else torch.from_numpy(scored),
    )


def require_marks(vocabulary: Vocabulary, use: str) -> None:
    """Refuse a vocabulary without <bos> and <eos>, as tasks have.

    Raises:
        ValueError: it has none; the message says what for they are needed.
    """
    if not vocabulary.marks:
        raise ValueError(f"{use} needs documents between <bos> and <eos>: give the run data of a language")


def _two_streams(sources: Documents, answers: Documents) -> Batch:
    begun = np.roll(answers.tokens, 1)
    begun[answers.offsets[:-1][answers.lengths > 0]] = BEGIN
    inputs = pack(sources, sources.lengths), pack(Documents(begun, answers.offsets))
    return Batch(inputs, torch.from_numpy(answers.tokens))


def left_to_right(model: nn.Module, documents: Documents, architecture: Architecture) -> Numbers:
    """[tokens, vocabulary], log probabilities of what follows each token, given one token: <bos>."""
    longer = ended(documents)
    ones = np.ones(len(documents), np.int64)
    batches = (conditional(longer.take(some), ones[some], architecture) for some in chunks(len(documents)))
    return log_probabilities(model, batches)


def continuation(
    model: nn.Module, documents: Documents, given: NDArray[np.int64], architecture: Architecture
) -> Numbers:
    """[asked tokens], the log probability of each, left to right."""
    return of_targets(
        model, (conditional(documents.take(some), given[some], architecture) for some in chunks(len(documents)))
    )


def beginning(
    model: Any,  # noqa: ANN401 - with `start` and `step`, which nn.Module does not promise
    given: list[int],
    begun: list[int],
    documents: int,
    architecture: Architecture,
) -> tuple[list[int], Following]:
    """So many documents that are written from the same tokens on: what they begin with, and what follows.

    Args:
        model: Reads no token twice, but for a prefix of several tokens: these see each other, so that they are not
            read one by one, and everything is read again for each new token.
        given: The condition, one token or more.
        begun: The first tokens behind it, which are not written either.
        documents: How many.
        architecture: Where the condition stands.
    """
    if architecture == "encoder_decoder":
        sources = rectangle(np.tile(given, (documents, 1)))
        return [BEGIN, *begun], Steps(model, model.start(pack(sources, sources.lengths)), documents)
    if architecture == "causal" or len(given) == 1:
        return [*given, *begun], Steps(model, model.start(documents), documents)

    def following(growing: Tokens, texts: Tokens) -> Numbers:
        longer, parts = ended(rectangle(texts)), []
        scored = texts.shape[1] + 1 - len(given)  # of each document, the last of which is what follows
        for some in chunks(len(texts)):
            batch = conditional(longer.take(some), np.full(len(some), len(given)), architecture)
            parts.append(log_probabilities(model, [batch])[scored - 1 :: scored])
        return np.concatenate(parts)

    return [*given, *begun], following


def ended(documents: Documents) -> Documents:
    """The documents with the token that ends one behind each."""
    return joined(documents, single(END, len(documents)))
