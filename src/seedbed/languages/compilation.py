"""Compile a grammar to its language.

First comes weighted determinisation (Mohri 1997, "Finite-State Transducers in Language and Speech Processing") of
the machine of one sentence: a state of the result is a distribution over states of the machine. It terminates,
since every path ends with the sentence. Then sentences are put into documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from seedbed.languages.automaton import BOUNDARY, FIRST, Language, Numbers, States
from seedbed.languages.entries import GrammarError
from seedbed.languages.grammar import Grammar, read_grammar
from seedbed.languages.machine import SENTENCE_END, SENTENCE_START, Machine, MachineState
from seedbed.languages.vocabulary import BEGIN, END, PERIOD, Vocabulary

#: Two distributions over states of the machine are the same state if they agree to this number of decimals.
_DECIMALS = 12


def read_language(content: Mapping[str, object], file: str) -> Language:
    """The language of a parsed grammar file, with its training form.

    Args:
        content: The file as plain mappings, lists and scalars.
        file: Its name, for errors.

    Raises:
        GrammarError: see `seedbed.languages.grammar.read_grammar`; also if a choice is missing, if a part of the
            grammar is never used, or if nothing is left for training.
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
    return replace(
        language, without_withheld=_document(_determinise(Machine(grammar, redraw=True)), grammar, vocabulary)
    )


@dataclass(frozen=True)
class _Sentence:
    """The deterministic machine of one sentence: state 0 is its start, and state 1 is after its period.

    Attributes:
        rows: For each state, word -> (probability, next state).
        slots: For each state, the names of the slots that it expects.
    """

    rows: list[dict[str, tuple[float, int]]]
    slots: list[str]


def _determinise(machine: Machine) -> _Sentence:
    states = [{SENTENCE_START: 1.0}, {SENTENCE_END: 1.0}]
    index = {_key(distribution): state for state, distribution in enumerate(states)}
    rows = []
    for distribution in states:  # grows while it is read
        row = {}
        for word, masses in _arcs(machine, distribution).items():
            probability = sum(masses.values())
            following = {machine_state: mass / probability for machine_state, mass in masses.items()}
            state = index.setdefault(_key(following), len(states))
            if state == len(states):
                states.append(following)
            row[word] = (probability, state)
        rows.append(row)
    return _Sentence(rows, [_slot_names(machine, distribution) for distribution in states])


def _key(distribution: Mapping[MachineState, float]) -> frozenset[tuple[MachineState, float]]:
    return frozenset((machine_state, round(mass, _DECIMALS)) for machine_state, mass in distribution.items())


def _arcs(machine: Machine, distribution: Mapping[MachineState, float]) -> dict[str, dict[MachineState, float]]:
    """Word -> state of the machine after it -> probability of both."""
    arcs: dict[str, dict[MachineState, float]] = {}
    for machine_state, mass in distribution.items():
        for emission in machine.emissions(machine_state):
            masses = arcs.setdefault(emission.word, {})
            masses[emission.following] = masses.get(emission.following, 0.0) + mass * emission.probability
    return arcs


def _slot_names(machine: Machine, distribution: Mapping[MachineState, float]) -> str:
    """The names of the slots whose word can come next, in the order of the sentence."""
    names = [slot.name for slot in machine.grammar.slots] + [machine.grammar.marks[PERIOD]]
    places = {emission.slot for machine_state in distribution for emission in machine.emissions(machine_state)}
    return " or ".join(dict.fromkeys(names[place] for place in sorted(places)))


def _document(sentence: _Sentence, grammar: Grammar, vocabulary: Vocabulary) -> Language:
    """Put sentences into documents. Each state of a sentence moves by one, since state 0 is before ``<bos>``."""
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
    """[S, V], the factors that make the rows add up to 1 after withheld combinations were dropped.

    The backward value of a state is the probability that the sentence is completed from there. The factor of a
    token is the value after it, divided by the value before it. Complete sentences then keep their proportions.
    The values are exact after as many rounds as the longest sentence has words.
    """
    value, before = np.zeros(len(probability)), None
    while before is None or (value != before).any():
        before, value = value, (probability * value[next_state]).sum(axis=1)
        value[BOUNDARY] = 1.0
    if value[FIRST] == 0:
        raise GrammarError(f"{file}: withheld: nothing is left for training")
    return value[next_state] / np.where(value > 0, value, 1.0)[:, None]
