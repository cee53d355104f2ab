"""The exact next-token distribution given the last few tokens only: the best prediction with a window.

A predictor with a window does not know the state of the language, only a distribution over states. Before the
window, the weight of a state is the expected number of times that a document is in it. Each token of the window
then updates the weights (the forward algorithm). The result is a ratio of expected counts in a document: how often
a token follows the window, divided by how often the window occurs (objectives 0.1, 5.1).
"""

from __future__ import annotations

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Flags, Language, Numbers
from seedbed.languages.vocabulary import BEGIN, PERIOD

#: In a history: there is no token at this position, or it does not matter.
NO_TOKEN = -1


def histories(documents: Documents, window: int) -> Tokens:
    """[tokens, window], for each token, itself and the tokens before it, the token itself last.

    ``<bos>`` and earlier sentences are included. The last ``<bos>`` or period alone determines the state, so
    tokens before it are replaced by `NO_TOKEN`. This makes more histories equal.
    """
    back = np.arange(window - 1, -1, -1)
    places = np.arange(len(documents.tokens))[:, None] - back
    inside = back <= documents.positions[:, None]
    found = np.where(inside, documents.tokens[np.maximum(places, 0)], NO_TOKEN)
    marks: Flags = np.isin(found, (BEGIN, PERIOD))
    later_marks: Tokens = np.cumsum(marks[:, ::-1], axis=1)[:, ::-1] - marks
    return np.where(later_marks == 0, found, NO_TOKEN)


def next_token_distributions(language: Language, known: Tokens) -> Numbers:
    """The distribution of the token after each history; the tokens before it are unknown.

    Args:
        language: The language.
        known: [histories, window], see `histories`.

    Returns:
        [histories, V]; all 0 after a history that no document contains, and after ``<eos>``.

    Raises:
        ValueError: a token id outside the vocabulary.
    """
    language.vocabulary.check_ids(known[known != NO_TOKEN])
    different, which = np.unique(known, axis=0, return_inverse=True)
    belief = np.tile(language.expected_visits, (len(different), 1))
    for tokens in different.T:
        read = np.flatnonzero(tokens != NO_TOKEN)
        belief[read] = _after(language, belief[read], tokens[read])
    total = belief.sum(axis=1, keepdims=True)
    following: Numbers = belief @ language.probability / np.where(total > 0, total, 1.0)
    return following[which.ravel()]


def _after(language: Language, belief: Numbers, tokens: Tokens) -> Numbers:
    """[rows, S], the weight of each state after a row's token, from the weights before it."""
    moved = belief * language.probability[:, tokens].T
    cells = language.next_state[:, tokens].T + np.arange(len(tokens))[:, None] * belief.shape[1]
    reached = np.bincount(cells.ravel(), weights=moved.ravel(), minlength=belief.size)
    return np.asarray(reached, dtype=np.float64).reshape(belief.shape)
