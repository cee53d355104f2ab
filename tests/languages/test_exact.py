from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

from seedbed.documents import Documents
from seedbed.languages import exact

if TYPE_CHECKING:
    from conftest import Case


def test_all_sentences_are_enumerated_once_with_their_probabilities(small: Case) -> None:
    sentences = exact.all_sentences(small.language)
    texts = [small.language.decode(text[1:-1]) for text in sentences.texts]
    assert len(texts) == len(set(texts))
    assert dict(zip(texts, sentences.probability, strict=True)) == pytest.approx(small.oracle.full)


def test_enumeration_stops_at_its_limit(late: Case) -> None:
    with pytest.raises(ValueError, match="more than 10 sentences"):
        exact.all_sentences(late.language, limit=10)


def test_cloze_entropy_equals_comparison_of_all_pairs_of_sentences(small: Case) -> None:
    expected = 0.0
    for text, probability in small.oracle.full.items():
        words = text.split()
        for place, _ in enumerate(words):
            rivals = [words[:place], words[place + 1 :]]
            total = sum(
                mass
                for other, mass in small.oracle.full.items()
                if len(other.split()) == len(words)
                and [other.split()[:place], other.split()[place + 1 :]] == rivals
            )
            expected -= probability * math.log(probability / total) / len(words)
    assert exact.cloze_entropy(exact.all_sentences(small.language)) == pytest.approx(expected)


def test_cloze_entropy_equals_the_mean_of_posteriors_over_words(late: Case) -> None:
    language, total = late.language, 0.0
    for text, probability in late.oracle.full.items():
        document = language.encode(late.oracle.wrap(text, "we eat fig from our garden"))
        places = range(1, len(text.split()) + 1)
        surprises = []
        for place in places:
            posterior = language.posterior(document, place)
            surprises.append(-math.log(posterior[document[place]] / posterior[language.vocabulary.word_ids].sum()))
        total += probability * float(np.mean(surprises))
    assert exact.cloze_entropy(exact.all_sentences(language)) == pytest.approx(total)


def test_continuation_entropy_equals_scores_of_second_sentences(late: Case) -> None:
    language, first = late.language, "we eat fig from our garden"
    nats, tokens = 0.0, 0.0
    for text, probability in late.oracle.full.items():
        document = language.encode(late.oracle.wrap(first, text))
        scores = [
            math.log(language.next_token(document[:place])[document[place]])
            for place in range(8, len(document) - 1)
        ]
        nats -= probability * sum(scores)
        tokens += probability * len(scores)
    assert exact.continuation_entropy(exact.all_sentences(language)) == pytest.approx(nats / tokens)


def test_continuation_of_single_sentences_is_refused(repeated: Case) -> None:
    with pytest.raises(ValueError, match="no document of this language has a second sentence"):
        exact.continuation_entropy(exact.all_sentences(repeated.language))


def test_share_beyond_counts_slots_whose_antecedent_is_out_of_the_window(late: Case) -> None:
    # "from" is 3 words after the subject, or 4 with an adjective; two more words follow it.
    sentences = exact.all_sentences(late.language)
    assert exact.share_beyond_window(sentences, "tail", "subject", 2) == pytest.approx(1)
    assert exact.share_beyond_window(sentences, "tail", "subject", 3) == pytest.approx((0.6 + 1 + 1) / 3)
    assert exact.share_beyond_window(sentences, "tail", "subject", 5) == pytest.approx(0.6 / 3)
    assert exact.share_beyond_window(sentences, "tail", "subject", 6) == pytest.approx(0)


def test_antecedents_are_those_of_the_same_sentence(late: Case) -> None:
    text = "<bos> the children eat ripe fig from their garden . we eat fig from our garden . <eos>"
    documents = Documents.of([late.language.encode(text)] * 2)
    places, distances = exact.antecedent_distances(late.language, documents, "tail", "subject")
    assert places[:6].tolist() == [6, 7, 8, 13, 14, 15]
    assert distances.tolist() == [4, 5, 6, 3, 4, 5] * 2


def test_without_an_antecedent_the_distance_is_to_the_documents_beginning(late: Case) -> None:
    documents = Documents.of([late.language.encode("<bos> we pick")] * 2)
    assert exact.antecedent_distances(late.language, documents, "subject", "tail")[1].tolist() == [1, 1]


def test_token_counts_and_positions_equal_those_of_samples(late: Case) -> None:
    sentences = exact.all_sentences(late.language)
    documents = late.language.sample(np.random.default_rng(0), 20_000)
    found = late.language.in_slot(documents, "tail")
    per_document = np.bincount(documents.owners, weights=found)
    assert per_document.mean() == pytest.approx(exact.tokens_per_document(sentences, "tail"), rel=0.03)
    assert documents.positions[found].mean() == pytest.approx(exact.visible_positions(sentences, "tail"), rel=0.03)


def test_withheld_share_equals_enumeration(late: Case) -> None:
    mean = late.content["mean_sentences"]
    lengths: defaultdict[bool, float] = defaultdict(float)
    for text, probability in late.oracle.full.items():
        lengths[text in late.oracle.training] += probability * (len(text.split()) + 1)
    share = mean * lengths[False] / (mean * sum(lengths.values()) + 1)
    assert exact.withheld_share(exact.all_sentences(late.language)) == pytest.approx(share)


def test_nothing_is_withheld_without_withheld_combinations(repeated: Case) -> None:
    assert exact.withheld_share(exact.all_sentences(repeated.language)) == 0
