"""A language whose true distribution is known: a deterministic weighted automaton over tokens.

Since the automaton is deterministic, every quantity here is exact and cheap: a prefix has one state, so its
next-token distribution is a row of a table, and a document's probability is a product along one path. The module
`compilation` makes the tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens
from seedbed.languages.vocabulary import BEGIN, END, PERIOD, Vocabulary
from seedbed.messages import nearest

States = NDArray[np.int64]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: The state before the first sentence, and the state after each sentence.
FIRST, BOUNDARY = 1, 2


@dataclass(frozen=True, eq=False)
class Language:
    """A distribution over documents ``<bos> sentence . sentence . <eos>`` with at least one sentence each.

    State 0 is before ``<bos>``, and ``FIRST`` is after it. The state after every period is ``BOUNDARY``, so
    sentences are independent. The last two states are the end, after ``<eos>``, and the dead state, after every
    impossible token. The dead state leads to itself with probability 0, so the tables can be indexed by any state.

    Attributes:
        vocabulary: The V tokens.
        next_state: [S, V], the state after a token.
        probability: [S, V], the probability of a token in a state. Rows add up to 1, those of end and dead to 0.
        slots: [S], the name of the slot whose word a state expects, such as ``noun``; ``adjective or noun`` if
            several are possible; empty for the end and the dead state.
        without_withheld: The language without withheld combinations; None if nothing is withheld.
    """

    vocabulary: Vocabulary
    next_state: States
    probability: Numbers
    slots: tuple[str, ...]
    without_withheld: Language | None = None

    @property
    def end(self) -> int:
        """The state after ``<eos>``."""
        return len(self.slots) - 2

    @property
    def dead(self) -> int:
        """The state after an impossible token."""
        return len(self.slots) - 1

    @property
    def another_sentence(self) -> float:
        """The probability that a sentence is followed by another one."""
        return 1.0 - float(self.probability[BOUNDARY, END])

    def encode(self, text: str) -> Tokens:
        """The ids of tokens separated by spaces, see `Vocabulary.encode`."""
        return self.vocabulary.encode(text)

    def decode(self, tokens: Iterable[int]) -> str:
        """The tokens of the ids, see `Vocabulary.decode`."""
        return self.vocabulary.decode(tokens)

    def training(self) -> Language:
        """The language of training documents: a sentence is drawn again until it has no withheld combination.

        The number of sentences in a document keeps its distribution (objectives 5.2).
        """
        return self if self.without_withheld is None else self.without_withheld

    def sample(self, rng: np.random.Generator, documents: int) -> Documents:
        """Draw whole documents, independently of each other."""
        state = np.zeros(documents, dtype=np.int64)
        growing = np.arange(documents)
        owners, tokens = [growing[:0]], [growing[:0]]
        while growing.size:
            below = self._cumulative[state[growing]] <= rng.random((growing.size, 1))
            token = below.sum(axis=1)
            owners.append(growing)
            tokens.append(token)
            state[growing] = self.next_state[state[growing], token]
            growing = growing[token != END]
        owner = np.concatenate(owners)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=documents))])
        return Documents(np.concatenate(tokens)[np.argsort(owner, kind="stable")], offsets)

    def states(self, documents: Documents) -> States:
        """[tokens], the state after each token; `dead` from the first impossible token of a document on.

        ``probability[states]`` is the exact next-token distribution [tokens, V] after every prefix.

        Raises:
            ValueError: a token id outside the vocabulary.
        """
        return self._walk(documents, start=0)

    def token_log_probabilities(self, documents: Documents) -> Numbers:
        """[tokens - documents], in nats: each token but a document's first, given all before it.

        An impossible token and all tokens after it in its document have -inf.

        Raises:
            ValueError: an empty document, or a token id outside the vocabulary.
        """
        predicted = documents.without_first()
        self.vocabulary.check_ids(predicted.tokens)
        scores: Numbers = self._log_probability[self.states(documents.without_last()), predicted.tokens]
        return scores

    def log_probability(self, document: Iterable[int]) -> float:
        """The log probability of one whole document, in nats; -inf if it is impossible, unfinished or empty.

        Raises:
            ValueError: a token id outside the vocabulary.
        """
        one = Documents.of([document])
        path = np.concatenate([[0], self.states(one)])
        return float(self._log_probability[path[:-1], one.tokens].sum()) if path[-1] == self.end else -math.inf

    def next_token(self, prefix: Iterable[int]) -> Numbers:
        """[V], the distribution of the token after a prefix; all 0 after ``<eos>``.

        Raises:
            ValueError: no document has this prefix, or a token id outside the vocabulary.
        """
        row: Numbers = self.probability[self._state(Documents.of([prefix]))]
        return row.copy()

    def posterior(self, document: Iterable[int], position: int) -> Numbers:
        """[V], the distribution of the token at a position given all others of its document (objectives 6.4).

        The prefix has one path. After the position, all V tokens are followed at once. The token at the position
        itself is ignored, so it may be a mask.

        Raises:
            IndexError: the document has no such position.
            ValueError: no token makes the document possible, or a token id outside the vocabulary.
        """
        tokens = self.vocabulary.check_ids(Documents.of([document]).tokens)
        if not 0 <= position < len(tokens):
            raise IndexError(f"position {position} of a document of {len(tokens)} tokens")
        start = self._state(Documents.of([tokens[:position]]))
        score, states = self._log_probability[start], self.next_state[start]
        for token in tokens[position + 1 :]:
            score = score + self._log_probability[states, token]
            states = self.next_state[states, token]
        score = np.where(states == self.end, score, -math.inf)
        if score.max() == -math.inf:
            raise ValueError(f"no token at position {position} makes this possible: {self.decode(tokens)}")
        weight = np.exp(score - score.max())
        posterior: Numbers = weight / weight.sum()
        return posterior

    def expected_length(self) -> float:
        """The mean number of tokens in a document, ``<bos>`` and ``<eos>`` included."""
        return float(self.expected_visits @ self.probability.sum(axis=1))

    def entropy_rate(self) -> float:
        """Nats per token, without ``<bos>``: the lowest loss that a model can have (objectives 5.2)."""
        surprise = np.where(self.probability > 0, -self._log_probability, 0.0)
        document = float(self.expected_visits @ (self.probability * surprise).sum(axis=1))
        return document / (self.expected_length() - 1)

    def perplexity(self) -> float:
        """The exponential of the entropy rate."""
        return math.exp(self.entropy_rate())

    @cached_property
    def expected_visits(self) -> Numbers:
        """[S], the expected number of times that a document is in each state."""
        flow = np.eye(len(self.slots))
        np.add.at(flow, (self.next_state, np.arange(len(self.slots))[:, None]), -self.probability)
        begin = np.zeros(len(self.slots))
        begin[0] = 1.0
        return np.linalg.solve(flow, begin).astype(np.float64)

    def first_error(self, sentence: Iterable[int]) -> str | None:
        """The slot at which a sentence, its period included, leaves the grammar; None where it does not.

        A sentence that stops early fails at the slot that comes next, and one that goes on after its period fails
        at the boundary (objectives 5.3 counts errors by slot).

        Raises:
            ValueError: a token id outside the vocabulary.
        """
        one = Documents.of([sentence])
        path = np.concatenate([[FIRST], self._walk(one, start=FIRST)])
        closed = np.flatnonzero(path == BOUNDARY)
        alive = np.flatnonzero(path != self.dead)
        failed = closed[0] if closed.size else alive[-1]
        return None if closed.size and failed == len(path) - 1 else self.slots[path[failed]]

    def in_slot(self, documents: Documents, slot: str) -> Flags:
        """[tokens], whether a token fills this slot.

        A state may expect several slots, such as ``adjective or noun``. A token fills the slot there if it is one
        of the slot's `candidates`.

        Raises:
            ValueError: no state of the language expects this slot alone, or a token id outside the vocabulary.
        """
        before = np.roll(self.states(documents), 1)
        before[documents.offsets[:-1][documents.lengths > 0]] = 0
        among = np.array([slot in name.split(" or ") for name in self.slots])
        fitting = np.isin(documents.tokens, self.candidates(slot))
        return self._expects(slot)[before] | (among[before] & fitting)

    def candidates(self, slot: str) -> Tokens:
        """[candidates], the tokens that can come in a state that expects this slot and no other.

        Raises:
            ValueError: no state of the language expects this slot alone.
        """
        return np.flatnonzero((self.probability[self._expects(slot)] > 0).any(axis=0))

    def withheld_tokens(self, documents: Documents) -> Flags:
        """[tokens], whether a token belongs to a sentence that is withheld from training (objectives 5.2).

        A sentence is withheld if it is possible in the language and impossible in `training`. The period belongs
        to its sentence; ``<bos>`` and ``<eos>`` belong to none.

        Raises:
            ValueError: a token id outside the vocabulary.
        """
        inside = (documents.tokens != BEGIN) & (documents.tokens != END)
        sentences = _sentences(documents)
        here, there = (language._possible(sentences) for language in (self, self.training()))
        flags = np.zeros(len(documents.tokens), dtype=np.bool_)
        flags[inside] = np.repeat(here & ~there, sentences.lengths)
        return flags

    @cached_property
    def _log_probability(self) -> Numbers:
        with np.errstate(divide="ignore"):
            return np.log(self.probability)

    @cached_property
    def _cumulative(self) -> Numbers:
        # Divided by its last value, so that a random number just below 1 still selects a possible token.
        total = np.cumsum(self.probability, axis=1)
        return total / np.maximum(total[:, -1:], np.finfo(np.float64).tiny)

    def _walk(self, documents: Documents, start: int) -> States:
        self.vocabulary.check_ids(documents.tokens)
        states = np.empty(len(documents.tokens), dtype=np.int64)
        current = np.full(len(documents), start, dtype=np.int64)
        for position in range(documents.lengths.max(initial=0)):
            reading = np.flatnonzero(documents.lengths > position)
            places = documents.offsets[reading] + position
            current[reading] = self.next_state[current[reading], documents.tokens[places]]
            states[places] = current[reading]
        return states

    def _state(self, prefix: Documents) -> int:
        path = np.concatenate([[0], self.states(prefix)])
        if path[-1] == self.dead:
            place = int(np.argmax(path == self.dead)) - 1
            wrong, slot = self.vocabulary.tokens[prefix.tokens[place]], self.slots[path[place]] or "nothing"
            raise ValueError(f"no document begins so: {wrong!r} at position {place}, where {slot} is expected")
        return int(path[-1])

    def _expects(self, slot: str) -> Flags:
        """[S], whether a state expects this slot and no other."""
        known = set(self.slots) - {""}
        if slot not in known:
            raise ValueError(f"no slot {slot!r} in this language; {nearest(slot, known)}")
        return np.array([name == slot for name in self.slots])

    def _possible(self, sentences: Documents) -> Flags:
        possible: Flags = self._walk(sentences, start=FIRST)[sentences.offsets[1:] - 1] != self.dead
        return possible


def _sentences(documents: Documents) -> Documents:
    """All sentences of all documents. The last sentence of a document may lack its period."""
    inside = (documents.tokens != BEGIN) & (documents.tokens != END)
    kept, owners = documents.tokens[inside], documents.owners[inside]
    first = np.ones(len(kept), dtype=np.bool_)
    first[1:] = (kept[:-1] == PERIOD) | (owners[1:] != owners[:-1])
    return Documents(kept, np.append(np.flatnonzero(first), len(kept)))
