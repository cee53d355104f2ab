"""What is exactly true of a study's language, as observations, so that claims and the page can ask for it.

Nothing is predicted or sampled here: the run that the rows stand under, best the language itself, is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.evaluations.context import Context, Predictor
from seedbed.evaluations.sizes import require_positive
from seedbed.languages import exact, words
from seedbed.languages.automaton import Language
from seedbed.languages.exact import Sentences
from seedbed.observations import Observation


@dataclass(frozen=True)
class Options:
    """The slots by name, and the examples that a lecture gives; lists are separated by " | "."""

    slot: str = "tail possessive"  # what the subject decides from afar
    antecedent: str = "subject"
    verb: str = "verb"  # withheld combinations are of a verb and a noun
    noun: str = "noun"
    window: int = 5  # in words, see the evaluation pronouns
    sentences: str = ""  # asked whether they are grammatical, each with its period
    pairs: str = ""  # words that are asked whether training never shows them together
    prepositions: str = ""  # asked what follows: a word of the slot, or one of `others`
    others: str = ""
    agreement: str = ""  # last word of an antecedent and the slot's word that agrees with it

    def __post_init__(self) -> None:
        require_positive(window=self.window)


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """The facts of the language: sizes, entropies, lengths and shares, words, and the lecture's examples.

    ``pronoun_floor`` is the mean probability of the right word for the best predictor with the window, over all
    documents and not only those of a test set. ``grammatical`` and ``withheld`` are 1 for yes and 0 for no.
    """
    sentences = exact.all_sentences(context.language)
    yield from _sizes(context.language)
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
    yield Observation("possessives_per_1000", 1000 * exact.tokens_per_document(sentences, slot), unit="count")
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
        yield Observation("pronoun_floor", probability, {"window": name}, "share")


def _examples(sentences: Sentences, options: Options) -> Iterator[Observation]:
    language = sentences.language
    for sentence in _listed(options.sentences):
        right = language.first_error(language.encode(sentence)) is None
        yield Observation("grammatical", float(right), {"sentence": sentence}, "share")
    for pair in _listed(options.pairs):
        withheld = words.never_together_in_training(sentences, pair)
        yield Observation("withheld", float(withheld), {"pair": pair}, "share")
    for word in _listed(options.prepositions):
        yield from _after(language, word, options)
    if agreeing := [_pair(pair) for pair in _listed(options.agreement)]:
        # The least over subjects: 1 says that every subject decides the word.
        least = min(
            words.agreement_probability(sentences, options.slot, options.antecedent, *pair) for pair in agreeing
        )
        yield Observation("possessive_decided", least, unit="share")


def _after(language: Language, word: str, options: Options) -> Iterator[Observation]:
    """What follows a word: any word of the slot together, and each of the others."""
    following = words.distribution_after(language, word)
    together = float(following[language.candidates(options.slot)].sum())
    yield Observation("after", together, {"word": word, "next": "possessive"}, "share")
    for other in _listed(options.others):
        share = float(following[language.vocabulary.id(other)])
        yield Observation("after", share, {"word": word, "next": other}, "share")


def _pair(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) != 2:
        raise ValueError(f"agreement: {text!r}: expected two words, as in 'she her'")
    return words[0], words[1]


def _listed(text: str) -> list[str]:
    return [part for part in text.split(" | ") if part]
