"""The cloze test: a word of a document is hidden, and predicted from what is on both sides (objectives 6.4).

It has the holes, the same for every run and seed, and their exact answers. It does not know how a model fills a
hole.
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

#: Nats and probabilities that differ by less differ only by rounding.
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
        """[documents], which side of the hole says more about it: ``before`` or ``behind``.

        It is the side whose loss costs more, in nats: the divergence of the prediction without it from the full
        one. ``either`` if both cost the same, for example if each side alone decides the word.
        """
        holes = list(zip(self.sentences, self.places, strict=True))
        left = _words(self.language, [self.language.next_token(one[:place]) for one, place in holes])
        beliefs = _beliefs(self.language, int(self.places.max()))
        right = _words(self.language, [_behind(self.language, one, place, beliefs[place]) for one, place in holes])
        gain = divergence(self.truth, right) - divergence(self.truth, left)
        return np.where(np.abs(gain) < _SAME, "either", np.where(gain > 0, "before", "behind"))


@lru_cache(maxsize=1)
def draw_holes(language: Language, test: Documents, items: int) -> Holes:
    """Hide one word of the first sentence, all equally likely, in each of the first ``items`` test documents.

    The period is never hidden, so only the words of the language are candidates (objectives 6.4). The holes and
    their exact answers are kept from one seed of a run to the next.
    """
    documents = test.take(range(min(items, len(test))))
    return Holes(language, documents, stream(0, "cloze").integers(1, periods(documents, 1)[1]))


def score_holes(holes: Holes, predicted: Numbers, condition: Mapping[str, Scalar]) -> Iterator[Observation]:
    """How well the holes are filled: all of them, by slot, and by the side that says more about them.

    ``cloze_loss`` is the loss of the right word, ``cloze_language_loss`` its loss by the exact posterior, in nats,
    and ``cloze_divergence`` is KL(posterior ‖ predicted). ``cloze_agreement`` is the share of holes whose most
    probable word is also the posterior's, or one of them where it has several.

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
    """Inside the block, count the documents that each forward of a network reads; a reference run has none."""
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
    """The slot of a word in a state that expects it; if several slots are possible, the word decides.

    A slot that no state expects alone is chosen if the word fits none of the other slots.
    """
    possible = language.slots[state].split(" or ")
    alone = [slot for slot in possible if slot in language.slots]
    fitting = [slot for slot in alone if word in language.candidates(slot)]
    return [*fitting, *(slot for slot in possible if slot not in alone)][0]


def _beliefs(language: Language, last: int) -> list[Numbers]:
    """[S] by place up to the last: the probability of each state there and of a sentence that long; forward sums.

    A sentence begins at place 1; before it is only ``<bos>``.
    """
    inside = language.probability.copy()
    inside[:, PERIOD] = 0.0
    beliefs = [np.zeros(len(language.slots)), np.eye(len(language.slots))[FIRST]]
    for _ in range(last - 1):
        moved = beliefs[-1][:, None] * inside
        beliefs.append(np.bincount(language.next_state.ravel(), weights=moved.ravel(), minlength=len(moved)))
    return beliefs


def _behind(language: Language, sentence: Tokens, place: int, belief: Numbers) -> Numbers:
    """[V], the probability of each token at a place of the first sentence together with all tokens after it.

    The words before the place are hidden; only ``belief``, [S], is known, which depends on their number.
    """
    possible = np.flatnonzero(belief)
    weights, states = belief[possible, None] * language.probability[possible], language.next_state[possible]
    weights[:, PERIOD] = 0.0
    for token in sentence[place + 1 :]:
        weights, states = weights * language.probability[states, token], language.next_state[states, token]
    found: Numbers = weights.sum(0)
    return found
