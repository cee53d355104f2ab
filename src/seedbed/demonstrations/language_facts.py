"""What is exactly true of a language in which one slot agrees with another: sizes, entropies, lengths and words.

All numbers are sums over the language's sentences. Nothing is drawn and nothing is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.languages import exact, words
from seedbed.languages.automaton import Language
from seedbed.languages.exact import Sentences
from seedbed.observations import Observation

NEEDS = ("language",)


@dataclass(frozen=True)
class Options:
    """The slots that are asked about, by the names that the grammar gives them, and a lecture's examples."""

    slot: str  # agrees with the antecedent
    antecedent: str
    verb: str  # training withholds combinations of a verb and a noun
    noun: str
    window: int  # the tokens before the slot that a predictor sees
    sentences: tuple[str, ...] = ()  # is each grammatical? Each with its period
    pairs: tuple[str, ...] = ()  # does training never show these words in one sentence?
    words: tuple[str, ...] = ()  # how probable is each token of the slot together, or of next_words, after these?
    next_words: tuple[str, ...] = ()
    agreement: tuple[str, ...] = ()  # each the last word of an antecedent, and the slot's word that agrees with it

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a window of no token, or an agreement that is not of two words.
        """
        if self.window < 1:
            raise ValueError(f"window {self.window}: expected at least 1")
        for pair in self.agreement:
            if len(pair.split()) != 2:
                raise ValueError(f"agreement: {pair!r}: expected two words, a blank between them")


def demonstrate(options: Options, *, language: Language) -> Iterator[Observation]:
    """The facts of the language.

    ``slot_floor`` is the mean probability of the slot's right word for the best predictor that sees the window,
    for antecedents inside it and outside. ``slot_decided`` is the least probability of the word that agrees, over
    the antecedents in ``agreement``: 1 if each decides the word. ``grammatical`` and ``withheld`` are 1 for yes
    and 0 for no.

    Raises:
        ValueError: the language has no such slot or token, or too many sentences.
    """
    sentences = exact.all_sentences(language)
    yield from _sizes(language)
    yield from _entropies(sentences)
    yield from _lengths(sentences, options)
    yield from _words(sentences, options)
    yield from _examples(sentences, options)


def _sizes(language: Language) -> Iterator[Observation]:
    vocabulary = language.vocabulary
    yield Observation("vocabulary", len(vocabulary), unit="count")
    yield Observation("base_vocabulary", len(vocabulary.marks + vocabulary.words), unit="count")
    yield Observation("cloze_candidates", len(vocabulary.words), unit="count")
    yield Observation("structural_tokens", len(vocabulary.structural), unit="count")


def _entropies(sentences: Sentences) -> Iterator[Observation]:
    yield Observation("language_perplexity", sentences.language.perplexity(), unit="perplexity")
    yield Observation("cloze_entropy", exact.cloze_entropy(sentences), unit="nat")
    if sentences.language.another_sentence:
        yield Observation("continuation_entropy", exact.continuation_entropy(sentences), unit="nat")


def _lengths(sentences: Sentences, options: Options) -> Iterator[Observation]:
    slot = options.slot
    beyond = exact.share_beyond_window(sentences, slot, options.antecedent, options.window)
    yield Observation("expected_length", sentences.language.expected_length(), unit="token")
    yield Observation("sentence_length", sentences.mean_length, unit="token")
    yield Observation("slot_tokens_per_1000", 1000 * exact.tokens_per_document(sentences, slot), unit="count")
    yield Observation("visible_positions", exact.visible_positions(sentences, slot), unit="position")
    yield Observation("out_of_window_share", beyond, unit="share")


def _words(sentences: Sentences, options: Options) -> Iterator[Observation]:
    slot, antecedent = options.slot, options.antecedent
    combinations = words.withheld_combination_count(sentences, (options.verb, options.noun), antecedent)
    shares = words.slot_distribution(sentences, options.noun)
    yield Observation("withheld_pairs", combinations, unit="count")
    yield Observation("withheld_token_share", exact.withheld_share(sentences), unit="share")
    yield Observation("nouns", len(shares), unit="count")
    yield Observation("noun_zipf_exponent", words.zipf_exponent(shares), unit="exponent")
    known = words.window_probability(sentences, slot, antecedent, options.window)
    for name, probability in zip(("inside", "outside"), known, strict=True):
        yield Observation("slot_floor", probability, {"window": name}, "share")


def _examples(sentences: Sentences, options: Options) -> Iterator[Observation]:
    language = sentences.language
    for sentence in options.sentences:
        right = language.first_error(language.encode(sentence)) is None
        yield Observation("grammatical", float(right), {"sentence": sentence}, "share")
    for pair in options.pairs:
        withheld = words.never_together_in_training(sentences, pair)
        yield Observation("withheld", float(withheld), {"pair": pair}, "share")
    for word in options.words:
        yield from _after(language, word, options)
    if options.agreement:
        agreeing = [pair.split() for pair in options.agreement]
        decided = [
            words.agreement_probability(sentences, options.slot, options.antecedent, *pair) for pair in agreeing
        ]
        yield Observation("slot_decided", min(decided), unit="share")


def _after(language: Language, word: str, options: Options) -> Iterator[Observation]:
    """What follows a word: any word of the slot together, and each of the other words."""
    following = words.distribution_after(language, word)
    together = float(following[language.candidates(options.slot)].sum())
    yield Observation("after", together, {"word": word, "next": options.slot}, "share")
    for other in options.next_words:
        share = float(following[language.vocabulary.id(other)])
        yield Observation("after", share, {"word": word, "next": other}, "share")
