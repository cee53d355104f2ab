"""From a grammar to its language.

Weighted determinisation (Mohri 1997, "Finite-State Transducers in Language and Speech Processing") of the machine
of one sentence: a state is a distribution over its configurations. Every path ends with the sentence, so this
always ends. Then sentences are put into documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from seedbed.languages.automaton import BOUNDARY, FIRST, Language, Numbers, States
from seedbed.languages.entries import GrammarError
from seedbed.languages.grammar import Grammar, read_grammar
from seedbed.languages.machine import CLOSED, OPEN, Configuration, Machine
from seedbed.languages.vocabulary import BEGIN, END, PERIOD, Vocabulary

#: Two distributions over configurations are one state where they agree to so many decimals.
_DECIMALS = 12


def read_language(content: Mapping[str, object], file: str) -> Language:
    """The language of a parsed grammar file, with its training form.

    Args:
        content: The file as plain mappings, lists and scalars.
        file: Its name, for errors.

    Raises:
        GrammarError: see `seedbed.languages.grammar.read_grammar`; also where a choice is missing, where something
            is stated but never happens, and where nothing is left for training.
    """
    return compile_language(read_grammar(content, file))


def compile_language(grammar: Grammar) -> Language:
    """The language of a grammar, with its training form.

    Raises:
        GrammarError: see `read_language`.
    """
    machine = Machine(grammar, redraw=False)
    sentence = _determinise(machine)
    machine.refuse_unused()
    try:
        vocabulary = Vocabulary(grammar.marks, tuple(sorted(machine.words)), grammar.structural)
    except ValueError as error:
        raise GrammarError(f"{grammar.file}: {error}") from error
    language = _document(sentence, grammar, vocabulary)
    if not grammar.withheld:
        return language
    return replace(language, redrawn=_document(_determinise(Machine(grammar, redraw=True)), grammar, vocabulary))


@dataclass(frozen=True)
class _Sentence:
    """The deterministic machine of one sentence: state 0 begins it, state 1 follows its period.

    Attributes:
        rows: For each state, word -> (probability, next state).
        slots: For each state, what it expects.
    """

    rows: list[dict[str, tuple[float, int]]]
    slots: list[str]


def _determinise(machine: Machine) -> _Sentence:
    states = [{OPEN: 1.0}, {CLOSED: 1.0}]
    index = {_key(distribution): state for state, distribution in enumerate(states)}
    rows = []
    for distribution in states:  # grows while it is read
        row = {}
        for word, masses in _arcs(machine, distribution).items():
            probability = sum(masses.values())
            following = {configuration: mass / probability for configuration, mass in masses.items()}
            state = index.setdefault(_key(following), len(states))
            if state == len(states):
                states.append(following)
            row[word] = (probability, state)
        rows.append(row)
    return _Sentence(rows, [_expected(machine, distribution) for distribution in states])


def _key(distribution: Mapping[Configuration, float]) -> frozenset[tuple[Configuration, float]]:
    return frozenset((configuration, round(mass, _DECIMALS)) for configuration, mass in distribution.items())


def _arcs(machine: Machine, distribution: Mapping[Configuration, float]) -> dict[str, dict[Configuration, float]]:
    """Word -> what can follow it -> the mass that goes there."""
    arcs: dict[str, dict[Configuration, float]] = {}
    for configuration, mass in distribution.items():
        for emission in machine.emissions(configuration):
            masses = arcs.setdefault(emission.word, {})
            masses[emission.following] = masses.get(emission.following, 0.0) + mass * emission.probability
    return arcs


def _expected(machine: Machine, distribution: Mapping[Configuration, float]) -> str:
    """The names of the slots whose word can come next, in the order of the sentence."""
    names = [slot.name for slot in machine.grammar.slots] + [machine.grammar.marks[PERIOD]]
    places = {emission.slot for configuration in distribution for emission in machine.emissions(configuration)}
    return " or ".join(dict.fromkeys(names[place] for place in sorted(places)))


def _document(sentence: _Sentence, grammar: Grammar, vocabulary: Vocabulary) -> Language:
    """Put sentences into documents. The state before ``<bos>`` shifts theirs by one, as `Language` describes."""
    end, dead = len(sentence.rows) + 1, len(sentence.rows) + 2
    probability = np.zeros((dead + 1, len(vocabulary)))
    next_state = np.full(probability.shape, dead, dtype=np.int64)
    for state, row in enumerate(sentence.rows):
        for word, (chance, following) in row.items():
            arc = state + 1, vocabulary.id(word)
            probability[arc], next_state[arc] = chance, following + 1
    probability *= _completion(probability, next_state, grammar.file)
    another = 1 - 1 / grammar.mean_sentences
    probability[0, BEGIN], next_state[0, BEGIN] = 1.0, FIRST
    probability[BOUNDARY], next_state[BOUNDARY] = another * probability[FIRST], next_state[FIRST]
    probability[BOUNDARY, END], next_state[BOUNDARY, END] = 1 - another, end
    next_state[probability == 0] = dead
    slots = [grammar.marks[BEGIN], *sentence.slots, "", ""]
    slots[BOUNDARY] = f"{slots[FIRST]} or {grammar.marks[END]}" if another else grammar.marks[END]
    return Language(vocabulary, next_state, probability, tuple(slots))


def _completion(probability: Numbers, next_state: States, file: str) -> Numbers:
    """[S, V], the factors that move mass lost later in the sentence to every choice in proportion.

    The backward value of a state is the probability that the sentence is completed from there. Multiplied by
    the value after a token over the value before it, the rows add up to 1 and completed sentences keep their
    proportions. Values settle exactly after as many rounds as the longest sentence has words.
    """
    value, before = np.zeros(len(probability)), None
    while before is None or (value != before).any():
        before, value = value, (probability * value[next_state]).sum(axis=1)
        value[BOUNDARY] = 1.0
    if value[FIRST] == 0:
        raise GrammarError(f"{file}: withheld: nothing is left for training")
    return value[next_state] / np.where(value > 0, value, 1.0)[:, None]
