"""Write many documents in parallel, token by token, until each is finished. This module knows no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seedbed.decoding.choice import Choice
from seedbed.decoding.following import NextTokenScorer, Numbers
from seedbed.documents import Documents


def draw_uniforms(rng: np.random.Generator, documents: int, longest: int) -> Numbers:
    """[documents, longest], a uniform random number for each token that may be written.

    A larger ``longest`` does not change the numbers of the first steps.
    """
    return np.asarray(rng.random((longest, documents)).T)


def generate_documents(
    score_next: NextTokenScorer, begun: Sequence[int], choice: Choice, uniforms: Numbers, stops: Sequence[int]
) -> Documents:
    """Write documents from the same first tokens, each until a stop token or the largest length.

    Args:
        score_next: Scores the next tokens.
        begun: The first tokens of every document; a stop token among them does not end it.
        choice: How the next token is chosen.
        uniforms: [documents, longest], the random numbers of the choices; at most ``longest`` tokens are written.
        stops: A document ends after any of these tokens.
    """
    documents, longest = uniforms.shape
    texts = np.zeros((documents, len(begun) + longest), np.int64)
    texts[:, : len(begun)] = begun
    lengths, growing = np.full(documents, len(begun)), np.arange(documents)
    for step, end in enumerate(range(len(begun), len(begun) + longest)):
        if not growing.size:
            break
        tokens = choice.tokens(score_next(growing, texts[growing, :end]), uniforms[growing, step])
        texts[growing, end] = tokens
        lengths[growing] += 1
        growing = growing[~np.isin(tokens, stops)]
    inside = np.arange(texts.shape[1]) < lengths[:, None]
    return Documents(texts[inside], np.concatenate([[0], np.cumsum(lengths)]))
