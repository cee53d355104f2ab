"""What is exactly true of a hole of several tokens, where nothing is told of how many are missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import END

Numbers = NDArray[np.float64]


def log_probabilities(language: Language, documents: Documents, places: Tokens, sizes: Tokens) -> Numbers:
    """[documents], in nats, that a hole holds what it does, given all that stands before and behind it.

    All runs of one token or more could have stood there. With M the matrix of steps from state to state by any
    token but ``<eos>``, those of every length together take a state on by M + M² + ... = (I - M)⁻¹ - I.

    Args:
        language: What the documents are drawn from.
        documents: Whole documents, possible ones.
        places: [documents], where the hole of each begins, from 1.
        sizes: [documents], how many tokens it holds, from 1; never ``<eos>``.
    """
    runs = _runs(language)
    before = language.states(documents)[documents.offsets[:-1] + places - 1]
    found = np.empty(len(documents))
    for index, (document, place, size) in enumerate(zip(documents, places, sizes, strict=True)):
        behind = _behind(language, document[place + size :])
        right, state = 0.0, int(before[index])
        for token in document[place : place + size]:
            right += np.log(language.probability[state, token])
            state = int(language.next_state[state, token])
        found[index] = right + np.log(behind[state]) - np.log(runs[before[index]] @ behind)
    return found


def _runs(language: Language) -> Numbers:
    """[states, states], how likely some run of one token or more takes one state to another."""
    steps = np.zeros((len(language.slots), len(language.slots)))
    inside = language.probability.copy()
    inside[:, END] = 0.0
    np.add.at(steps, (np.arange(len(steps))[:, None], language.next_state), inside)
    one = np.eye(len(steps))
    return np.linalg.solve(one - steps, one) - one


def _behind(language: Language, tokens: Tokens) -> Numbers:
    """[states], how likely each state is followed by just these tokens."""
    weights, states = np.ones(len(language.slots)), np.arange(len(language.slots))
    for token in tokens:
        weights, states = weights * language.probability[states, token], language.next_state[states, token]
    return weights
