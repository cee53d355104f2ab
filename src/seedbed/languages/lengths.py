"""The exact distribution of the lengths of a language's documents."""

from __future__ import annotations

import numpy as np

from seedbed.languages.automaton import Language, Numbers


def length_distribution(language: Language) -> Numbers:
    """[longest + 1], the probability of each number of tokens, ``<bos>`` and ``<eos>`` included.

    Raises:
        ValueError: a document may have any number of sentences, so there is no longest one.
    """
    if language.another_sentence:
        raise ValueError("no document of this language is the longest: after each sentence another may follow")
    mass, ended = np.zeros(len(language.slots)), [0.0]
    mass[0] = 1.0
    while mass.any():
        moved = np.zeros_like(mass)
        np.add.at(moved, language.next_state, mass[:, None] * language.probability)
        ended.append(float(moved[language.end]))
        moved[language.end] = 0.0
        mass = moved
    return np.array(ended)
