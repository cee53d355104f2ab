"""Batches in which the start of a document is given and the rest is scored (objectives 4.1).

With ``a b`` of ``a b c d`` given, a model of each architecture reads the following and is scored on ``c d``.
Tokens in brackets see each other; any other token sees the tokens before it.

    causal           a b c
    prefix           [a b] c
    encoder_decoder  [a b] in the encoder, <bos> c in the decoder
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seedbed.batching import pack
from seedbed.decoding.following import NextTokenScorer, rows_as_documents
from seedbed.decoding.steps import StepwiseScorer
from seedbed.documents import Documents, Tokens, join_each, repeat_token, split_each
from seedbed.languages.vocabulary import BEGIN, END, Vocabulary
from seedbed.objectives.scoring import Batch, Numbers, chunks, log_probabilities, target_log_probabilities

Architecture = Literal["causal", "prefix", "encoder_decoder"]


def conditional_batch(documents: Documents, given: NDArray[np.int64], architecture: Architecture) -> Batch:
    """A batch in which the first ``given`` tokens of each document are the condition, and the others are scored.

    Raises:
        ValueError: a document is empty, or ``given`` is not between 1 and the length of its document.
    """
    if (given < 1).any() or (given > documents.lengths).any():
        raise ValueError("given: expected 1 to all tokens of each document; an empty document has none")
    if architecture == "encoder_decoder":
        return _two_streams(*split_each(documents, given))
    inputs = documents.without_last()
    scored = np.flatnonzero(inputs.positions >= given[inputs.owners] - 1)
    asked = documents.tokens[documents.positions >= given[documents.owners]]
    return Batch(
        (pack(inputs, np.minimum(given, inputs.lengths) if architecture == "prefix" else None),),
        torch.from_numpy(asked),
        None if len(scored) == len(inputs.tokens) else torch.from_numpy(scored),
    )


def require_marks(vocabulary: Vocabulary, use: str) -> None:
    """Check that a vocabulary has <bos> and <eos>; those of tasks have not.

    Raises:
        ValueError: it has none; the message names the ``use`` that needs them.
    """
    if not vocabulary.marks:
        raise ValueError(f"{use} needs documents between <bos> and <eos>: give the run data of a language")


def _two_streams(sources: Documents, answers: Documents) -> Batch:
    begun = np.roll(answers.tokens, 1)
    begun[answers.offsets[:-1][answers.lengths > 0]] = BEGIN
    inputs = pack(sources, sources.lengths), pack(Documents(begun, answers.offsets))
    return Batch(inputs, torch.from_numpy(answers.tokens))


def next_token_log_probabilities(model: nn.Module, documents: Documents, architecture: Architecture) -> Numbers:
    """[tokens, vocabulary], log probabilities of the token after each; the condition is the first token alone."""
    longer = append_end(documents)
    ones = np.ones(len(documents), np.int64)
    batches = (conditional_batch(longer.take(some), ones[some], architecture) for some in chunks(len(documents)))
    return log_probabilities(model, batches)


def continuation(
    model: nn.Module, documents: Documents, given: NDArray[np.int64], architecture: Architecture
) -> Numbers:
    """[scored tokens], the log probability of each token after the given ones, left to right."""
    return target_log_probabilities(
        model,
        (conditional_batch(documents.take(some), given[some], architecture) for some in chunks(len(documents))),
    )


def beginning(
    model: Any,  # noqa: ANN401 - with `start` and `step`, which nn.Module does not promise
    given: list[int],
    begun: list[int],
    documents: int,
    architecture: Architecture,
) -> tuple[list[int], NextTokenScorer]:
    """The first tokens of documents to write, and the scorer of their next tokens.

    The scorer reads no token twice. The exception is a prefix of several tokens: they see each other and cannot be
    read one by one, so everything is read again for each new token.

    Args:
        model: The network.
        given: The condition, one token or more.
        begun: The first tokens after the condition; they are given too.
        documents: The number of documents.
        architecture: How the model reads the condition.
    """
    if architecture == "encoder_decoder":
        sources = rows_as_documents(np.tile(given, (documents, 1)))
        return [BEGIN, *begun], StepwiseScorer(model, model.start(pack(sources, sources.lengths)), documents)
    if architecture == "causal" or len(given) == 1:
        return [*given, *begun], StepwiseScorer(model, model.start(documents), documents)

    def score_next(growing: Tokens, texts: Tokens) -> Numbers:
        longer, parts = append_end(rows_as_documents(texts)), []
        scored = texts.shape[1] + 1 - len(given)  # of each document; the last one is the next token
        for some in chunks(len(texts)):
            batch = conditional_batch(longer.take(some), np.full(len(some), len(given)), architecture)
            parts.append(log_probabilities(model, [batch])[scored - 1 :: scored])
        return np.concatenate(parts)

    return [*given, *begun], score_next


def append_end(documents: Documents) -> Documents:
    """The documents, each with <eos> appended."""
    return join_each(documents, repeat_token(END, len(documents)))
