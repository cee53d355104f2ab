"""Documents written side by side, token by token, until each is stopped. It knows no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seedbed.decoding.choice import Choice
from seedbed.decoding.following import Following, Numbers
from seedbed.documents import Documents


def uniforms(rng: np.random.Generator, documents: int, longest: int) -> Numbers:
    """[documents, longest], one number for each token that may be written.

    A larger ``longest`` leaves the numbers of the first steps as they are.
    """
    return np.asarray(rng.random((longest, documents)).T)


def written(
    following: Following, begun: Sequence[int], choice: Choice, uniforms: Numbers, stops: Sequence[int]
) -> Documents:
    """Documents from one beginning, each to the first stop that is written, or to as many tokens as are allowed.

    Args:
        following: What may come next.
        begun: The tokens that all begin with; they are given and stop nothing.
        choice: How the next token is chosen.
        uniforms: [documents, longest], the numbers that choose; at most ``longest`` tokens are written.
        stops: The tokens behind which a document grows no more.
    """
    documents, longest = uniforms.shape
    texts = np.zeros((documents, len(begun) + longest), np.int64)
    texts[:, : len(begun)] = begun
    lengths, growing = np.full(documents, len(begun)), np.arange(documents)
    for step, end in enumerate(range(len(begun), len(begun) + longest)):
        if not growing.size:
            break
        tokens = choice.tokens(following(growing, texts[growing, :end]), uniforms[growing, step])
        texts[growing, end] = tokens
        lengths[growing] += 1
        growing = growing[~np.isin(tokens, stops)]
    filled = np.arange(texts.shape[1]) < lengths[:, None]
    return Documents(texts[filled], np.concatenate([[0], np.cumsum(lengths)]))
