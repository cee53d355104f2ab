"""The cloze test: a word of a document is hidden, and predicted from what is on both sides (objectives 6.4).

The same holes for every run and seed, and what is exactly true of them. How a model fills a hole is no matter of
this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens, split_each
from seedbed.languages.automaton import FIRST, Language
from seedbed.languages.vocabulary import PERIOD
from seedbed.measuring.divergence import divergence
from seedbed.measuring.sentence_ends import periods
from seedbed.measuring.trained import TrainedModel
from seedbed.objectives.scoring import restrict_to_words
from seedbed.observations import Observation, Scalar, mean
from seedbed.randomness import stream

Numbers = NDArray[np.float64]
Names = NDArray[np.str_]

#: Nats and probabilities that differ by less are the same but for rounding.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Holes:
    """One hole a document, in its first sentence.

    Attributes:
        language: What the documents are drawn from.
        documents: Whole documents.
        places: [documents], the place of the hole in each, from 0; its token is the right word.
    """

    language: Language
    documents: Documents
    places: Tokens

    @cached_property
    def words(self) -> Tokens:
        """[documents], the right word of each hole."""
        words: Tokens = self.documents.tokens[self.documents.offsets[:-1] + self.places]
        return words

    @cached_property
    def sentences(self) -> Documents:
        """The documents up to the period of the first sentence."""
        return split_each(self.documents, periods(self.documents, 1)[1] + 1)[0]

    @cached_property
    def truth(self) -> Numbers:
        """[documents, vocabulary], the exact log probability of each word in the hole, given all the rest."""
        holes = zip(self.documents, self.places, strict=True)
        return _words(self.language, [self.language.posterior(document, int(place)) for document, place in holes])

    @cached_property
    def slots(self) -> Names:
        """[documents], the slot of the grammar of each hole."""
        before = split_each(self.documents, self.places)[0]
        states = self.language.states(before)[before.offsets[1:] - 1]
        return np.array([_slot(self.language, *one) for one in zip(states, self.words, strict=True)])

    @cached_property
    def evidence(self) -> Names:
        """[documents], which side of the hole says more of it: ``before`` or ``behind``.

        The side whose loss costs more: the divergence of what is left to tell from the truth, in nats. ``either``
        where both cost the same, as where each side alone tells all.
        """
        holes = list(zip(self.sentences, self.places, strict=True))
        left = _words(self.language, [self.language.next_token(one[:place]) for one, place in holes])
        beliefs = _beliefs(self.language, int(self.places.max()))
        right = _words(self.language, [_behind(self.language, one, place, beliefs[place]) for one, place in holes])
        gain = divergence(self.truth, right) - divergence(self.truth, left)
        return np.where(np.abs(gain) < _SAME, "either", np.where(gain > 0, "before", "behind"))


@lru_cache(maxsize=1)
def draw_holes(language: Language, test: Documents, items: int) -> Holes:
    """A word of the first sentence is hidden, all alike, in each of the first ``items`` test documents.

    Never the period: then only the words of the language are candidates (objectives 6.4). What is known of the
    holes is kept from one seed of a run to the next.
    """
    documents = test.take(range(min(items, len(test))))
    return Holes(language, documents, stream(0, "cloze").integers(1, periods(documents, 1)[1]))


def score_holes(holes: Holes, predicted: Numbers, condition: Mapping[str, Scalar]) -> Iterator[Observation]:
    """How well the holes are filled: all of them, by slot, and by the side that says more of them.

    ``cloze_loss`` is the right word's, ``cloze_language_loss`` that of the exact posterior, in nats, and
    ``cloze_divergence`` KL(posterior ‖ predicted). ``cloze_agreement`` is the share of holes whose most probable
    word is also the posterior's, or one of them where it has several.

    Args:
        holes: The holes.
        predicted: [documents, vocabulary], log probabilities over the words, -inf for other tokens.
        condition: How the holes were filled.
    """
    each = np.arange(len(holes.words))
    best = holes.truth[each, predicted.argmax(1)] > holes.truth.max(1) - _SAME
    scores = {
        "cloze_loss": ("nat", -predicted[each, holes.words]),
        "cloze_language_loss": ("nat", -holes.truth[each, holes.words]),
        "cloze_divergence": ("nat", divergence(holes.truth, predicted)),
        "cloze_agreement": ("share", best),
    }
    for part, chosen in _parts(holes):
        for metric, (unit, values) in scores.items():
            yield mean(metric, values[chosen], {**condition, **part}, unit)


@contextmanager
def count_documents_read(model: object) -> Iterator[list[int]]:
    """While it lasts, how many documents each forward of a network reads; a reference run has none."""
    read: list[int] = []
    if not isinstance(model, TrainedModel):
        yield read
        return
    hook = model.network.register_forward_pre_hook(lambda _, inputs: read.append(len(inputs[0].lengths)))
    try:
        yield read
    finally:
        hook.remove()


def forwards(holes: Holes, read: list[int], condition: Mapping[str, Scalar]) -> Iterator[Observation]:
    """``cloze_forwards``, the documents that a network read for a hole; nothing for a reference run."""
    if read:
        yield Observation("cloze_forwards", sum(read) / len(holes.words), condition, "count")


def _parts(holes: Holes) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """What is added to the condition, and the holes that it holds for."""
    yield {}, np.ones(len(holes.words), np.bool_)
    for key, names in {"slot": holes.slots, "evidence": holes.evidence}.items():
        for name in np.unique(names).tolist():
            yield {key: name}, names == name


def _words(language: Language, probabilities: list[Numbers]) -> Numbers:
    """[rows, vocabulary], log probabilities over the words alone."""
    words = language.vocabulary.word_ids
    with np.errstate(divide="ignore"):
        return restrict_to_words(np.log(np.array(probabilities)[:, words]), words, len(language.vocabulary))


def _slot(language: Language, state: int, word: int) -> str:
    """What a word is where a state expects it; where several slots are possible, the word tells.

    Of these, one that no state expects alone is what is left where the word fits none of the others.
    """
    possible = language.slots[state].split(" or ")
    alone = [slot for slot in possible if slot in language.slots]
    fitting = [slot for slot in alone if word in language.candidates(slot)]
    return [*fitting, *(slot for slot in possible if slot not in alone)][0]


def _beliefs(language: Language, last: int) -> list[Numbers]:
    """[S] by place up to the last: how likely each state is there, of sentences that go so far: a forward pass.

    A sentence begins at place 1; before it, at ``<bos>``, there is nothing to say.
    """
    inside = language.probability.copy()
    inside[:, PERIOD] = 0.0
    beliefs = [np.zeros(len(language.slots)), np.eye(len(language.slots))[FIRST]]
    for _ in range(last - 1):
        moved = beliefs[-1][:, None] * inside
        beliefs.append(np.bincount(language.next_state.ravel(), weights=moved.ravel(), minlength=len(moved)))
    return beliefs


def _behind(language: Language, sentence: Tokens, place: int, belief: Numbers) -> Numbers:
    """[V], how likely each token is at a place of the first sentence together with all behind it.

    What comes before is hidden; only ``belief``, [S], is known, which depends on the number of words there.
    """
    possible = np.flatnonzero(belief)
    weights, states = belief[possible, None] * language.probability[possible], language.next_state[possible]
    weights[:, PERIOD] = 0.0
    for token in sentence[place + 1 :]:
        weights, states = weights * language.probability[states, token], language.next_state[states, token]
    found: Numbers = weights.sum(0)
    return found
