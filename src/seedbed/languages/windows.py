"""What the last few tokens tell of the next one, exactly: the best that any predictor with a window can do.

Such a predictor does not know the state of the language, only how likely each is. Before the window, a state is as
likely as documents pass through it often; the tokens of the window then move and reweigh that belief (the forward
algorithm). What follows is a ratio of expected counts in a document: how often the window is followed by a token,
over how often it occurs (objectives 0.1, 5.1).
"""

from __future__ import annotations

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Flags, Language, Numbers
from seedbed.languages.vocabulary import BEGIN, PERIOD

#: Stands in a history where there is no token, or none that matters.
NOTHING = -1


def histories(documents: Documents, window: int) -> Tokens:
    """[tokens, window], for each token the last ones up to and with it, the nearest last.

    ``<bos>`` and earlier sentences belong to them. What stands before the last ``<bos>`` or period tells nothing
    more, since that mark alone tells the state; it is replaced by `NOTHING`, so that fewer histories differ.
    """
    back = np.arange(window - 1, -1, -1)
    places = np.arange(len(documents.tokens))[:, None] - back
    inside = back <= documents.positions[:, None]
    found = np.where(inside, documents.tokens[np.maximum(places, 0)], NOTHING)
    marks: Flags = np.isin(found, (BEGIN, PERIOD))
    later_marks: Tokens = np.cumsum(marks[:, ::-1], axis=1)[:, ::-1] - marks
    return np.where(later_marks == 0, found, NOTHING)


def next_token(language: Language, known: Tokens) -> Numbers:
    """The distribution of the token after each history, whatever stood before.

    Args:
        language: The language; documents are whole ones of it.
        known: [histories, window], as `histories` gives them.

    Returns:
        [histories, V]; all 0 after a history that no document holds, and after ``<eos>``.

    Raises:
        ValueError: a token id outside the vocabulary.
    """
    language.vocabulary.checked(known[known != NOTHING])
    different, which = np.unique(known, axis=0, return_inverse=True)
    belief = np.tile(language.visits, (len(different), 1))
    for tokens in different.T:
        read = np.flatnonzero(tokens != NOTHING)
        belief[read] = _after(language, belief[read], tokens[read])
    total = belief.sum(axis=1, keepdims=True)
    following: Numbers = belief @ language.probability / np.where(total > 0, total, 1.0)
    return following[which.ravel()]


def _after(language: Language, belief: Numbers, tokens: Tokens) -> Numbers:
    """[rows, S], how often each state is reached by a row's token, from how often each was there before."""
    moved = belief * language.probability[:, tokens].T
    cells = language.next_state[:, tokens].T + np.arange(len(tokens))[:, None] * belief.shape[1]
    reached = np.bincount(cells.ravel(), weights=moved.ravel(), minlength=belief.size)
    return np.asarray(reached, dtype=np.float64).reshape(belief.shape)
