"""Exact probabilities of the tokens in a hole, if a predictor does not know how many tokens are missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import END

Numbers = NDArray[np.float64]


def hole_log_probabilities(language: Language, documents: Documents, places: Tokens, sizes: Tokens) -> Numbers:
    """[documents], the log probability in nats of the tokens in a hole, given all tokens before and after it.

    The alternatives are all runs of one token or more. Let M be the matrix of transitions from state to state by
    any token but ``<eos>``. The transitions by runs of every length are M + M² + ... = (I - M)⁻¹ - I.

    Args:
        language: The language of the documents.
        documents: Whole, possible documents.
        places: [documents], the position at which each hole begins, from 1.
        sizes: [documents], the number of tokens in each hole, from 1; none is ``<eos>``.
    """
    runs = _runs(language)
    before = language.states(documents)[documents.offsets[:-1] + places - 1]
    found = np.empty(len(documents))
    for index, (document, place, size) in enumerate(zip(documents, places, sizes, strict=True)):
        after = _suffix_probabilities(language, document[place + size :])
        right, state = 0.0, int(before[index])
        for token in document[place : place + size]:
            right += np.log(language.probability[state, token])
            state = int(language.next_state[state, token])
        found[index] = right + np.log(after[state]) - np.log(runs[before[index]] @ after)
    return found


def _runs(language: Language) -> Numbers:
    """[states, states], the probability that a run of one token or more leads from one state to another."""
    steps = np.zeros((len(language.slots), len(language.slots)))
    inside = language.probability.copy()
    inside[:, END] = 0.0
    np.add.at(steps, (np.arange(len(steps))[:, None], language.next_state), inside)
    one = np.eye(len(steps))
    return np.linalg.solve(one - steps, one) - one


def _suffix_probabilities(language: Language, tokens: Tokens) -> Numbers:
    """[states], the probability that exactly these tokens follow each state."""
    weights, states = np.ones(len(language.slots)), np.arange(len(language.slots))
    for token in tokens:
        weights, states = weights * language.probability[states, token], language.next_state[states, token]
    return weights
